// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A spot is a node of a live profile in one group. If the outermost frames are threads or containers, each of these is
// a group, and a node has a spot in each group with samples there. Otherwise there are no groups, and each node has one
// spot.

import { integers, naturals, type Column } from './columns';

export class Spots {
	readonly node = naturals();     // of each spot: node of the profile
	readonly group = naturals();
	readonly up = integers();       // spot of the caller, which has a lower number; -1: none
	private readonly byGroup = new Map<number, Map<number, number>>();      // spot by node

	/** Without groups, spots and nodes have the same numbers: add() takes the nodes in their order. */
	constructor(private readonly groups: boolean, private readonly parent: Column<Int32Array>) {}

	get size(): number { return this.node.size; }

	add(node: number, group: number): number {
		const up = this.parent.data[node];
		this.up.push(this.groups && up >= 0 ? this.byGroup.get(group)!.get(up)! : up);
		this.group.push(group);
		return this.node.push(node);
	}

	/** The spot of a node and group. If there is none, it is added, with those of its callers. */
	of(node: number, group: number): number {
		if (!this.groups)
			return node;
		let spots = this.byGroup.get(group);
		if (!spots)
			this.byGroup.set(group, spots = new Map());
		const missing: number[] = [];
		for (let at = node; at >= 0 && !spots.has(at); at = this.parent.data[at])
			missing.push(at);
		while (missing.length) {
			const at = missing.pop()!;
			spots.set(at, this.add(at, group));
		}
		return spots.get(node)!;
	}
}
