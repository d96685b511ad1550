// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tree of frames of a live profile, made from its tree of locations, as user/sink/frame_tree.h does for a file. An
// update takes the nodes, samples and names of locations that are new since the last one.

import { integers, naturals, numbers, withRoom } from './columns';
import type { Counts, Process, Run, Words } from './data';
import type { EventSamples } from './delta_samples';
import { runtimesFrom } from './engines';
import type { KeptStack, KeptStep, StackFinder } from './kept_frames';
import { JIT, KERNEL } from './kinds';
import type { LiveLabels, Texts } from './live_labels';
import { Spots } from './spots';
import { Tree, pathTo } from './tree';

/** Sets members by their paths, such as "samples.cut.depth". */
function named(names: string[], values: number[]): Record<string, any> {
	const root: Record<string, any> = {};
	names.forEach((name, i) => {
		const path = name.split('.'), last = path.pop()!;
		let at = root;
		for (const key of path)
			at = at[key] ??= {};
		if (last)
			at[last] = values[i];
	});
	const { samples } = root;
	samples.taken = samples.resolved + samples.code_unknown + samples.stack_cut + samples.lost;
	return root;
}

/** The cgroup of a process, as in `report --json`. */
function cgroupOf(container: string, unit: string): Partial<Process> {
	return { ...(container ? { container } : {}), ...(!unit ? {} : unit[0] === '/' ? { cgroup: unit } : { unit }) };
}

function processesOf(from: EventSamples, row: string[], { engines, runtimes: statuses }: Words): Process[] {
	return from.rows.map(({ pid, inner, comm, container, unit, fields }): Process => {
		const { processes, runtimes: numbers, ...counts } = named(row, fields);
		const runtimes = runtimesFrom(engines, Object.keys(statuses), Object.values(numbers));
		return { pid, ...(inner ? { pid_inside: inner } : {}), ...(processes ? { processes } : {}),
			comm: from.strings[comm] || '[unknown]', ...(runtimes.length ? { runtimes } : {}), ...cgroupOf(from.strings[container], from.strings[unit]), ...counts } as Process;
	})
		.filter(p => p.samples.taken || Object.values(p.jit).some(n => n))
		.sort((a, b) => b.samples.taken - a.samples.taken || a.pid - b.pid);
}

/** The run and its ledger. The list of processes is made when it is read. */
export function runOf(from: EventSamples, { row, totals }: { row: string[]; totals: string[] }, words: Words): Run {
	let processes: Process[] | null = null;
	return { run: { ...from.run }, ...named(totals, from.totals), get processes() {
		return processes ??= processesOf(from, row, words);
	} } as Run;
}

/** Samples that are added to counts: by node of the tree, and thread. */
export class CountChanges implements Counts {
	private readonly columns = [integers(), naturals(), numbers()] as const;

	push(node: number, group: number, samples: number): void {
		this.columns[0].push(node);
		this.columns[1].push(group);
		this.columns[2].push(samples);
	}

	get rows(): number { return this.columns[0].size; }
	get node(): Int32Array { return this.columns[0].data; }
	get group(): Uint32Array { return this.columns[1].data; }
	get samples(): Float64Array { return this.columns[2].data; }
}

export class LiveTree implements StackFinder {
	readonly tree: Tree;
	readonly spots: Spots;
	private readonly texts: (Texts | undefined)[] = [];             // by location
	private readonly place = integers();    // of each spot: node of its innermost frame
	private readonly total = numbers();     // samples of each spot
	private gain = new Float64Array(64);    // 0 between updates
	private heaviest = new Int32Array(64);  // by node: spot that its source line comes from, plus 1
	private readonly shown = numbers();     // by count: samples that were added to the tree
	private readonly countSpot = naturals();        // by count
	private readonly groups: (number | undefined)[] = [];   // by thread
	private readonly countNode = integers();        // by count: node of the tree
	private readonly byKey = new Map<string, number>();     // locations, while stacks of other epochs are looked up
	private keyed = 0;                      // their number

	constructor(private readonly labels: LiveLabels, private readonly from: EventSamples) {
		this.tree = new Tree(1, labels.order);
		this.spots = new Spots(labels.groups, from.parent);
	}

	/** All samples by node and thread, to be counted anew for other threads. Valid until the next update. */
	get counts(): Counts {
		const { from } = this;
		return { rows: this.shown.size, node: this.countNode.data, group: from.thread.data, samples: this.shown.data };
	}

	/** A location in a function itself, not in one that it is inlined into; -1: none. */
	locationOf(label: number): number {
		return this.texts.findIndex(texts => texts?.labels[texts.labels.length - 1] === label);
	}

	/** Take new nodes, samples and names. Returns the changed samples, which the caller adds to the tree. */
	update(): CountChanges {
		const changes = new CountChanges(), { from } = this;
		this.rename(changes);
		this.placeNodes();
		for (const count of from.takeRecounted())
			if (count < this.shown.size)
				this.take(count, changes);
		const { node } = from;
		while (this.shown.size < node.size && this.hasRow(node.data[this.shown.size])) {
			const count = this.shown.size, spot = this.spotOf(count);
			this.shown.push(0);
			this.countSpot.push(spot);
			this.countNode.push(this.place.data[spot]);
			this.take(count, changes);
		}
		this.addGains();
		return changes;
	}

