// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tree of functions: all code of a function that has the same callers is one frame. And without frames that are
// hidden, of stacks that are wanted, and with recursion folded. It grows with the profile's tree.

import { withRoom } from './columns';
import type { Profile } from './data';
import { KERNEL, plainKind } from './kinds';
import type { Names } from './names';
import type { PathTexts } from './path_text';
import type { State } from './state';
import { Tree, type LabelOrder } from './tree';

/** Whether labels, or those of their functions, are among items of State.hide or State.only; known labels are looked up once. */
export class LabelSet {
	private readonly modules = new Set<string>();
	private readonly functions = new Set<string>();
	private answers = new Uint8Array(64);   // 0: not known, 1: no, 2: yes

	constructor(items: string[], private readonly kernel: boolean, private readonly names: Names,
		private readonly texts: PathTexts) {
		for (const item of items)
			(item[0] === 'm' ? this.modules : this.functions).add(item.slice(1));
	}

	get isEmpty(): boolean {
		return !this.kernel && !this.modules.size && !this.functions.size;
	}

	private find(label: number): boolean {
		const { names } = this;
		return (this.kernel && plainKind(names.kind(label)) === KERNEL) ||
			(this.modules.size > 0 && this.modules.has(names.rawModule(label))) ||
			(this.functions.size > 0 && this.functions.has(this.texts.functionOf(label)));
	}

	has(label: number): boolean {
		if (label >= this.answers.length)
			this.answers = withRoom(this.answers, label + 1);
		return (this.answers[label] ||= label && this.find(label) ? 2 : 1) === 2;
	}
}

export const shapes = (state: State) => state.nokernel || state.collapse || state.hide.length > 0 || state.only.length > 0;

export class Shaped {
	readonly tree: Tree;
	place = new Int32Array(64);             // by node of the profile: where its samples count; -1: nowhere
	private at = new Int32Array(64);        // where its children are
	private wanted = new Uint8Array(64);
	private origin = new Int32Array(64);    // by node: the first of the profile
	private placed = 0;
	private readonly collapse: boolean;
	private readonly hidden: LabelSet;
	private readonly only: LabelSet;

	/** merges: false keeps the code of a function apart, also if other trees do not. */
	constructor(private readonly profile: Profile, state: State, private readonly names: Names, texts: PathTexts,
		private readonly merges = names.merged) {
		this.tree = new Tree(profile.tree.sides, merges ? this.order : profile.order);
		this.tree.sourceOf = node => this.profile.tree.sourceOf(this.origin[node]);
		this.collapse = state.collapse;
		this.hidden = new LabelSet(state.hide, state.nokernel, names, texts);
		this.only = new LabelSet(state.only, false, names, texts);
		this.grow();
	}

	private readonly order: LabelOrder = (a, b) => {
		const first = this.names.key(a), second = this.names.key(b);
		return first < second ? -1 : first > second ? 1 : a - b;
	};

	private shown(label: number): number {
		return this.merges ? this.names.functionOf(label) : label;
	}

	/** Place nodes that are new. */
	grow(): void {
		const { profile: { tree: base } } = this;
		for (const key of ['place', 'at'] as const)
			this[key] = withRoom(this[key], base.count);
		this.wanted = withRoom(this.wanted, base.count);
		for (; this.placed < base.count; this.placed++)
			this.put(this.placed);
	}

	private put(node: number): void {
		const { profile: { tree: base }, tree, at, only } = this, up = base.parent[node], label = this.shown(base.label[node]);
		this.wanted[node] = Number(only.isEmpty || (up >= 0 && this.wanted[up]) || only.has(label));
		at[node] = up < 0 ? 0 : this.hidden.has(label) ? at[up] : this.child(at[up], label);
		this.place[node] = this.wanted[node] ? at[node] : -1;
		if (at[node] >= this.origin.length || (at[node] && !this.origin[at[node]])) {
			this.origin = withRoom(this.origin, tree.count);
			this.origin[at[node]] = node;
		}
	}

	/** The node of this tree for a node of the profile's tree; -1: its frame is hidden. */
	nodeOf(node: number): number {
		const at = this.at[node];
		return this.tree.label[at] === this.shown(this.profile.tree.label[node]) ? at : -1;
	}

	/** Whether a node counts for a frame that is above its caller, since recursion is folded. */
	isFolded(node: number): boolean {
		return this.at[this.profile.tree.parent[node]] !== this.tree.parent[this.at[node]];
	}

	/** A path of the profile's tree in this one. */
	pathOf(labels: number[]): number[] {
		const path: number[] = [];
		for (const each of labels) {
			const label = this.shown(each);
			const above = this.collapse ? path.lastIndexOf(label) : -1;
			if (above >= 0)
				path.length = above + 1;
			else if (!this.hidden.has(label))
				path.push(label);
		}
		return path;
	}

	/** The child with a label or, if recursion is folded, the frame above that has this label. */
	private child(parent: number, label: number): number {
		const { tree } = this;
		for (let above = parent; this.collapse && above > 0; above = tree.parent[above])
			if (tree.label[above] === label)
				return above;
		return tree.child(parent, label);
	}
}
