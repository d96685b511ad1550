// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The functions that match a search, and the samples with one of them on the stack.

import type { Names } from './names';
import type { Tree } from './tree';

/** Whether each label matches: those of a function together, by any of its names. Null without a search. Throws SyntaxError. */
export function matchLabels(text: string, names: Names, labels: number): Uint8Array | null {
	if (!text)
		return null;
	const pattern = new RegExp(text, 'i');
	const matching = new Uint8Array(labels);
	for (let label = 0; label < labels; label++)
		if (pattern.test(names.raw(label)) || pattern.test(names.plain(label)))
			matching[names.functionOf(label)] = 1;
	return matching.map((_, label) => matching[names.functionOf(label)]);
}

/** Matching samples of each side. A sample counts once, even if several frames match. */
export function matchedSamples(tree: Tree, matching: Uint8Array): number[] {
	const { count, label, parent } = tree, covered = new Uint8Array(count), sums = tree.self.map(() => 0);
	for (let i = 0; i < count; i++)
		if (matching[label[i]] || (i && covered[parent[i]])) {
			covered[i] = 1;
			tree.self.forEach((self, side) => { sums[side] += self[i]; });
		}
	return sums;
}