	/**
	 * Returns false if a node cannot be placed yet. A root may come before its row: without groups, such a root and the
	 * nodes after it wait.
	 */
	private hasRow(node: number): boolean {
		return this.labels.groups || node < this.place.size;
	}

	private placeNodes(): void {
		const { from, place } = this, { parent, location } = from;
		if (this.labels.groups)
			return;
		this.tree.reserve(this.tree.count + parent.size - place.size);
		while (place.size < parent.size) {
			const node = place.size;
			if (parent.data[node] < 0 && location.data[node] >= from.rows.length)
				return;
			this.spots.add(node, 0);
			this.placeSpots();
		}
	}

	/** The spot of a count: that of its node and of the group of its thread. */
	private spotOf(count: number): number {
		const { from, groups } = this, thread = from.thread.data[count];
		const group = groups[thread] ??= this.labels.groupOf(from, thread), spot = this.spots.of(from.node.data[count], group);
		this.placeSpots();
		return spot;
	}

	/** Place spots that are new. */
	private placeSpots(): void {
		const { place, spots, total } = this;
		while (place.size < spots.size) {
			place.push(this.placeOf(place.size));
			total.push(0);
		}
		this.gain = withRoom(this.gain, spots.size);
	}

	private placeOf(spot: number): number {
		const { from, labels, spots, tree } = this, node = spots.node.data[spot], up = spots.up.data[spot], location = from.location.data[node];
		if (up < 0)
			return labels.rootLabels(from, node, spots.group.data[spot]).reduce((at, label) => tree.child(at, label), 0);
		let at = this.place.data[up];
		if (this.isHidden(location)) {
			// JIT code that ran for a function of a runtime is in no stack, but the code pane shows it.
			if (labels.live.places[from.places[location]]?.kind === JIT)
				this.textsAt(location);
			return at;
		}
		const texts = this.textsAt(location).labels;
		for (let i = texts.length - 1; i >= 0; i--)
			at = tree.child(at, texts[i]);
		return at;
	}

	private textsAt(location: number): Texts {
		return this.texts[location] ??= this.labels.textsOf(this.from, location);
	}

	private isHidden(location: number): boolean {
		const { kernel, interpreter, places } = this.labels.live;
		if (this.from.isInterpreter(location))
			return !interpreter;
		return !kernel && places[this.from.places[location]]?.kind === KERNEL;
	}

	/** The location of a spot that is no root. */
	private locationAtSpot(spot: number): number {
		return this.from.location.data[this.spots.node.data[spot]];
	}

	private take(count: number, changes: CountChanges): void {
		const { from, shown } = this, more = from.samples.data[count] - shown.data[count];
		if (!more)
			return;
		shown.data[count] += more;
		changes.push(this.countNode.data[count], from.thread.data[count], more);
		this.gain[this.countSpot.data[count]] += more;
	}

	/** Add the new samples of each spot to its callers, and update the source lines with most samples. */
	private addGains(): void {
		const { gain, spots: { up }, total } = this;
		this.heaviest = withRoom(this.heaviest, this.tree.count);
		for (let i = this.place.size - 1; i >= 0; i--)
			if (gain[i]) {
				total.data[i] += gain[i];
				if (up.data[i] >= 0)
					gain[up.data[i]] += gain[i];
				gain[i] = 0;
				this.weighSource(i);
			}
	}

	/**
	 * Update the source line of a spot's nodes: that of the location with most samples or, of equal ones, of the first.
	 */
	private weighSource(spot: number, only: Uint8Array | null = null): void {
		const { heaviest, spots, tree, total: { data: total } } = this, location = this.locationAtSpot(spot);
		if (spots.up.data[spot] < 0 || this.isHidden(location))
			return;
		const { sources } = this.texts[location]!;
		let at = this.place.data[spot];
		for (let i = 0; i < sources.length; i++, at = tree.parent[at]) {
			const best = heaviest[at] - 1;
			if (only && !only[at])
				continue;
			if (best < 0 || total[spot] > total[best] || (total[spot] === total[best] && spot < best)) {
				heaviest[at] = spot + 1;
				tree.source[at] = sources[i];
			}
		}
	}

