// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The bytes of a delta. Input is checked.

export const HEADER = 32;
export const NUMBERS = 2 ** 32;
const utf8 = new TextDecoder();

/** Damaged data. */
export class BadDelta extends Error {}

/** Reads numbers and texts, and throws at the end of the bytes. */
export class Cursor {
	private at = HEADER;

	constructor(private readonly bytes: Uint8Array) {}

	get atEnd(): boolean {
		return this.at === this.bytes.length;
	}

	/** Unsigned LEB128. A number above 2^53 is rounded. */
	number(): number {
		let value = 0, scale = 1;
		for (let digits = 0; digits < 10; digits++, scale *= 128) {
			if (this.at >= this.bytes.length)
				throw new BadDelta('a number is cut');
			const byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			if (byte < 128)
				return value;
		}
		throw new BadDelta('a number is too long');
	}

	/** A number of 64 bits, exactly: its high bits and its low 28. */
	halves(): [high: number, low: number] {
		const from = this.at;
		let low = this.number();
		if (low < 2 ** 53)
			return [Math.floor(low / 2 ** 28), low % 2 ** 28];
		const end = this.at;
		this.at = from;
		low = 0;
		for (let scale = 1; scale < 2 ** 28; scale *= 128)
			low += (this.bytes[this.at++] & 127) * scale;
		const high = this.number();
		this.at = end;
		return [high, low];
	}

	below(limit: number): number {
		const value = this.number();
		if (value >= limit)
			throw new BadDelta(`${value} is not below ${limit}`);
		return value;
	}

	/** A number near another one: the distance, by base/zigzag.h, modulo 2^32. */
	near(other: number): number {
		const distance = this.below(NUMBERS);
		return (other + (distance % 2 ? -(distance + 1) / 2 : distance / 2)) >>> 0;
	}

	text(): string {
		const size = this.number();
		if (size > this.bytes.length - this.at)
			throw new BadDelta('a text is cut');
		this.at += size;
		return utf8.decode(this.bytes.subarray(this.at - size, this.at));
	}

	/** Counts, of which those that are 0 are left out. */
	fields(count: number): number[] {
		const values = new Array<number>(count).fill(0);
		for (let at = -1, step = this.number(); step; step = this.number()) {
			at += step;
			if (at >= count)
				throw new BadDelta('a count without a name');
			values[at] = this.number();
		}
		return values;
	}
}

export function each(at: Cursor, take: () => void): void {
	for (let left = at.number(); left > 0; left--)
		take();
}

/** Take the changed items of a list of `size` items, each by its step. */
export function takeChanged(at: Cursor, size: number, take: (number: number) => void): void {
	let number = 0;
	for (let left = at.number(); left > 0; left--) {
		number += at.below(size - number);
		take(number);
	}
}
