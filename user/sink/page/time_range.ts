// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A range of time, [from, to) in ticks; as text, "FROM-TO" in seconds, or "FROM-" up to the end. A range that is
// selected has whole ticks of the slices, so that a sample is in it or not.

import type { Counts, Profile } from './data';
import { lengthOf, type Slices } from './slices';

export type Range = [from: number, to: number];

const seconds = (ticks: number, { tickNs }: Slices) => ticks * tickNs / 1e9;
const digits = (value: number) => String(Math.round(value * 1000) / 1000);

/** Returns null if the text is not that of a range. */
export function rangeOf(text: string, slices: Slices): Range | null {
	const [, from, to] = /^(\d{1,9}(?:\.\d{1,9})?)-(\d{1,9}(?:\.\d{1,9})?)?$/.exec(text) ?? [];
	const ticks = (value: string) => Math.round(Number(value) * 1e9 / slices.tickNs);
	if (from === undefined || !slices.rows)
		return null;
	const range: Range = [ticks(from), to === undefined ? Infinity : ticks(to)];
	return range[0] < range[1] ? range : null;
}

export function textOf([from, to]: Range, slices: Slices): string {
	return `${digits(seconds(from, slices))}-${to === Infinity ? '' : digits(seconds(to, slices))}`;
}

/** For a person: "1.25 – 3.4 s". */
export function rangeWords([from, to]: Range, slices: Slices, end: number): string {
	return `${digits(seconds(from, slices))} – ${digits(seconds(Math.min(to, end), slices))} s`;
}

/** The range with whole ticks, of which old ones are longer. */
export function wholeTicks(from: number, to: number, { ends }: Slices): Range {
	const last = Math.max(from, to - 1), length = lengthOf(ends, last);
	return [from - from % lengthOf(ends, from), last - last % length + length];
}

/** The samples in ranges, one range for each side of a tree; null: the whole time. `first`: the first slice that counts. */
export function countsOf({ counts, slices }: Profile, ranges: (Range | null)[], first = 0):
	{ counts: Counts; sides: Uint8Array; ticks: Uint32Array } {
	const { tick, count, samples, rows } = slices, room = (rows - first) * ranges.length;
	const found = { rows: 0, node: new Int32Array(room), group: new Uint32Array(room), samples: new Float64Array(room) };
	const sides = new Uint8Array(room), ticks = new Uint32Array(room);
	ranges.forEach((range, side) => {
		const [from, to] = range ?? [0, Infinity];
		for (let i = first; i < rows; i++) {
			if (tick[i] < from || tick[i] >= to)
				continue;
			found.node[found.rows] = counts.node[count[i]];
			found.group[found.rows] = counts.group[count[i]];
			found.samples[found.rows] = samples[i];
			ticks[found.rows] = tick[i];
			sides[found.rows++] = side;
		}
	});
	return { counts: found, sides, ticks };
}

/** Returns the samples of a range. */
export function samplesIn({ counts, slices }: Profile, chosen: Uint8Array | null, [from, to]: Range): number {
	const { tick, count, samples, rows } = slices;
	let sum = 0;
	for (let i = 0; i < rows; i++)
		if (tick[i] >= from && tick[i] < to && (!chosen || chosen[counts.group[count[i]]]))
			sum += samples[i];
	return sum;
}
