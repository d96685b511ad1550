// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Which samples the tree has: those of the chosen threads or, in a difference, of both sides.

import type { Counts, Profile } from './data';
import { countsOf, type Range } from './time_range';
import type { Changes, Tree } from './tree';

/** Whose samples count, where, and for which side; null: all, at the node itself, for the first. */
interface Rules { chosen?: Uint8Array | null; place?: Int32Array | null; sides?: ArrayLike<number> | null }

function changesOf({ rows, node, group, samples }: Counts, { chosen, place, sides }: Rules): Changes {
	const changes = { size: 0, node: new Int32Array(rows), side: new Uint8Array(rows), samples: new Float64Array(rows) };
	for (let i = 0; i < rows; i++) {
		const at = place ? place[node[i]] : node[i];
		if (at < 0 || (chosen && !chosen[group[i]]))
			continue;
		changes.node[changes.size] = at;
		changes.side[changes.size] = sides ? sides[i] : 0;
		changes.samples[changes.size++] = samples[i];
	}
	return changes;
}

/** Count the samples of a profile anew: of all its time, or of ranges, one for each side. */
export function weigh(tree: Tree, profile: Profile, rules: Rules = {}, ranges: (Range | null)[] | null = null): void {
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

/** Count samples that have been added. */
export function addSamples(tree: Tree, more: Counts, rules: Rules = {}): void {
	tree.add(changesOf(more, rules));
}
