// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A tree of frames that can grow. Node 0 is the root. Nodes keep their numbers, and parents have lower ones than
// their children. Siblings are put in order when they are looked at.

import { withRoom } from './columns';

const NONE = -1;
const MOST_LOAD = .6;           // of the hash table
const LISTED = 8;               // children of a node; of nodes with more, they are in the hash table
const FEW = 16;                 // fewer changes than a FEWth of the nodes are added one by one

/** The order of siblings by their labels, as for Array.sort(). */
export type LabelOrder = (a: number, b: number) => number;

/** Samples that are added to nodes. */
export interface Changes { size: number; node: Int32Array; side: Uint8Array; samples: Float64Array }

export class Tree {
	count = 0;
	label = new Uint32Array(64);
	source = new Uint32Array(64);
	depth = new Uint32Array(64);
	parent = new Int32Array(64);    // NONE: none
	self: Float64Array[];           // samples, by side: one, or before and after
	total: Float64Array[];
	selfOf: Float64Array[];         // by label
	scales: number[];               // widths in the picture are totals times these
	/** The source line of a node. */
	sourceOf: (node: number) => number = node => this.source[node];
	private next = new Int32Array(64);      // sibling
	private first = new Int32Array(64);     // child
	private sorted = new Uint8Array(64);
	private children = new Uint32Array(64);         // their number
	private inTable = new Uint8Array(64);           // whether they are in the hash table
	private table = new Int32Array(256).fill(NONE);         // hash table of nodes, by parent and label
	private used = 0;               // slots of the table

	/** Without an order of labels, the widest siblings are first. */
	constructor(public sides: number, private readonly order: LabelOrder | null) {
		const samples = () => Array.from({ length: sides }, () => new Float64Array(64));
		this.self = samples();
		this.total = samples();
		this.selfOf = samples();
		this.scales = new Array<number>(sides).fill(1);
		this.append(NONE, 0);
	}

	/** A tree of nodes in preorder, which takes over the arrays. Siblings are in the order in which they come. */
	static ofPreorder(label: Uint32Array, source: Uint32Array, depth: Uint32Array, sides: number, order: LabelOrder): Tree {
		const tree = new Tree(sides, order), count = label.length;
		const parent = new Int32Array(count), children = new Uint32Array(count), next = new Int32Array(count).fill(NONE), first = next.slice();
		const latest: number[] = [];    // by depth
		for (let i = 0; i < count; i++) {
			const up = parent[i] = depth[i] ? latest[depth[i] - 1] : NONE, before = latest[depth[i]];
			if (up >= 0 && first[up] < 0)
				first[up] = i;
			else if (up >= 0)
				next[before] = i;
			if (up >= 0)
				children[up]++;
			latest[depth[i]] = i;
		}
		const numbers = () => Array.from({ length: sides }, () => new Float64Array(count));
		return Object.assign(tree, { count, label, source, depth, parent, children, next, first, self: numbers(), total: numbers(),
			inTable: new Uint8Array(count), sorted: new Uint8Array(count).fill(1) });
	}

	/** Avoids copies while nodes are added. */
	reserve(size: number): void {
		for (const key of ['label', 'source', 'depth', 'parent', 'children', 'inTable', 'next', 'first', 'sorted'] as const)
			(this[key] as Int32Array) = withRoom(this[key] as Int32Array, size);
		for (let side = 0; side < this.sides; side++) {
			this.self[side] = withRoom(this.self[side], size);
			this.total[side] = withRoom(this.total[side], size);
		}
	}

	private append(parent: number, label: number): number {
		const node = this.count++;
		if (node === this.label.length)
			this.reserve(node + 1);
		this.label[node] = label;
		this.parent[node] = parent;
		this.first[node] = this.next[node] = NONE;
		this.children[node] = this.inTable[node] = 0;
		this.sorted[node] = 1;
		if (parent >= 0) {
			this.children[parent]++;
			this.depth[node] = this.depth[parent] + 1;
			this.sorted[parent] = Number(this.first[parent] < 0);
			this.next[node] = this.first[parent];
			this.first[parent] = node;
		}
		return node;
	}

	/** Where a node is in the table, or would be. */
	private slot(parent: number, label: number): number {
		const { table } = this, mask = table.length - 1;
		let hash = Math.imul(parent, 0x9e3779b1) ^ Math.imul(label, 0x85ebca6b);
		hash = Math.imul(hash ^ hash >>> 15, 0xc2b2ae35);
		for (let at = (hash ^ hash >>> 13) & mask; ; at = (at + 1) & mask) {
			const node = table[at];
			if (node < 0 || (this.parent[node] === parent && this.label[node] === label))
				return at;
		}
	}

	private put(node: number): void {
		if (this.used >= this.table.length * MOST_LOAD) {
			const before = this.table;
			this.table = new Int32Array(2 * before.length).fill(NONE);
			for (const other of before)
				if (other >= 0)
					this.table[this.slot(this.parent[other], this.label[other])] = other;
		}
		this.table[this.slot(this.parent[node], this.label[node])] = node;
		this.used++;
	}

	private putChildren(parent: number): void {
		for (let child = this.first[parent]; child >= 0; child = this.next[child])
			this.put(child);
	}

