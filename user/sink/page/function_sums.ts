// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Samples by function, of a node and all below it. All code of a function counts for it, and recursion once in a total.

import { withRoom } from './columns';
import type { Hidden } from './data';
import type { Changes, Tree } from './tree';

/** label: the first one of the function. */
export interface FunctionRow { label: number; self: number[]; total: number[] }

export class FunctionSums {
	readonly rows = new Map<number, FunctionRow>();         // by function
	private marks = new Float64Array(64);   // by function: number of the stack that it was last found on
	private stacks = 0;

	/** functionOf: the function of a label (Names.functionOf). */
	constructor(readonly tree: Tree, readonly under: number, private readonly functionOf: (label: number) => number) {
		const open: number[] = [];
		let opened = new Uint32Array(64);
		tree.walk(node => {
			if (!tree.total.some(total => total[node]))
				return false;
			for (; open.length && tree.depth[node] <= tree.depth[open[open.length - 1]]; open.pop())
				opened[functionOf(tree.label[open[open.length - 1]])]--;
			open.push(node);
			const label = functionOf(tree.label[node]), row = this.row(label);
			opened = withRoom(opened, label + 1);
			const isOutermost = !opened[label]++;
			for (let side = 0; side < tree.sides; side++) {
				row.self[side] += tree.self[side][node];
				row.total[side] += isOutermost ? tree.total[side][node] : 0;
			}
			return true;
		}, under, 0, false);
	}

	private row(label: number): FunctionRow {
		let row = this.rows.get(label);
		if (!row)
			this.rows.set(label, row = { label, self: this.tree.self.map(() => 0), total: this.tree.self.map(() => 0) });
		return row;
	}

	/** Add to the totals of functions what the tree lacks. */
	addHidden({ rows, label, side, samples }: Hidden): void {
		for (let i = 0; i < rows; i++)
			this.row(this.functionOf(label[i])).total[side[i]] += samples[i];
	}

	/** Add samples that were added to the tree. */
	add({ size, node, side, samples }: Changes): void {
		for (let i = 0; i < size; i++)
			if (this.has(node[i])) {
				this.row(this.functionOf(this.tree.label[node[i]])).self[side[i]] += samples[i];
				this.addTotals(node[i], side[i], samples[i]);
			}
	}

	private has(node: number): boolean {
		const { tree, under } = this;
		let at = node;
		while (tree.depth[at] > tree.depth[under])
			at = tree.parent[at];
		return at === under;
	}

	private addTotals(node: number, side: number, samples: number): void {
		const { tree, under } = this, stack = ++this.stacks;
		for (let at = node; ; at = tree.parent[at]) {
			const label = this.functionOf(tree.label[at]);
			if (label >= this.marks.length)
				this.marks = withRoom(this.marks, label + 1);
			if (this.marks[label] !== stack)
				this.row(label).total[side] += samples;
			this.marks[label] = stack;
			if (at === under)
				return;
		}
	}
}
