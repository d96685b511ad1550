// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sums of slices for the picture of the time line: by column of the strip, and by cell of the heat map.

import type { Profile } from './data';
import { lengthOf } from './slices';

export const CELLS = 20;        // rows of the heat map: parts of a second

export interface Bins {
	ticks: number;          // length of the whole time line
	all: Float64Array;      // samples of each column
	chosen: Float64Array;   // of these, those of the chosen threads
	seconds: number;        // that a column of the heat map is of
	cells: Float64Array;    // samples of the chosen threads by column and part of a second
	most: number;           // in a column, and in a cell
	mostCell: number;
}

/** The length of the whole time line, in ticks. */
function wholeOf({ runs, slices }: Profile): number {
	let ticks = Math.max(1, Math.ceil((runs[0]?.run.duration_ns ?? 0) / slices.tickNs)), last = 0;
	for (let i = 0; i < slices.rows; i++)
		last = Math.max(last, slices.tick[i]);
	return slices.rows ? Math.max(ticks, last + lengthOf(slices.ends, last)) : ticks;
}

/** Calls take() with the samples of a tick, all and those of the chosen threads. A tick may come again. */
function byTick({ counts, slices }: Profile, chosen: Uint8Array | null, take: (tick: number, sum: number, part: number) => void): void {
	const { tick, count, samples, rows } = slices;
	let sum = 0, part = 0;
	for (let i = 0; i < rows; i++) {
		sum += samples[i];
		part += !chosen || chosen[counts.group[count[i]]] ? samples[i] : 0;
		if (i + 1 < rows && tick[i + 1] === tick[i])
			continue;
		take(tick[i], sum, part);
		sum = part = 0;
	}
}

/** Spread a number over [from, to) of a row of equal parts. */
function spread(into: Float64Array, from: number, to: number, value: number): void {
	const first = Math.floor(from), last = Math.min(into.length, Math.ceil(to));
	for (let i = first; i < last; i++)
		into[i] += value * (Math.min(to, i + 1) - Math.max(from, i)) / (to - from);
}

export function binsOf(profile: Profile, chosen: Uint8Array | null, width: number): Bins {
	const { slices } = profile, ticks = wholeOf(profile), perSecond = 1e9 / slices.tickNs;
	const columns = Math.max(1, Math.min(ticks, Math.floor(width / 2))), scale = columns / ticks;
	const all = new Float64Array(columns), some = new Float64Array(columns);
	const seconds = Math.ceil(Math.max(1, 3 * ticks / perSecond / Math.max(1, width)));
	const cells = new Float64Array(Math.ceil(ticks / perSecond / seconds) * CELLS);
	byTick(profile, chosen, (tick, sum, part) => {
		const length = lengthOf(slices.ends, tick);
		spread(all, tick * scale, Math.min(ticks, tick + length) * scale, sum);
		spread(some, tick * scale, Math.min(ticks, tick + length) * scale, part);
		// What is longer than a cell is in all cells that it covers, as far as they are in one column.
		const column = Math.floor(tick / perSecond / seconds), row = Math.floor(tick % perSecond * CELLS / perSecond);
		const over = Math.min(CELLS, Math.ceil(length * CELLS / perSecond));
		for (let i = 0; i < over; i++)
			cells[column * CELLS + (row + i) % CELLS] += part / over;
	});
	const most = (numbers: Float64Array) => numbers.reduce((a, b) => Math.max(a, b), 0);
	return { ticks, all, chosen: some, seconds, cells, most: most(all), mostCell: most(cells) };
}
