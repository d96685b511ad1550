// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What saved files are made with: messages of any size (user/sink/page/protobuf.ts), read by a reader of our own, and tables of rows
// (rows.ts), compared with a map.
//   node check_messages.mjs
import assert from 'node:assert';
import { load, randoms } from './page_modules.mjs';

const { Protobuf, Rows, fieldsOf } = await load('protobuf', 'rows');
const random = randoms();

/** Fields of a message: [number, value], with bytes or a BigInt as values. */
function read(bytes) {
	const fields = [];
	let at = 0;
	const varint = () => {
		let value = 0n, shift = 0n, byte;
		do {
			byte = bytes[at++];
			assert(byte !== undefined, 'a message ends in a number');
			value |= BigInt(byte & 127) << shift;
			shift += 7n;
		} while (byte >= 128);
		return value;
	};
	while (at < bytes.length) {
		const tag = Number(varint()), value = varint();
		if ((tag & 7) === 2) {
			fields.push([tag >> 3, bytes.slice(at, at += Number(value))]);
			assert(at <= bytes.length, 'a message ends in a field');
		} else {
			assert.equal(tag & 7, 0);
			fields.push([tag >> 3, value]);
		}
	}
	return fields;
}

/** A random message: fields, which may be messages. Returns what was written. */
function write(message, depth) {
	const expected = [];
	for (let left = random(depth ? 9 : 40); left; left--) {
		const field = 1 + random(30), kind = random(4), value = random(2) ? 2 ** random(63) : random(2 ** random(32));
		if (kind === 0 && depth < 4) {
			const begin = message.begin(field);
			expected.push([field, write(message, depth + 1)]);
			message.end(begin);
		} else if (kind === 1) {
			const text = 'ä'.repeat(random(3) ? random(90) : random(20000));
			message.text(field, text);
			expected.push([field, text]);
		} else {
			message.number(field, value);
			expected.push([field, BigInt(value)]);
		}
		if (!depth)
			message.pass();
	}
	return expected;
}

function checkMessage(bytes, expected) {
	const fields = read(bytes);
	assert.equal(fields.length, expected.length);
	fields.forEach(([field, value], i) => {
		assert.equal(field, expected[i][0]);
		if (Array.isArray(expected[i][1]))
			checkMessage(value, expected[i][1]);
		else if (typeof value === 'bigint')
			assert.equal(value, expected[i][1]);
		else
			assert.equal(new TextDecoder().decode(value), expected[i][1]);
	});
}

let largest = 0;
for (let round = 0; round < 500; round++) {
	const message = new Protobuf(), expected = write(message, 0), bytes = Buffer.concat(message.finish());
	checkMessage(bytes, expected);
	largest = Math.max(largest, bytes.length);
}
assert(largest > 1 << 18, `the largest message has ${largest} bytes`);
for (const size of [0, 1, 127, 128, 16383, 16384, 3 << 20]) {
	const list = new Uint8Array(size).map((_, i) => i), message = new Protobuf(), begin = message.begin(1);
	message.raw(fieldsOf(other => other.raw(list)));
	message.end(begin);
	message.number(2, 7);
	const [[field, value], ...others] = read(Buffer.concat(message.finish()));
	assert.equal(field, 1);
	assert(Buffer.from(list).equals(value), `a message of ${size} bytes`);
	assert.deepEqual(others, [[2, 7n]]);
}

const rows = new Rows(), known = new Map();
for (let i = 0; i < 300000; i++) {
	const row = [random(2) ? -1 : random(40), random(90), random(2) ? 2 ** 31 - 1 - random(30) : random(30)], key = String(row);
	if (!known.has(key))
		known.set(key, known.size);
	assert.equal(rows.add(...row), known.get(key));
}
assert.equal(rows.count, known.size);
assert(known.size > 10000);
for (const [key, row] of known)
	assert.equal(key, String([rows.a[row], rows.b[row], rows.c[row]]));
console.log('messages: ok');
