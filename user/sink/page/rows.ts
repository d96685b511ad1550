// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A table of rows of three numbers in which each row occurs once.

import { withRoom } from './columns';

const NONE = -1;
const MOST_LOAD = .6;           // of the hash table

export class Rows {
	count = 0;
	a = new Int32Array(64);         // the columns, which may be longer than the number of rows
	b = new Int32Array(64);
	c = new Int32Array(64);
	private table = new Int32Array(256).fill(NONE);         // hash table of row numbers

	/** Where a row is in the hash table, or would be. */
	private slot(a: number, b: number, c: number): number {
		const { table } = this, mask = table.length - 1;
		let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0x27d4eb2f);
		hash = Math.imul(hash ^ hash >>> 15, 0xc2b2ae35);
		for (let at = (hash ^ hash >>> 13) & mask; ; at = (at + 1) & mask) {
			const row = table[at];
			if (row < 0 || (this.a[row] === a && this.b[row] === b && this.c[row] === c))
				return at;
		}
	}

	private enlarge(): void {
		this.table = new Int32Array(2 * this.table.length).fill(NONE);
		for (let row = 0; row < this.count; row++)
			this.table[this.slot(this.a[row], this.b[row], this.c[row])] = row;
	}

	/** Find or add a row of 32-bit integers. Returns its number, from 0 on. */
	add(a: number, b = 0, c = 0): number {
		const slot = this.slot(a, b, c), found = this.table[slot];
		if (found >= 0)
			return found;
		const row = this.count++;
		if (row === this.a.length) {
			this.a = withRoom(this.a, this.count);
			this.b = withRoom(this.b, this.count);
			this.c = withRoom(this.c, this.count);
		}
		this.a[row] = a;
		this.b[row] = b;
		this.c[row] = c;
		this.table[slot] = row;
		if (this.count > this.table.length * MOST_LOAD)
			this.enlarge();
		return row;
	}
}
