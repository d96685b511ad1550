// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The inverted tree: innermost frames first, and below each frame its callers. Only its visible depth is built, since
// the whole tree would have a node for each frame of each stack. Later samples are added to the tree.

import { withRoom } from './columns';
import { Tree, type Changes } from './tree';

const FINEST = 1 / 8192;        // of the visible width: narrower nodes are not expanded
const READ = 1 << 17;           // stacks that one update may read to expand nodes; the other nodes wait for the next one
const LARGE = 1 << 16;          // nodes: a larger tree is built anew when its samples have doubled
const NONE = -1;

/** The outermost nodes of a function (sandwich.ts), whose callers are shown instead of those of all innermost frames. */
export interface Outermost {
	label: number;
	nodes: ArrayLike<number>;
	count: number;
	/** The outermost node of the function at or above a node; -1: none. */
	above(node: number): number;
}

/** Stacks that are equal so far: the nodes where they begin, and the node that each has reached towards the root. */
interface Group { node: number; starts: number[]; at: number[] }

export class Callers {
	tree!: Tree;
	private expanded = new Uint8Array(0);   // by node
	private wide = new Set<number>();       // nodes that may have become wide enough to be expanded
	private end = NONE;                     // the node at the path
	private built = 0;                      // samples when the tree was built
	private readonly first = { of: new Int32Array(0), next: new Int32Array(0), known: 1 };        // nodes of the base by label

	/** `path`: of the node that is zoomed into. Nodes below that node are expanded relative to its width. */
	constructor(private readonly base: Tree, private readonly path: number[], private readonly of: Outermost | null = null) {
		this.build();
	}

	private get samples(): Float64Array[] {
		return this.of ? this.base.total : this.base.self;
	}

	private get whole(): number {
		return this.tree.total.reduce((sum, total) => sum + total[0], 0);
	}

	private build(): void {
		const { base, of, samples } = this, tree = this.tree = new Tree(base.sides, null);
		const all: Group = { node: 0, starts: [], at: [] }, count = of ? of.count : base.count;
		tree.label[0] = of ? of.label : 0;
		tree.scales = base.scales;
		tree.sourceOf = node => this.sourceOf(node);
		this.expanded = new Uint8Array(64);
		this.wide.clear();
		this.end = NONE;
		this.index();
		for (let i = of ? 0 : 1; i < count; i++) {
			const start = of ? of.nodes[i] : i;
			if (!samples.some(side => side[start]))
				continue;
			samples.forEach((side, number) => { tree.total[number][0] += side[start]; });
			all.starts.push(start);
			all.at.push(of ? base.parent[start] : start);
		}
		this.expand(all);
		this.followPath();
		this.built = this.whole;
	}

	/** Nodes of the base that stacks may begin at, by label. */
	private index(): void {
		const { base, of, first } = this;
		if (of)
			return;
		for (; first.known < base.count; first.known++) {
			const node = first.known, label = base.label[node];
			if (label >= first.of.length) {
				const before = first.of.length;
				first.of = withRoom(first.of, label + 1);
				first.of.fill(NONE, before);
			}
			first.next = withRoom(first.next, base.count);
			first.next[node] = first.of[label];
			first.of[label] = node;
		}
	}

	/** Visit stacks with samples: those that begin below a child of the root or, for a function, all. Returns how many were read. */
	private visit(child: number, visit: (start: number, at: number) => void): number {
		const { tree, base, of, first, samples } = this;
		let read = 0;
		const take = (start: number) => {
			read++;
			if (samples.some(side => side[start]))
				visit(start, of ? base.parent[start] : start);
		};
		for (let i = 0; of && i < of.count; i++)
			take(of.nodes[i]);
		for (let i = of ? NONE : first.of[tree.label[child]]; i >= 0; i = first.next[i])
			take(i);
		return read;
	}

	/** The child of the root that is above a node. */
	private top(node: number): number {
		let top = node;
		while (this.tree.depth[top] > 1)
			top = this.tree.parent[top];
		return top;
	}

	/** The stacks of a node. */
	private gather(node: number): Group {
		const { tree, base } = this, labels: number[] = [], group: Group = { node, starts: [], at: [] };
		for (let i = node; i > 0; i = tree.parent[i])
			labels.push(tree.label[i]);
		labels.reverse();
		this.visit(this.top(node), (start, begin) => {
			let at = begin, depth = 0;
			for (; at > 0 && depth < labels.length && base.label[at] === labels[depth]; depth++)
				at = base.parent[at];
			if (depth < labels.length)
				return;
			group.starts.push(start);
			group.at.push(at);
		});
		return group;
	}

	/** The smallest width at which a node is expanded. */
	private leastAt(node: number): number {
		const { tree, end } = this;
		let at = node;
		while (end >= 0 && tree.depth[at] > tree.depth[end])
			at = tree.parent[at];
		return tree.width(end >= 0 && at === end ? end : 0) * FINEST;
	}

