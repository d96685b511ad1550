// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The colours of a difference: each change as a share of the largest one that is not within the random error.

import { changeColour } from './colour';
import { countsMayBeChance, mayBeChance } from './noise';
import type { Tree } from './tree';

export function changeColours(tree: Tree, absolute: boolean): (node: number) => string {
	const { scales } = tree, [before, after] = tree.total, whole = [before[0], after[0]];
	const isChance = (counts: number[]) => absolute ? countsMayBeChance(counts) : mayBeChance(counts, whole);
	const changeOf = (i: number) => isChance([before[i], after[i]]) ? 0 : after[i] * scales[1] - before[i] * scales[0];
	let largest = 0;
	// A node has no more samples than its parent, so its change is no larger than the larger side of the parent.
	tree.walk(node => {
		if (node)
			largest = Math.max(largest, Math.abs(changeOf(node)));
		return Math.max(before[node] * scales[0], after[node] * scales[1]) > largest &&
			!(isChance([before[node], 0]) && isChance([0, after[node]]));
	}, 0, 0, false);
	return i => changeColour(largest ? changeOf(i) / largest : 0);
}
