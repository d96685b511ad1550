// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which samples the tree has: those of the chosen threads or, in a difference, of both sides.

import type { Counts, Profile } from './data';
import { countsOf, type Range } from './time_range';
import type { Changes, Tree } from './tree';

type Ranges = (Range | null)[] | null;

/**
 * chosen: threads whose samples count (null: all); place: node where they count (null: their own); sides: side of each count
 * (null: the first).
 */
interface Rules { chosen?: Uint8Array | null; place?: Int32Array | null; sides?: ArrayLike<number> | null }

/** rowOf: gets the row of each change, if it is wanted. */
function changesOf({ rows, node, group, samples }: Counts, { chosen, place, sides }: Rules, rowOf: Uint32Array | null = null): Changes {
	const changes = { size: 0, node: new Int32Array(rows), side: new Uint8Array(rows), samples: new Float64Array(rows) };
	for (let i = 0; i < rows; i++) {
		const at = place ? place[node[i]] : node[i];
		if (at < 0 || !samples[i] || (chosen && !chosen[group[i]]))
			continue;
		if (rowOf)
			rowOf[changes.size] = i;
		changes.node[changes.size] = at;
		changes.side[changes.size] = sides ? sides[i] : 0;
		changes.samples[changes.size++] = samples[i];
	}
	return changes;
}

/** Count the samples of a profile anew: of all its time, or of ranges, one for each side. */
export function weigh(tree: Tree, profile: Profile, rules: Rules = {}, ranges: Ranges = null): void {
	const two = profile.runs.length > 1, sides = two ? 2 : ranges?.length ?? 1;
	if (tree.sides === sides)
		tree.clear();
	else
		tree.setSides(sides);
	if (ranges) {
		const part = countsOf(profile, ranges);
		tree.add(changesOf(part.counts, { ...rules, sides: part.sides }));
	} else {
		tree.add(changesOf(profile.counts, two ? { ...rules, chosen: null, sides: profile.counts.group } : rules));
	}
}

/** Samples that are shown: node of the tree, thread and, if they are of slices, tick. */
export interface ShownSamples { size: number; node: Int32Array; thread: Uint32Array | null; samples: Float64Array;
	tick: Uint32Array | null }

const SECOND = Uint8Array.of(0, 1);     // of a difference of two runs, whose groups are the sides

/** What weigh() counts, by thread; of two runs, the second one, whose threads are not known. byTime: of slices, if there are any. */
export function shownSamples(profile: Profile, rules: Rules, range: Range | null, byTime: boolean): ShownSamples {
	const two = profile.runs.length > 1, part = range || (byTime && profile.slices.rows) ? countsOf(profile, [range]) : null;
	const counts = part?.counts ?? profile.counts, rowOf = new Uint32Array(counts.rows);
	const { size, node, samples } = changesOf(counts, two ? { ...rules, chosen: SECOND } : rules, rowOf);
	const of = (column: Uint32Array) => rowOf.subarray(0, size).map(row => column[row]);
	return { size, node, samples, thread: two ? null : of(counts.group), tick: part && of(part.ticks) };
}

/** Count samples that have been added. */
export function addSamples(tree: Tree, more: Counts, rules: Rules = {}): Changes {
	const changes = changesOf(more, rules);
	tree.add(changes);
	return changes;
}

/** Counts the samples of a live profile in its tree or in a shaped one, anew only if that is necessary. */
export class Weights {
	private tree: Tree | null = null;
	private of = '';                // the counted ranges, as a text
	private slices = 0;             // number of slices that were counted
	private version = -1;

	/**
	 * `more`: the only samples that were added since the last call; null: others may have changed. Returns the only
	 * samples that were added to the tree, or null.
	 */
	count(tree: Tree, profile: Profile, rules: Rules, ranges: Ranges, more: Counts | null): Changes | null {
		const { slices } = profile, of = JSON.stringify(ranges), same = tree === this.tree && of === this.of && more;
		const first = this.slices, moved = same && ranges && (slices.version !== this.version || hasMoved(same));
		Object.assign(this, { tree, of, slices: slices.rows, version: slices.version });
		if (same && !ranges)
			return addSamples(tree, same, rules);
		if (same && ranges && !moved) {
			const part = countsOf(profile, ranges, first);
			return addSamples(tree, part.counts, { ...rules, sides: part.sides });
		}
		weigh(tree, profile, rules, ranges);
		return null;
	}
}

/** Whether code has got names, so that samples that were counted before are at other nodes. */
const hasMoved = ({ rows, samples }: Counts) => samples.subarray(0, rows).some(change => change < 0);
