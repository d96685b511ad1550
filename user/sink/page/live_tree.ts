// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Makes the page's profile of a live one: the tree of frames instead of that of locations, as
// user/sink/frame_tree.h does for the file. Numbers of labels never change their meaning, so that a path of labels
// leads to the same frames in each version.

import { INLINED, PROCESS, type Process, type Profile, type Run, type Words } from './data';
import type { DeltaProfile, Frame } from './delta';

/** What deltas refer to by position (user/sink/format/live_page.h), and the view's options. */
export interface Live {
	inlined: boolean;
	kernel: boolean;
	pids: boolean;
	row: string[];
	totals: string[];
	places: { name: string; module: string; kind: number }[];
	kinds: number[];
}

const KERNEL_PLACES = [1, 2];           // LOCATION_KERNEL, LOCATION_KERNEL_CODE
const FLAG_INLINED = 1;
const KIND_NATIVE = 2;                  // enum frame_kind

/** Numbers of equal items. */
class Pool<T> {
	readonly items: T[] = [];
	private readonly numbers = new Map<string, number>();

	add(key: string, item: T): number {
		let number = this.numbers.get(key);
		if (number === undefined)
			this.numbers.set(key, number = this.items.push(item) - 1);
		return number;
	}
}

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

interface Texts { labels: number[]; sources: number[] }         // of a location's frames, innermost first

export class LiveTree {
	private readonly strings = new Pool<string>();
	private readonly labels = new Pool<[number, number, number]>();
	private readonly sources = new Pool<[number, number]>();
	private ranks = new Uint32Array(0);     // of labels, by name
	private texts: (Texts | undefined)[] = [];
	private of: DeltaProfile | null = null;

	constructor(private readonly live: Live, private readonly words: Words) {
		this.strings.add('', '');
		this.label('all', '', PROCESS);
		this.source('', 0);
	}

	private string(text: string): number {
		return this.strings.add(text, text);
	}

	private label(name: string, module: string, kind: number): number {
		const n = this.string(name), m = this.string(module);
		return this.labels.add(`${n} ${m} ${kind}`, [n, m, kind]);
	}

	private source(file: string, line: number): number {
		const n = this.string(file);
		return this.sources.add(`${n} ${file ? line : 0}`, [n, file ? line : 0]);
	}

	private frame(from: DeltaProfile, place: number, frame: Frame): [number, number] {
		const { live } = this, unknown = live.places[place] ?? live.places[0];
		const module = from.strings[frame.module], file = module.split('/').pop() || module;
		const stand = frame.kind === KIND_NATIVE && file ? file[0] === '[' ? file : `[${file}]` : '';
		const kind = (live.kinds[frame.kind] ?? 0) | (frame.flags & FLAG_INLINED ? INLINED : 0);
		return [this.label(from.strings[frame.name] || stand || unknown.name, module || unknown.module, kind),
			this.source(from.strings[frame.file], frame.line)];
	}

	private textsOf(from: DeltaProfile, location: number): Texts {
		const known = this.texts[location];
		if (known)
			return known;
		const frames = from.frames[location], place = from.places[location];
		const shown = frames && !this.live.inlined ? frames.slice(-1) : frames;
		const { name, module, kind } = this.live.places[place] ?? this.live.places[0];
		const pairs = shown ? shown.map(frame => this.frame(from, place, frame)) : [[this.label(name, module, kind), 0]];
		return this.texts[location] = { labels: pairs.map(p => p[0]), sources: pairs.map(p => p[1]) };
	}

	private rank(): void {
		const { items } = this.labels;
		if (this.ranks.length === items.length)
			return;
		const order = items.map((_, i) => i), names = items.map(([n]) => this.strings.items[n]);
		order.sort((a, b) => names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : a - b);
		this.ranks = new Uint32Array(items.length);
		order.forEach((label, rank) => { this.ranks[label] = rank; });
	}

	private run(from: DeltaProfile): Run {
		const { row, totals } = this.live, comm = (n: number) => from.strings[n] || '[unknown]';
		const processes = from.rows.map(({ pid, inner, comm: c, fields }): Process =>
			({ pid, ...(inner ? { pid_inside: inner } : {}), comm: comm(c), ...named(row, fields) }) as Process)
			.filter(p => p.samples.taken || Object.values(p.jit).some(n => n))
			.sort((a, b) => b.samples.taken - a.samples.taken || a.pid - b.pid);
		return { run: from.run, ...named(totals, from.totals), processes } as Run;
	}