	/** The child with a label, or -1. */
	find(parent: number, label: number): number {
		if (this.inTable[parent])
			return this.table[this.slot(parent, label)];
		let child = this.first[parent];
		while (child >= 0 && this.label[child] !== label)
			child = this.next[child];
		return child;
	}

	/** The child with a label. If there is none, it is added. */
	child(parent: number, label: number): number {
		const found = this.find(parent, label);
		if (found >= 0)
			return found;
		const node = this.append(parent, label);
		if (this.inTable[parent]) {
			this.put(node);
		} else if (this.children[parent] > LISTED) {
			this.putChildren(parent);
			this.inTable[parent] = 1;
		}
		return node;
	}

	private sort(node: number): void {
		const children: number[] = [], { next, first, label, order } = this;
		for (let child = first[node]; child >= 0; child = next[child])
			children.push(child);
		children.sort(order ? (a, b) => order(label[a], label[b]) : (a, b) => this.width(b) - this.width(a) || label[a] - label[b]);
		children.forEach((child, i) => { next[child] = children[i + 1] ?? NONE; });
		first[node] = children[0] ?? NONE;
		this.sorted[node] = 1;
	}

	/** In a tree without an order of labels: the widths of a node's children have changed. */
	reorder(node: number): void {
		this.sorted[node] = Number(this.children[node] < 2);
	}

	/** The same for all nodes, since scales have changed. */
	reorderAll(): void {
		this.sorted.fill(0);
	}

	/** The first child, or -1. */
	firstChild(node: number): number {
		if (!this.sorted[node])
			this.sort(node);
		return this.first[node];
	}

	/** The sibling behind a node, or -1. */
	nextSibling(node: number): number {
		if (node && !this.sorted[this.parent[node]])
			this.sort(this.parent[node]);
		return this.next[node];
	}

	/** The width of a node in the picture, in the tree's units. */
	width(node: number): number {
		let sum = this.total[0][node] * this.scales[0];
		for (let side = 1; side < this.sides; side++)
			sum += this.total[side][node] * this.scales[side];
		return sum;
	}

	/** The left edge of a node, in the same units. */
	left(node: number): number {
		let sum = 0;
		for (let at = node; at > 0; at = this.parent[at])
			for (let child = this.firstChild(this.parent[at]); child !== at; child = this.next[child])
				sum += this.width(child);
		return sum;
	}

	/** Visit nodes in preorder, from a node on. Nodes below one for which `visit` returns false are left out. */
	walk(visit: (node: number, left: number, width: number) => boolean, from = 0, left = 0, inOrder = true): void {
		const nodes = [from], lefts = [left];
		for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
			const at = lefts.pop()!, width = this.width(node), next = node === from ? NONE : this.next[node];
			if (next >= 0) {
				nodes.push(next);
				lefts.push(at + width);
			}
			const child = !visit(node, at, width) ? NONE : inOrder ? this.firstChild(node) : this.first[node];
			if (child >= 0) {
				nodes.push(child);
				lefts.push(at);
			}
		}
	}

	private addSelf(node: number, side: number, samples: number): void {
		const label = this.label[node];
		if (label >= this.selfOf[side].length)
			this.selfOf[side] = withRoom(this.selfOf[side], label + 1);
		this.selfOf[side][label] += samples;
		this.self[side][node] += samples;
	}

	private sumTotals(): void {
		this.total.forEach((total, side) => {
			total.set(this.self[side]);
			for (let i = this.count - 1; i > 0; i--)
				total[this.parent[i]] += total[i];
		});
	}

	/** Add samples to nodes, and to all that are above them. */
	add({ size, node, side, samples }: Changes): void {
		const few = size < this.count / FEW;
		for (let i = 0; i < size; i++) {
			this.addSelf(node[i], side[i], samples[i]);
			const total = this.total[side[i]];
			for (let at = few ? node[i] : NONE; at >= 0; at = this.parent[at])
				total[at] += samples[i];
		}
		if (!few)
			this.sumTotals();
	}

	/** Remove all samples, for another number of sides. */
	setSides(sides: number): void {
		const samples = (size: number) => Array.from({ length: sides }, () => new Float64Array(size));
		this.sides = sides;
		this.self = samples(this.label.length);
		this.total = samples(this.label.length);
		this.selfOf = samples(64);
		this.scales = new Array<number>(sides).fill(1);
	}

	/** Remove all samples. */
	clear(): void {
		for (const samples of [...this.self, ...this.total, ...this.selfOf])
			samples.fill(0);
	}
}

/** The node at a path of labels from the root, or the last existing one on it. */
export function follow(tree: Tree, path: number[]): number {
	let at = 0;
	for (const label of path) {
		const child = tree.find(at, label);
		if (child < 0)
			break;
		at = child;
	}
	return at;
}

export function exists(tree: Tree, path: number[]): boolean {
	return tree.depth[follow(tree, path)] === path.length;
}

export function pathTo(tree: Tree, node: number): number[] {
	const path: number[] = [];
	for (let i = node; i > 0; i = tree.parent[i])
		path.push(tree.label[i]);
	return path.reverse();
}
