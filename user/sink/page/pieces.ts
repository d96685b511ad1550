// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the code is that a frame or function stands for: interpreted, compiled, inlined, a cold part, with shares.

import type { Profile } from './data';
import { PROCESS, TIERS } from './kinds';
import type { Names } from './names';
import type { Shaped } from './shaped';
import { percent } from './text';
import type { Tree } from './tree';
import type { ShownSamples } from './weigh';

const NONE = -1;

/** Of the samples that are shown, by code instead of functions. */
export class Pieces {
	readonly self: Float64Array;            // by node of the profile's tree
	readonly total: Float64Array;
	private first: Int32Array | null = null;        // by node of the shaped tree: a node of the profile's, which leads to the others
	private next = new Int32Array(0);
	private ofFunctions: Map<number, Float64Array> | null = null;

	/** samples: those that are shown, at nodes of the profile's tree. */
	constructor(private readonly profile: Profile, private readonly names: Names, private readonly shaped: Shaped | null,
		{ size, node, samples }: ShownSamples) {
		const { tree } = profile;
		this.self = new Float64Array(tree.count);
		for (let i = 0; i < size; i++)
			if (!shaped || shaped.place[node[i]] >= 0)
				this.self[node[i]] += samples[i];
		this.total = this.self.slice();
		for (let i = tree.count - 1; i > 0; i--)
			this.total[tree.parent[i]] += this.total[i];
	}

	/** Nodes of the profile's tree that a node of the shown one stands for. */
	private *nodesOf(node: number): Generator<number> {
		const { shaped, profile: { tree } } = this;
		if (!shaped)
			return void (yield node);
		if (!this.first) {
			this.first = new Int32Array(shaped.tree.count).fill(NONE);
			this.next = new Int32Array(tree.count);
			for (let i = 1; i < tree.count; i++) {
				const at = shaped.nodeOf(i);
				if (at > 0 && this.total[i] && !shaped.isFolded(i)) {
					this.next[i] = this.first[at];
					this.first[at] = i;
				}
			}
		}
		for (let i = this.first[node] ?? NONE; i >= 0; i = this.next[i])
			yield i;
	}

	private words(tiers: Float64Array): string {
		const kinds = [...tiers.keys()].filter(tier => tiers[tier]).sort((a, b) => tiers[b] - tiers[a]);
		if (kinds.length < 2)
			return kinds.length ? TIERS[kinds[0]] : '';
		const whole = tiers.reduce((sum, n) => sum + n, 0);
		return kinds.map(tier => `${TIERS[tier] || 'main code'} ${percent(tiers[tier], whole)}`).join(', ');
	}

	/** Of a node of the shown tree, with all that it calls. With folded recursion: of its outermost calls, as they were. */
	ofNode(shown: Tree, node: number): string {
		const tiers = new Float64Array(TIERS.length), { tree } = this.profile, label = shown.label[node];
		if (!node || this.names.kind(label) === PROCESS)
			return '';
		for (const i of this.nodesOf(node))
			tiers[this.names.tier(tree.label[i])] += this.total[i];
		return this.words(tiers);
	}

	/** Of a function: of samples of its own. Without any, of those in what it calls, each time that it is on a stack. */
	ofFunction(label: number): string {
		if (!this.ofFunctions) {
			const { tree } = this.profile, { names } = this, byFunction = this.ofFunctions = new Map<number, Float64Array>();
			for (let i = 1; i < tree.count; i++) {
				if (!this.total[i])
					continue;
				const first = names.functionOf(tree.label[i]), tier = names.tier(tree.label[i]);
				let tiers = byFunction.get(first);
				if (!tiers)
					byFunction.set(first, tiers = new Float64Array(2 * TIERS.length));
				tiers[tier] += this.self[i];
				tiers[TIERS.length + tier] += this.total[i];
			}
		}
		const tiers = this.ofFunctions.get(this.names.functionOf(label)), self = tiers?.subarray(0, TIERS.length);
		return !tiers ? '' : this.words(self!.some(n => n) ? self! : tiers.subarray(TIERS.length));
	}
}
