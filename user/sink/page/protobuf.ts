// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Writes protobuf messages: varints, strings and nested messages.

const PART = 1 << 20;           // bytes of a finished part
const VARINT_MOST = 10;         // bytes
const LENGTH_DELIMITED = 2;     // wire type

const utf8 = new TextEncoder();

export class Protobuf {
	private bytes = new Uint8Array(1 << 16);
	private size = 0;
	private readonly parts: Uint8Array<ArrayBuffer>[] = [];

	private reserve(more: number): void {
		if (this.size + more <= this.bytes.length)
			return;
		const larger = new Uint8Array(Math.max(this.size + more, 2 * this.bytes.length));
		larger.set(this.bytes.subarray(0, this.size));
		this.bytes = larger;
	}

	/** A whole number from 0 on. */
	varint(value: number): void {
		this.reserve(VARINT_MOST);
		const { bytes } = this;
		let at = this.size;
		for (; value >= 2 ** 31; value = Math.floor(value / 128))
			bytes[at++] = value % 128 | 128;
		for (; value >= 128; value >>>= 7)
			bytes[at++] = value & 127 | 128;
		bytes[at++] = value;
		this.size = at;
	}

	number(field: number, value: number): void {
		this.varint(field << 3);
		this.varint(value);
	}

	nonzero(field: number, value: number): void {
		if (value)
			this.number(field, value);
	}

	text(field: number, text: string): void {
		const encoded = utf8.encode(text);
		this.varint(field << 3 | LENGTH_DELIMITED);
		this.varint(encoded.length);
		this.raw(encoded);
	}

	/** Fields that were written elsewhere. */
	raw(fields: Uint8Array): void {
		this.reserve(fields.length);
		this.bytes.set(fields, this.size);
		this.size += fields.length;
	}

	/** Begin a nested message or a packed list. Its end() gets what is returned. */
	begin(field: number): number {
		this.varint(field << 3 | LENGTH_DELIMITED);
		this.reserve(1);
		return this.size++;     // room for a length below 128
	}

	end(begin: number): void {
		const length = this.size - begin - 1;
		let more = 0;           // bytes of the length, but the first
		for (let left = length; left >= 128; left >>>= 7)
			more++;
		if (more) {
			this.reserve(more);
			this.bytes.copyWithin(begin + 1 + more, begin + 1, this.size);
		}
		this.size = begin;
		this.varint(length);
		this.size += length;
	}

	/** Call it between messages of the top level: what was written so far is finished. */
	pass(): void {
		if (this.size >= PART)
			this.finish();
	}

	/** Returns all that was written, in parts. */
	finish(): Uint8Array<ArrayBuffer>[] {
		this.parts.push(this.bytes.slice(0, this.size));
		this.size = 0;
		return this.parts;
	}
}

/** The fields that are written by a function. */
export function fieldsOf(write: (message: Protobuf) => void): Uint8Array {
	const message = new Protobuf();
	write(message);
	return message.finish()[0];
}