	/** Apply new names of locations: the nodes of their spots, and of the spots below, change. */
	private rename(changes: CountChanges): void {
		const { from, texts, place, countNode, countSpot, shown } = this, renamed = new Set<number>(), before = new Map<number, Texts>();
		for (const location of from.takeRenamed()) {
			const old = texts[location];
			if (!old)
				continue;
			const now = texts[location] = this.labels.textsOf(from, location);
			if (String(now.labels) !== String(old.labels) || String(now.sources) !== String(old.sources)) {
				renamed.add(location);
				before.set(location, old);
			}
		}
		if (!renamed.size)
			return;
		const stale = this.move(renamed, before);
		for (let i = 0; i < countNode.size; i++) {
			const now = place.data[countSpot.data[i]];
			if (now === countNode.data[i])
				continue;
			changes.push(countNode.data[i], from.thread.data[i], -shown.data[i]);
			changes.push(now, from.thread.data[i], shown.data[i]);
			countNode.data[i] = now;
		}
		for (let i = 0; i < place.size; i++)
			if (this.total.data[i])
				this.weighSource(i, stale);
	}

	/** The number of frames of a spot. A root has the frames of process, container or thread. */
	private framesOf(spot: number): number {
		const location = this.locationAtSpot(spot);
		return this.spots.up.data[spot] < 0 ? this.labels.rootFrames : this.isHidden(location) ? 0 : this.texts[location]!.labels.length;
	}

	/** The outermost node among a spot's frames for which is() returns true; -1: none. */
	private frameAt(spot: number, is: (node: number) => boolean): number {
		let at = this.place.data[spot], found = -1;
		for (let frames = this.framesOf(spot); frames > 0; frames--, at = this.tree.parent[at])
			if (is(at))
				found = at;
		return found;
	}

	/**
	 * The stack with most samples through a node for which is() returns true: the caller whose callees have most
	 * samples, then its heaviest callee.
	 */
	stackThrough(is: (node: number) => boolean): KeptStack | null {
		const { place, total: { data: total }, spots: { up } } = this, callees = new Map<number, { samples: number; heaviest: number }>();
		for (let i = 0; i < place.size; i++) {
			if (!total[i] || this.frameAt(i, is) < 0)
				continue;
			const group = callees.get(up.data[i]) ?? { samples: 0, heaviest: i };
			group.samples += total[i];
			if (total[i] > total[group.heaviest])
				group.heaviest = i;
			callees.set(up.data[i], group);
		}
		const [most] = [...callees.values()].sort((a, b) => b.samples - a.samples);
		return most ? this.stackOf(most.heaviest, is) : null;
	}

	private stackOf(spot: number, is: (node: number) => boolean): KeptStack {
		const { from, tree, place, texts, spots: { up } } = this, steps: KeptStep[] = [], nodes: number[] = [];
		for (let at = spot; at >= 0; at = up.data[at]) {
			const location = this.locationAtSpot(at);
			if (up.data[at] < 0)
				steps.unshift({ location: -1, key: '', labels: pathTo(tree, place.data[at]) });
			else if (!this.isHidden(location))
				steps.unshift({ location, key: from.keyOf(location), labels: texts[location]!.labels.slice().reverse() });
		}
		for (let at = place.data[spot]; at > 0; at = tree.parent[at])
			nodes.unshift(at);
		return { epoch: from.epoch, steps, nodes, at: nodes.indexOf(this.frameAt(spot, is)) };
	}

	/**
	 * The present labels of a stack, for each frame that it had. New inlined frames count to the innermost frame of
	 * their location.
	 */
	labelsOf({ epoch, steps }: KeptStack): number[][] {
		return steps.flatMap(({ location, key, labels }) => {
			const known = epoch === this.from.epoch ? location : this.locationAt(key);
			const now = this.texts[known]?.labels.slice().reverse() ?? labels;
			return labels.map((_, i) => now.slice(i, i < labels.length - 1 ? i + 1 : now.length));
		});
	}

	/** The location with a key; -1: none yet. */
	private locationAt(key: string): number {
		const { byKey, from } = this;
		for (; this.keyed < from.places.length; this.keyed++)
			byKey.set(from.keyOf(this.keyed), this.keyed);
		return byKey.get(key) ?? -1;
	}

	/** Add the frames of a location, whose innermost one is at a node. */
	private addChain(nodes: number[], node: number, frames: number): void {
		for (let at = node; frames > 0; frames--, at = this.tree.parent[at])
			nodes.push(at);
	}

	/** Place the spots of renamed locations anew. Returns marks by node: its source line must be found again. */
	private move(renamed: Set<number>, before: Map<number, Texts>): Uint8Array {
		const { place, tree, spots: { up } } = this, moved = new Uint8Array(place.size);
		const stale: number[] = [];
		for (let i = 0; i < place.size; i++) {
			const location = this.locationAtSpot(i);
			if (up.data[i] < 0 || !(moved[up.data[i]] || renamed.has(location)))
				continue;
			moved[i] = 1;
			const frames = this.isHidden(location) ? 0 : (before.get(location) ?? this.texts[location]!).labels.length;
			this.addChain(stale, place.data[i], frames);
			place.data[i] = this.placeOf(i);
			this.addChain(stale, place.data[i], this.framesOf(i));
		}
		const marks = new Uint8Array(tree.count);
		this.heaviest = withRoom(this.heaviest, tree.count);
		for (const node of stale) {
			marks[node] = 1;
			this.heaviest[node] = 0;
			tree.source[node] = 0;
		}
		return marks;
	}
}
