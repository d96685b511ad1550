// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The inverted tree: innermost frames first, and below each frame its callers. It is built as deep as it is
// visible, and again after each zoom: the whole tree would have a node for each frame of each stack.

import { Tree } from './tree';

const FINEST = 1 / 8192;        // of the visible width: narrower nodes are not expanded

/** Stacks that are equal so far: their innermost nodes, and the node that each has reached towards the root. */
interface Group { label: number; depth: number; leaves: number[]; at: number[]; width: number; onPath: boolean; below: boolean }

function grouped(base: Tree, leaves: number[], at: number[], widthOf: (leaf: number) => number): Group[] {
	const groups = new Map<number, Group>();
	for (let i = 0; i < leaves.length; i++) {
		const label = base.label[at[i]];
		let group = groups.get(label);
		if (!group)
			groups.set(label, group = { label, depth: 0, leaves: [], at: [], width: 0, onPath: false, below: false });
		group.leaves.push(leaves[i]);
		group.at.push(at[i]);
		group.width += widthOf(leaves[i]);
	}
	// In reverse order: the last one is taken first.
	return [...groups.values()].sort((a, b) => a.width - b.width || b.label - a.label);
}

/** The callers of a group's nodes. */
function callers(base: Tree, group: Group, widthOf: (leaf: number) => number): Group[] {
	const leaves: number[] = [], at: number[] = [];
	for (let i = 0; i < group.leaves.length; i++) {
		const parent = base.parent[group.at[i]];
		if (parent > 0) {
			leaves.push(group.leaves[i]);
			at.push(parent);
		}
	}
	return grouped(base, leaves, at, widthOf);
}

/** Callers of the innermost frames or, with `of`, of a function: its outermost nodes. */
export function callersOf(base: Tree, path: number[], of: { label: number; nodes: number[] } | null = null): Tree {
	const { scales } = base, samples = of ? base.total : base.self;
	const widthOf = (leaf: number) => scales.reduce((sum, scale, side) => sum + samples[side][leaf] * scale, 0);
	const labels: number[] = [], sources: number[] = [], depths: number[] = [];
	const totals: number[][] = scales.map(() => []);
	const leaves: number[] = of ? of.nodes : [];
	for (let i = 1; !of && i < base.count; i++)
		if (base.self.some(self => self[i]))
			leaves.push(i);

	const add = (label: number, depth: number, source: number, under: number[]) => {
		labels.push(label);
		depths.push(depth);
		sources.push(source);
		totals.forEach((total, side) => total.push(under.reduce((sum, leaf) => sum + samples[side][leaf], 0)));
	};
	add(of ? of.label : 0, 0, of && leaves.length ? base.source[leaves[0]] : 0, leaves);
	const all: Group = { label: 0, depth: 0, leaves, at: leaves, width: 0, onPath: false, below: false };
	const top = of ? callers(base, all, widthOf) : grouped(base, leaves, leaves, widthOf);
	const least = leaves.reduce((sum, leaf) => sum + widthOf(leaf), 0) * FINEST;
	const waiting: Group[] = [];
	const wait = (groups: Group[], above: Group | null) => {
		for (const group of groups) {
			group.depth = above ? above.depth + 1 : 1;
			group.onPath = (!above || above.onPath) && path[group.depth - 1] === group.label;
			group.below = !!above && (above.below || (above.onPath && above.depth === path.length));
			waiting.push(group);
		}
	};
	wait(top, null);
	let leastBelow = least;
	for (let group = waiting.pop(); group; group = waiting.pop()) {
		const heaviest = group.at[group.leaves.reduce((best, leaf, i) =>
			widthOf(leaf) > widthOf(group.leaves[best]) ? i : best, 0)];
		add(group.label, group.depth, base.source[heaviest], group.leaves);
		if (group.onPath && group.depth === path.length)
			leastBelow = group.width * FINEST;
		if (group.onPath || group.width >= (group.below ? leastBelow : least))
			wait(callers(base, group, widthOf), group);
	}
	const tree = Tree.ofPreorder(Uint32Array.from(labels), Uint32Array.from(sources), Uint32Array.from(depths), scales.length, null);
	tree.total = totals.map(total => Float64Array.from(total));
	tree.scales = scales;
	return tree;
}
