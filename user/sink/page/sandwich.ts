// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The callees of a function, wherever it was called from. callers.ts has its callers.

import { Tree, type LabelOrder } from './tree';

/** Nodes of a function, except those below another one. */
export function outermost(base: Tree, isIt: (label: number) => boolean): number[] {
	const { count, parent } = base, below = new Uint8Array(count), found: number[] = [];
	for (let i = 1; i < count; i++) {
		const is = isIt(base.label[i]);
		if (is && !below[parent[i]])
			found.push(i);
		below[i] = Number(is || below[parent[i]]);
	}
	return found;
}

/** The root is the function, which may have several labels. */
export function calleesOf(base: Tree, label: number, isIt: (label: number) => boolean, order: LabelOrder): Tree {
	const { count, parent } = base, tree = new Tree(base.sides, order), at = new Int32Array(count).fill(-1);
	const changes = { size: 0, node: new Int32Array(count * base.sides), side: new Uint8Array(count * base.sides),
		samples: new Float64Array(count * base.sides) };
	tree.label[0] = label;
	for (let i = 1; i < count; i++) {
		const up = at[parent[i]];
		if (up < 0 && !isIt(base.label[i]))
			continue;
		const node = at[i] = up < 0 ? 0 : tree.child(up, base.label[i]);
		tree.source[node] ||= base.source[i];
		base.self.forEach((self, side) => {
			if (!self[i])
				return;
			changes.node[changes.size] = node;
			changes.side[changes.size] = side;
			changes.samples[changes.size++] = self[i];
		});
	}
	tree.add(changes);
	tree.scales = base.scales;
	return tree;
}
