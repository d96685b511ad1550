// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Sums of slices for the picture of the time line: by column of the strip, and by cell of the heat maps.

import { withRoom } from './columns';
import type { Profile } from './data';
import { lengthOf, type Slices } from './slices';

export const CELLS = 20;        // rows of the heat map of all: parts of a second
export const FEW_CELLS = 10;    // rows of the heat map of a process

export interface HeatMap {
	rows: number;
	cells: Float64Array;    // samples by column and row
	most: number;           // largest number of samples in a cell
}

export interface Bins {
	ticks: number;          // length of the whole time line
	all: Float64Array;      // samples of each column
	chosen: Float64Array;   // of these, those of the chosen threads
	most: number;           // largest number of samples in a column
	seconds: number;        // seconds for each column of the heat maps
	maps: HeatMap[];        // of the chosen threads, then of processes; empty while the time line is folded
}

/** Threads in parts. A part is the chosen threads, or a process. */
export interface Split {
	key: string;            // differs for other parts
	parts: number;
	of: Uint8Array;         // by thread: its part, from 1 on; 0: in none
}

/** Sums of slices by tick, of all threads and of each part of them. A tick may come again. */
export class TickSums {
	size = 0;
	tick = new Uint32Array(64);
	all = new Float64Array(64);
	parts: Float64Array[] = [];
	last = 0;                       // the highest tick
	private version = 0;
	private key = '';
	private taken = 0;              // slices

	/** Add the slices that are new since the last call; all slices, if older ones or the parts have changed. */
	follow({ counts, slices }: Profile, { key, parts, of }: Split): void {
		if (slices.version !== this.version || key !== this.key || parts !== this.parts.length)
			Object.assign(this, { version: slices.version, key, taken: 0, size: 0, last: 0,
				parts: Array.from({ length: parts }, () => new Float64Array(64)) });
		for (; this.taken < slices.rows; this.taken++) {
			const { taken: i } = this, samples = slices.samples[i], part = parts ? of[counts.group[slices.count[i]]] : 0;
			this.at(slices.tick[i]);
			this.all[this.size - 1] += samples;
			if (part)
				this.parts[part - 1][this.size - 1] += samples;
		}
	}

	/** Make the last item that of a tick. */
	private at(tick: number): void {
		const { size } = this;
		if (size && this.tick[size - 1] === tick)
			return;
		this.tick = withRoom(this.tick, size + 1);
		this.all = withRoom(this.all, size + 1);
		this.tick[size] = tick;
		this.all[size] = 0;
		this.parts.forEach((part, i) => { (this.parts[i] = withRoom(part, size + 1))[size] = 0; });
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

const mostOf = (numbers: Float64Array) => numbers.reduce((a, b) => Math.max(a, b), 0);

/** `samples` of the items of `sums`, by cell. */
function mapOf({ ends, tickNs }: Slices, sums: TickSums, samples: Float64Array, rows: number, seconds: number, ticks: number): HeatMap {
	const perSecond = 1e9 / tickNs, cells = new Float64Array(Math.ceil(ticks / perSecond / seconds) * rows);
	for (let i = 0; i < sums.size; i++) {
		if (!samples[i])
			continue;
		// A tick that is longer than a cell is divided among the cells that it covers, within one column.
		const tick = sums.tick[i], column = Math.floor(tick / perSecond / seconds), row = Math.floor(tick % perSecond * rows / perSecond);
		const over = Math.min(rows, Math.ceil(lengthOf(ends, tick) * rows / perSecond));
		for (let k = 0; k < over; k++)
			cells[column * rows + (row + k) % rows] += samples[i] / over;
	}
	return { rows, cells, most: mostOf(cells) };
}

/** `chosen`: the only part of the sums is the chosen threads; else, each part is a process. `open`: heat maps are shown. */
export function binsOf(profile: Profile, sums: TickSums, width: number, chosen: boolean, open: boolean): Bins {
	const { slices } = profile, ticks = wholeOf(profile, sums), perSecond = 1e9 / slices.tickNs;
	const columns = Math.max(1, Math.min(ticks, Math.floor(width / 2))), scale = columns / ticks;
	const seconds = Math.ceil(Math.max(1, 3 * ticks / perSecond / Math.max(1, width)));
	const columnsOf = (samples: Float64Array) => {
		const into = new Float64Array(columns);
		for (let i = 0; i < sums.size; i++)
			spread(into, sums.tick[i] * scale, Math.min(ticks, sums.tick[i] + lengthOf(slices.ends, sums.tick[i])) * scale, samples[i]);
		return into;
	};
	const all = columnsOf(sums.all), first = chosen ? sums.parts[0] : sums.all, others = chosen ? [] : sums.parts;
	const map = (samples: Float64Array, rows: number) => mapOf(slices, sums, samples, rows, seconds, ticks);
	return { ticks, all, chosen: chosen ? columnsOf(first) : all, most: mostOf(all), seconds,
		maps: open ? [map(first, CELLS), ...others.map(samples => map(samples, FEW_CELLS))] : [] };
}
