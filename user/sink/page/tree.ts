// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A tree of frames with positions for drawing. Nodes are in preorder; node 0 is the root.

import type { Profile } from './data';

export interface Tree {
	count: number;
	label: Uint32Array;
	source: Uint32Array;
	depth: Uint32Array;
	parent: Int32Array;     // -1: none
	end: Uint32Array;       // index after the last node below
	self: Float64Array[];   // samples, by side: one, or before and after
	total: Float64Array[];
	width: Float64Array;    // width in the picture, in the tree's units
	left: Float64Array;     // left edge, in the same units
}

export function treeOf(label: Uint32Array, source: Uint32Array, depth: Uint32Array, sides: number): Tree {
	const count = label.length, parent = new Int32Array(count), end = new Uint32Array(count);
	const latest: number[] = [];    // by depth
	const numbers = () => Array.from({ length: sides }, () => new Float64Array(count));
	for (let i = 0; i < count; i++) {
		parent[i] = depth[i] ? latest[depth[i] - 1] : -1;
		latest[depth[i]] = i;
		end[i] = i + 1;
	}
	for (let i = count - 1; i > 0; i--)
		end[parent[i]] = Math.max(end[parent[i]], end[i]);
	return { count, label, source, depth, parent, end, self: numbers(), total: numbers(),
		width: new Float64Array(count), left: new Float64Array(count) };
}

/** Count the samples of the selected threads; in a difference, those of both sides. */
export function weigh(tree: Tree, { counts, runs }: Profile, chosen: Uint8Array | null): void {
	const difference = runs.length > 1;
	for (const self of tree.self)
		self.fill(0);
	for (let i = 0; i < counts.rows; i++)
		if (difference)
			tree.self[counts.group[i]][counts.node[i]] += counts.samples[i];
		else if (!chosen || chosen[counts.group[i]])
			tree.self[0][counts.node[i]] += counts.samples[i];
	sumUp(tree);
}

/** Compute the totals from the samples of the nodes themselves. */
export function sumUp(tree: Tree): void {
	tree.total.forEach((total, side) => {
		total.set(tree.self[side]);
		for (let i = tree.count - 1; i > 0; i--)
			total[tree.parent[i]] += total[i];
	});
}

/** Compute widths and positions; the samples of each side are multiplied by `scale`. */
export function layOut(tree: Tree, scales: number[]): void {
	const { width, left, parent } = tree, filled = new Float64Array(tree.count);
	for (let i = 0; i < tree.count; i++) {
		let sum = 0;
		for (let side = 0; side < scales.length; side++)
			sum += tree.total[side][i] * scales[side];
		width[i] = sum;
		if (i) {
			left[i] = filled[i] = filled[parent[i]];
			filled[parent[i]] += sum;
		}
	}
}

/** The node at a path of labels from the root, or the last existing one on it. */
export function follow(tree: Tree, path: number[]): number {
	let at = 0;
	for (const label of path) {
		let child = at + 1;
		while (child < tree.end[at] && tree.label[child] !== label)
			child = tree.end[child];
		if (child >= tree.end[at])
			break;
		at = child;
	}
	return at;
}

export function pathTo(tree: Tree, node: number): number[] {
	const path: number[] = [];
	for (let i = node; i > 0; i = tree.parent[i])
		path.unshift(tree.label[i]);
	return path;
}
