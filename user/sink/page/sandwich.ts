// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The callers and the callees of a function, wherever it is on a stack. In a recursion, the outermost frame counts.

import { Callers, type Outermost } from './callers';
import { Column, integers } from './columns';
import { Tree, type Changes, type LabelOrder } from './tree';

const NONE = -1;

/** Nodes of a function, except those below another one. */
class OutermostNodes implements Outermost {
	private readonly found = integers();
	private readonly top = integers();      // by node: the found node that it is at or below

	constructor(private readonly base: Tree, readonly label: number, private readonly isIt: (label: number) => boolean) {
		this.grow();
	}

	grow(): void {
		const { base: { label, parent, count }, found, top } = this;
		for (let i = top.size; i < count; i++) {
			const above = i ? top.at(parent[i]) : NONE, is = i > 0 && above < 0 && this.isIt(label[i]);
			if (is)
				found.push(i);
			top.push(is ? i : above);
		}
	}

	get nodes(): Int32Array { return this.found.data; }
	get count(): number { return this.found.size; }

	above(node: number): number {
		return this.top.at(node);
	}
}

export class Sandwich {
	readonly callees: Tree;         // its root is the function, which may have several labels
	readonly callers: Callers;
	private readonly nodes: OutermostNodes;
	private readonly at: Column<Int32Array> = integers();   // by node of the base: its node in `callees`; -1: none

	constructor(private readonly base: Tree, label: number, isIt: (label: number) => boolean, order: LabelOrder) {
		this.nodes = new OutermostNodes(base, label, isIt);
		this.callees = new Tree(base.sides, order);
		this.callees.label[0] = label;
		this.callees.sourceOf = node => this.sourceOf(node);
		this.grow();
		this.weigh();
		this.callers = new Callers(base, [], this.nodes);
	}

	private grow(): void {
		const { base: { label, parent, count }, nodes, at, callees } = this;
		for (let i = at.size; i < count; i++) {
			const top = nodes.above(i);
			at.push(top < 0 ? NONE : top === i ? 0 : callees.child(at.at(parent[i]), label[i]));
		}
	}

	private weigh(): void {
		const { base, at, callees } = this, room = base.count * base.sides;
		const changes = { size: 0, node: new Int32Array(room), side: new Uint8Array(room), samples: new Float64Array(room) };
		base.self.forEach((self, side) => {
			for (let i = 1; i < base.count; i++)
				if (self[i] && at.at(i) >= 0) {
					changes.node[changes.size] = at.at(i);
					changes.side[changes.size] = side;
					changes.samples[changes.size++] = self[i];
				}
		});
		callees.add(changes);
		callees.scales = base.scales;
	}

	/** Add samples that were added to the base. */
	add(changes: Changes): void {
		const { nodes, at, callees, base } = this, { size, node } = changes, below = { ...changes, size: 0, node: new Int32Array(size),
			side: new Uint8Array(size), samples: new Float64Array(size) };
		nodes.grow();
		this.grow();
		for (let i = 0; i < size; i++)
			if (at.at(node[i]) >= 0) {
				below.node[below.size] = at.at(node[i]);
				below.side[below.size] = changes.side[i];
				below.samples[below.size++] = changes.samples[i];
			}
		callees.add(below);
		callees.scales = base.scales;
		this.callers.add(changes);
	}

	/** The source line of a callee: that of the first node of the base that has one. */
	private sourceOf(node: number): number {
		const { at, base } = this;
		for (let i = 0; i < at.size; i++)
			if (at.at(i) === node && base.sourceOf(i))
				return base.sourceOf(i);
		return 0;
	}
}