	/** Add the callers of a node, and their callers, as far as they are wide. */
	private expand(group: Group): void {
		const waiting = [group];
		for (let one = waiting.pop(); one; one = waiting.pop())
			waiting.push(...this.expandOne(one));
	}

	/** Add the callers of a node. Returns those that are wide enough to be expanded. */
	private expandOne({ node, starts, at }: Group): Group[] {
		const { base, tree, samples } = this, groups = new Map<number, Group>(), callers = new Int32Array(starts.length);
		for (let i = 0; i < starts.length; i++) {
			const caller = callers[i] = at[i] > 0 ? tree.child(node, base.label[at[i]]) : NONE;
			for (let side = 0; caller >= 0 && side < tree.sides; side++)
				tree.total[side][caller] += samples[side][starts[i]];
		}
		this.expanded = withRoom(this.expanded, tree.count);
		this.expanded[node] = 1;
		tree.reorder(node);
		const least = this.leastAt(node);
		for (let i = 0; i < starts.length; i++) {
			const caller = callers[i];
			if (caller < 0 || tree.width(caller) < least)
				continue;
			let group = groups.get(caller);
			if (!group)
				groups.set(caller, group = { node: caller, starts: [], at: [] });
			group.starts.push(starts[i]);
			group.at.push(base.parent[at[i]]);
		}
		return [...groups.values()];
	}

	/** Expand the nodes on the path, as far as it exists. */
	private followPath(): void {
		const { tree, path } = this;
		let at = 0;
		for (const label of path) {
			if (!this.expanded[at])
				this.expand(this.gather(at));
			at = tree.find(at, label);
			if (at < 0)
				return;
		}
		if (!at || this.end === at)
			return;
		this.end = at;
		this.expanded = withRoom(this.expanded, tree.count);
		tree.walk(node => {
			if (tree.width(node) < this.leastAt(node) && node !== at)
				return false;
			if (!this.expanded[node])
				this.wide.add(node);
			return true;
		}, at, 0, false);
		this.expandWide(Infinity);
	}

	/** Wide nodes that are not expanded, grouped by child of the root. The widest come first. */
	private due(): [top: number, nodes: number[]][] {
		const { tree, wide, of } = this, tops = new Map<number, number[]>();
		for (const node of [...wide].sort((a, b) => tree.width(b) - tree.width(a))) {
			const top = of ? 0 : this.top(node);
			if (this.expanded[node] || tree.width(node) < this.leastAt(node))
				continue;
			if (!tops.has(top))
				tops.set(top, []);
			tops.get(top)!.push(node);
		}
		wide.clear();
		return [...tops];
	}

	private expandWide(room: number): void {
		const { tree, base, wide } = this;
		this.due().forEach(([top, nodes], i) => {
			if (room <= 0 && i)
				return nodes.forEach(node => wide.add(node));
			const groups = new Map<number, Group>(nodes.map(node => [node, { node, starts: [], at: [] }]));
			room -= this.visit(top, (start, begin) => {
				let at = begin, node = 0;
				for (; at > 0 && this.expanded[node]; at = base.parent[at])
					node = tree.find(node, base.label[at]);
				const group = groups.get(node);
				group?.starts.push(start);
				group?.at.push(at);
			});
			groups.forEach(group => this.expand(group));
		});
	}

	/** Add samples that were added to the base. */
	add({ size, node, side, samples }: Changes): void {
		const { base, tree, of } = this;
		tree.scales = base.scales;
		this.index();
		for (let i = 0; i < size; i++) {
			const start = of ? of.above(node[i]) : node[i];
			if (start > 0)
				this.addStack(of ? base.parent[start] : start, side[i], samples[i]);
		}
		if (tree.count > LARGE && this.whole > 2 * this.built)
			return this.build();
		if (tree.sides > 1)
			tree.reorderAll();
		this.followPath();
		this.expandWide(READ);
	}

	private addStack(start: number, side: number, samples: number): void {
		const { base, tree } = this, total = () => tree.total[side];
		let at = start, node = 0;
		total()[0] += samples;
		for (; at > 0 && this.expanded[node]; at = base.parent[at]) {
			tree.reorder(node);
			node = tree.child(node, base.label[at]);
			if (node >= this.expanded.length)
				this.expanded = withRoom(this.expanded, tree.count);
			total()[node] += samples;
		}
		if (!this.expanded[node])
			this.wide.add(node);
	}

	/** The source line of a node: from its stack with most samples. */
	private sourceOf(node: number): number {
		const { base, of, tree, samples } = this;
		let best = NONE, most = 0;
		for (const start of node || of ? this.gather(node).starts : []) {
			const width = base.scales.reduce((sum, scale, side) => sum + samples[side][start] * scale, 0);
			if (width > most) {
				best = start;
				most = width;
			}
		}
		for (let up = of ? tree.depth[node] : tree.depth[node] - 1; best > 0 && up > 0; up--)
			best = base.parent[best];
		return best < 0 ? 0 : base.sourceOf(best);
	}
}
