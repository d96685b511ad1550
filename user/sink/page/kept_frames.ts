// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keeps the zoomed and the selected frame of a live page while code gets names. New names change labels, so the path of
// such a frame may not exist in the next version of the profile. Each frame is kept as a stack of code locations until
// its new path exists.

import { LabelSet } from './shaped';
import { exists, follow, pathTo } from './tree';
import type { View } from './view';

export interface KeptStep { location: number; key: string; labels: number[] }   // labels of the location's frames, the outermost first

export interface KeptStack {
	epoch: number;          // of the numbers of locations
	steps: KeptStep[];      // from the process on
	nodes: number[];        // nodes of the tree when the stack was kept, by frame
	at: number;             // index of the kept frame
}

export interface StackFinder {
	/** The stack with most samples through one of the nodes of the profile's tree. */
	stackThrough(is: (node: number) => boolean): KeptStack | null;
	/** The present labels of a stack, for each frame that it had. */
	labelsOf(stack: KeptStack): number[][];
}

/** A path in a graph: down to the kept frame of the stack or, upward, from the kept frame to frame number `from`. */
interface KeptPath { stack: KeptStack; upward: boolean; from: number }

/** A function without a name. */
interface KeptFunction { key: 'sandwich' | 'code'; text: string; labels: LabelSet; stack: KeptStack }

export class KeptFrames {
	private zoom: KeptPath | null = null;
	private selected: KeptPath | null = null;
	private functions: KeptFunction[] = [];

	constructor(private readonly view: View) {}

	/** Forget the zoomed frame: a person has zoomed elsewhere. */
	dropZoom(): void {
		this.zoom = null;
	}

	/** Keep the frames before names or the version of the profile change. */
	note(finder: StackFinder): void {
		const { view, view: { state, graph, centre } } = this, chosen = graph.selected > 0 ? pathTo(graph.tree, graph.selected) : [];
		const zoom = this.path(finder, state.zoom, state.callers);
		this.zoom = zoom ?? this.zoom;
		this.selected = String(chosen) === String(state.zoom) ? zoom : this.path(finder, chosen, state.callers || centre >= 0);
		this.functions = [];
		for (const key of ['sandwich', 'code'] as const) {
			const text = state[key], labels = new LabelSet(['f' + text], false, view.names, view.texts);
			const stack = text[0] === '[' ? finder.stackThrough(node => labels.has(view.profile.tree.label[node])) : null;
			if (stack)
				this.functions.push({ key, text, labels, stack });
		}
	}

	/** Change the view to the present paths of the kept frames. Returns true if its state has changed. */
	take(finder: StackFinder): boolean {
		const { view, view: { graph, base, state: before } } = this, { zoom, selected } = this;
		if (zoom) {
			const path = this.pathOf(finder, zoom);
			if (path.length && String(path) !== String(before.zoom))
				view.state = { ...view.state, zoom: path };
			if (zoom.upward || exists(base, path))
				this.zoom = null;
		}
		const path = selected ? this.pathOf(finder, selected).slice(view.centre >= 0 ? 1 : 0) : [];
		if (path.length)
			graph.selectAt(path);
		this.selected = null;
		for (const { key, text, labels, stack } of this.functions) {
			const [label] = finder.labelsOf(stack)[stack.at];
			if (label !== undefined && view.state[key] === text && !labels.has(label) && !this.hasSamples(labels))
				view.state = { ...view.state, [key]: view.texts.functionOf(label) };
		}
		return view.state !== before;
	}

	private hasSamples(labels: LabelSet): boolean {
		const { base } = this.view;
		for (let i = 1; i < base.count; i++)
			if (labels.has(base.label[i]) && base.width(i))
				return true;
		return false;
	}

	private path(finder: StackFinder, path: number[], upward: boolean): KeptPath | null {
		const { view: { base } } = this, end = follow(base, path), nodeOf = (node: number) => this.view.shaped?.nodeOf(node) ?? node;
		if (!path.length || (!upward && !exists(base, path)))
			return null;
		const isIt = upward ? (node: number) => this.above(nodeOf(node), path) > 0 : (node: number) => nodeOf(node) === end;
		const stack = finder.stackThrough(isIt);
		if (!stack || !upward)
			return stack && { stack, upward, from: 0 };
		const last = this.above(nodeOf(stack.nodes[stack.at]), path);
		return { stack, upward, from: stack.nodes.findIndex(node => nodeOf(node) === last) };
	}

	/** The last node of an upward path that begins at a node; -1: the path does not begin there. */
	private above(node: number, path: number[]): number {
		const { base, centre } = this.view, labels = centre < 0 ? path : [base.label[node], ...path];
		let at = node, last = -1;
		if (node < 1 || (centre < 0 ? !base.self.some(self => self[node]) : !this.view.isCentre(base.label[node])))
			return -1;
		for (const label of labels) {
			if (at < 1 || base.label[at] !== label)
				return -1;
			last = at;
			at = base.parent[at];
		}
		return last;
	}

	private pathOf(finder: StackFinder, { stack, upward, from }: KeptPath): number[] {
		const frames = finder.labelsOf(stack), shaped = (labels: number[][]) => this.view.shaped?.pathOf(labels.flat()) ?? labels.flat();
		if (!upward)
			return shaped([...frames.slice(0, stack.at), frames[stack.at].slice(0, 1)]);
		return shaped(frames.slice(0, stack.at + 1)).slice(shaped(frames.slice(0, from)).length).reverse();
	}
}