	/** The current version of the page's profile. */
	profile(from: DeltaProfile): Profile {
		if (from !== this.of)
			this.texts = [];
		this.of = from;
		for (const location of from.changed.splice(0))
			this.texts[location] = undefined;
		const built = new Build(this.live, from, location => this.textsOf(from, location), label => this.label(label, '', PROCESS));
		this.rank();
		const { nodes, places } = built.inOrder(this.ranks);
		const column = <T>(items: T[], of: (item: T) => number) => Uint32Array.from(items, of);
		const labels = this.labels.items, { threads } = from;
		return {
			runs: [this.run(from)], words: this.words, nodes,
			labels: { rows: labels.length, name: column(labels, l => l[0]), module: column(labels, l => l[1]),
				kind: column(labels, l => l[2]) },
			sources: { file: column(this.sources.items, s => s[0]), line: column(this.sources.items, s => s[1]) },
			threads: { rows: threads.length, pid: column(threads, t => t.pid), tid: column(threads, t => t.tid),
				comm: column(threads, t => this.string(from.strings[t.comm] || '[unknown]')) },
			counts: { rows: from.node.length, node: column(from.node, n => places[n]), group: Uint32Array.from(from.thread),
				samples: Float64Array.from(from.samples) },
			strings: this.strings.items,
			slices: from.slices.list,
		};
	}
}

/** The tree of frames of one version. */
class Build {
	private readonly label = [0];
	private readonly parent = [-1];
	private readonly source = [0];
	private readonly heaviest = [0];        // samples of the location that the source is of
	private readonly index = new Map<number, number>();
	private readonly place: Int32Array;     // of nodes of the profile

	constructor(private readonly live: Live, private readonly from: DeltaProfile,
		private readonly textsOf: (location: number) => Texts, private readonly process: (name: string) => number) {
		const count = from.parent.length, total = new Float64Array(count);
		this.place = new Int32Array(count);
		from.node.forEach((node, i) => { total[node] += from.samples[i]; });
		for (let i = count - 1; i >= 0; i--)
			if (from.parent[i] >= 0)
				total[from.parent[i]] += total[i];
		for (let i = 0; i < count; i++)
			if (total[i])
				this.place[i] = this.placeOf(i, total[i]);
	}

	private child(parent: number, label: number): number {
		const key = parent * 2 ** 26 + label;
		let node = this.index.get(key);
		if (node === undefined) {
			this.index.set(key, node = this.label.push(label) - 1);
			this.parent.push(parent);
			this.source.push(0);
			this.heaviest.push(0);
		}
		return node;
	}

	private placeOf(node: number, samples: number): number {
		const { from, live } = this, parent = from.parent[node], location = from.location[node];
		if (parent < 0) {
			const name = from.strings[from.comm[node]] || '[unknown]', row = from.rows[location];
			return this.child(0, this.process(live.pids && row ? `${name}-${row.pid}` : name));
		}
		let at = this.place[parent];
		if (!live.kernel && KERNEL_PLACES.includes(from.places[location]))
			return at;
		const { labels, sources } = this.textsOf(location);
		for (let i = labels.length - 1; i >= 0; i--) {
			at = this.child(at, labels[i]);
			if (samples > this.heaviest[at]) {
				this.heaviest[at] = samples;
				this.source[at] = sources[i];
			}
		}
		return at;
	}

	/** The nodes in preorder, siblings in the order of their names; and the place of each node of the profile. */
	inOrder(ranks: Uint32Array): { nodes: Profile['nodes']; places: Int32Array } {
		const count = this.label.length, children: number[][] = [], position = new Int32Array(count);
		const depth = new Uint32Array(count), label = new Uint32Array(count), source = new Uint32Array(count);
		const depths = new Uint32Array(count);
		for (let i = 1; i < count; i++) {
			(children[this.parent[i]] ??= []).push(i);
			depths[i] = depths[this.parent[i]] + 1;
		}
		const waiting = [0];
		for (let next = 0; waiting.length; next++) {
			const node = waiting.pop()!;
			position[node] = next;
			depth[next] = depths[node];
			label[next] = this.label[node];
			source[next] = this.source[node];
			for (const child of (children[node] ?? []).sort((a, b) => ranks[this.label[b]] - ranks[this.label[a]]))
				waiting.push(child);
		}
		return { nodes: { rows: count, depth, label, source }, places: this.place.map(node => position[node]) };
	}
}
