// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Lists of numbers that grow: typed arrays with room at their end.

type Numbers = Int32Array | Uint32Array | Float64Array | Uint8Array;

/** The array, or a copy of twice the size if it lacks room for `size` items. New items are 0. */
export function withRoom<T extends Numbers>(items: T, size: number): T {
	if (size <= items.length)
		return items;
	const larger = new (items.constructor as new (size: number) => T)(Math.max(size, 2 * items.length, 64));
	larger.set(items);
	return larger;
}

export class Column<T extends Numbers> {
	size = 0;

	constructor(public data: T) {}

	/** Returns the place of the value. */
	push(value: number): number {
		if (this.size === this.data.length)
			this.data = withRoom(this.data, this.size + 1);
		this.data[this.size] = value;
		return this.size++;
	}

	at(index: number): number {
		return this.data[index];
	}
}

export const naturals = () => new Column(new Uint32Array(64));
export const integers = () => new Column(new Int32Array(64));
export const numbers = () => new Column(new Float64Array(64));
