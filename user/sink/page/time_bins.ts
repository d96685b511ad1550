// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sums of slices for the picture of the time line: by column of the strip, and by cell of the heat map.

import { withRoom } from './columns';
import type { Profile } from './data';
import { lengthOf } from './slices';

export const CELLS = 20;        // rows of the heat map: parts of a second

export interface Bins {
	ticks: number;          // length of the whole time line
	all: Float64Array;      // samples of each column
	chosen: Float64Array;   // of these, those of the chosen threads
	seconds: number;        // seconds for each column of the heat map
	cells: Float64Array;    // samples of the chosen threads by column and part of a second
	most: number;           // largest number of samples in a column; the next one: in a cell
	mostCell: number;
}

/** Sums of slices by tick, of all threads and of those that are chosen. A tick may come again. */
export class TickSums {
	size = 0;
	tick = new Uint32Array(64);
	all = new Float64Array(64);
	part = new Float64Array(64);
	last = 0;                       // the highest tick
	private version = 0;
	private threads = '';
	private taken = 0;              // slices

	/** Add the slices that are new since the last call; all slices, if older ones or the chosen threads have changed. */
	follow({ counts, slices }: Profile, threads: string, chosen: Uint8Array | null): void {
		if (slices.version !== this.version || threads !== this.threads)
			Object.assign(this, { version: slices.version, threads, taken: 0, size: 0, last: 0 });
		for (; this.taken < slices.rows; this.taken++) {
			const { taken: i } = this, tick = slices.tick[i], samples = slices.samples[i];
			this.at(tick);
			this.all[this.size - 1] += samples;
			if (!chosen || chosen[counts.group[slices.count[i]]])
				this.part[this.size - 1] += samples;
		}
	}

	/** Make the last item that of a tick. */
	private at(tick: number): void {
		const { size } = this;
		if (size && this.tick[size - 1] === tick)
			return;
		this.tick = withRoom(this.tick, size + 1);
		this.all = withRoom(this.all, size + 1);
		this.part = withRoom(this.part, size + 1);
		this.tick[size] = tick;
		this.all[size] = this.part[size] = 0;
		this.last = Math.max(this.last, tick);
		this.size++;
	}
}

/** The length of the whole time line, in ticks. */
function wholeOf({ runs, slices }: Profile, { size, last }: TickSums): number {
	const ticks = Math.max(1, Math.ceil((runs[0]?.run.duration_ns ?? 0) / slices.tickNs));
	return size ? Math.max(ticks, last + lengthOf(slices.ends, last)) : ticks;
}

/** Spread a number over [from, to) of a row of equal parts. */
function spread(into: Float64Array, from: number, to: number, value: number): void {
	const first = Math.floor(from), last = Math.min(into.length, Math.ceil(to));
	for (let i = first; i < last; i++)
		into[i] += value * (Math.min(to, i + 1) - Math.max(from, i)) / (to - from);
}

export function binsOf(profile: Profile, sums: TickSums, width: number): Bins {
	const { slices } = profile, ticks = wholeOf(profile, sums), perSecond = 1e9 / slices.tickNs;
	const columns = Math.max(1, Math.min(ticks, Math.floor(width / 2))), scale = columns / ticks;
	const all = new Float64Array(columns), some = new Float64Array(columns);
	const seconds = Math.ceil(Math.max(1, 3 * ticks / perSecond / Math.max(1, width)));
	const cells = new Float64Array(Math.ceil(ticks / perSecond / seconds) * CELLS);
	for (let i = 0; i < sums.size; i++) {
		const tick = sums.tick[i], part = sums.part[i], length = lengthOf(slices.ends, tick);
		spread(all, tick * scale, Math.min(ticks, tick + length) * scale, sums.all[i]);
		spread(some, tick * scale, Math.min(ticks, tick + length) * scale, part);
		// A tick that is longer than a cell is divided among the cells that it covers, within one column.
		const column = Math.floor(tick / perSecond / seconds), row = Math.floor(tick % perSecond * CELLS / perSecond);
		const over = Math.min(CELLS, Math.ceil(length * CELLS / perSecond));
		for (let k = 0; k < over; k++)
			cells[column * CELLS + (row + k) % CELLS] += part / over;
	}
	const most = (numbers: Float64Array) => numbers.reduce((a, b) => Math.max(a, b), 0);
	return { ticks, all, chosen: some, seconds, cells, most: most(all), mostCell: most(cells) };
}
