// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is shown, for files of samples by stack and thread (pprof, Firefox Profiler).

import { itemName } from './chips';
import type { Profile, Run } from './data';
import { INLINED, PROCESS, plainKind } from './kinds';
import { textOf, type Range } from './time_range';
import type { Tree } from './tree';
import type { View } from './view';
import type { ShownSamples } from './weigh';

export interface Shown {
	profile: Profile;
	run: Run;               // of two, the second
	tree: Tree;             // its samples are not used
	samples: ShownSamples;
	range: Range | null;    // of time
	filters: string[];      // in words: what restricts the samples or changes their stacks
}

function filtersOf({ state, profile, range }: View): string[] {
	const { threads, nokernel, collapse, hide, only } = state, filters: string[] = [];
	if (profile.runs.length > 1)
		filters.push('of the second recording of a difference');
	else if (threads)
		filters.push(threads[0] === '=' ? `of threads named ${threads.slice(1)}` : threads[0] === '@' ? `of ${threads.slice(1)}`
			: `of ${threads.includes('.') ? 'thread' : 'process'} ${threads}`);
	if (range)
		filters.push(`of the time ${textOf(range, profile.slices)} s`);
	if (nokernel)
		filters.push('without kernel frames');
	if (collapse)
		filters.push('recursion folded');
	return [...filters, ...hide.map(item => `without ${itemName(item)}`), ...only.map(item => `only stacks with ${itemName(item)}`)];
}

/** byTime: samples by tick, if there is a time line. */
export function shownOf(view: View, byTime: boolean): Shown {
	const { profile, range } = view;
	return { profile, run: profile.runs[profile.runs.length - 1], ...view.exactSamples(byTime), range, filters: filtersOf(view) };
}

/** The time of the samples, since the begin of the run. */
export function timeNs({ run: { run: { duration_ns } }, range, profile: { slices } }: Shown): Range {
	const [from, to] = range ? range.map(tick => tick * slices.tickNs) : [0, Infinity];
	return [from, to === Infinity ? Math.max(from, duration_ns) : to];
}

/** The frames of nodes that have samples at or below them, by node. Parents have lower numbers than their children. */
export class SavedFrames {
	readonly isFrame: Uint8Array;           // not a process, and it has samples
	readonly head: Int32Array;              // the frame that it is inlined into, or the node itself
	readonly above: Int32Array;             // the caller of the head
	readonly process: Uint32Array;          // label of the process; 0: none
	private readonly count: number;

	constructor({ profile: { labels }, tree, samples: { size, node } }: Shown) {
		const count = this.count = tree.count;
		this.isFrame = new Uint8Array(count);
		this.head = new Int32Array(count);
		this.above = new Int32Array(count);
		this.process = new Uint32Array(count);
		for (let i = 0; i < size; i++)
			this.isFrame[node[i]] = 1;
		for (let i = count - 1; i > 0; i--)
			this.isFrame[tree.parent[i]] |= this.isFrame[i];
		this.isFrame[0] = 0;
		for (let i = 1; i < count; i++) {
			const label = tree.label[i], up = tree.parent[i], kind = labels.kind[label];
			this.process[i] = kind === PROCESS ? label : this.process[up];
			if (kind === PROCESS)
				this.isFrame[i] = 0;
			// If the frame that it was inlined into is left out, its caller is of another kind, or stands for it.
			const joins = kind & INLINED && this.isFrame[up] && plainKind(kind) === plainKind(labels.kind[tree.label[up]]);
			this.head[i] = joins ? this.head[up] : i;
			this.above[i] = joins ? this.above[up] : up;
		}
	}

	each(visit: (node: number) => void): void {
		for (let i = 1; i < this.count; i++)
			if (this.isFrame[i])
				visit(i);
	}
}

export interface Cgroup { container?: string; unit?: string; cgroup?: string }

/** What the ledger's processes have that the threads lack: names of processes by pid, and parts of cgroups by their words. */
export class SavedProcesses {
	private readonly names = new Map<number, string>();
	private readonly cgroups = new Map<string, Cgroup>();

	constructor(private readonly profile: Profile, { processes }: Run) {
		for (const { pid, comm, container, unit, cgroup } of processes) {
			const words = container ?? unit ?? cgroup;
			if (pid && !this.names.has(pid))
				this.names.set(pid, comm);
			if (words && !this.cgroups.has(words))
				this.cgroups.set(words, { container, unit, cgroup });
		}
	}

	/** The name of the process of a thread (row of Profile.threads), whose stacks begin with a label. */
	nameOf(label: number, thread: number): string {
		const { threads, strings, labels } = this.profile, text = label ? strings[labels.name[label]] : '';
		if (thread < 0)
			return text;
		const pid = threads.pid[thread], byThread = `${strings[threads.comm[thread]]}-${pid}/${threads.tid[thread]}`;
		const name = this.names.get(pid) ?? '';
		if (!text || text === byThread)         // `--by tid`
			return name;
		return text !== name && text.endsWith(`-${pid}`) ? text.slice(0, -1 - String(pid).length) : text;       // `--by pid`
	}

	/** The words are those of user/sink/cgroup_text.h. */
	cgroupOf(thread: number): Cgroup {
		const words = this.profile.strings[this.profile.threads.container[thread]], known = this.cgroups.get(words);
		if (known || words === '[unknown cgroup]')
			return known ?? {};
		if (words === 'host' || words[0] === '/')
			return { cgroup: words === 'host' ? '/' : words };
		return /\.(service|scope|slice)$/.test(words) ? { unit: words } : { container: words };
	}
}

/** Texts of a file, each with a number; 0 is the empty one. */
export class SavedTexts {
	readonly texts = [''];
	private readonly numbers = new Map([['', 0]]);
	private readonly known: Int32Array;     // by string of the profile: number plus 1

	/** clean: makes the texts of the file. */
	constructor(private readonly strings: string[], private readonly clean: (text: string) => string) {
		this.known = new Int32Array(strings.length);
	}

	of(text: string): number {
		const cleaned = this.clean(text);
		let number = this.numbers.get(cleaned);
		if (number === undefined)
			this.numbers.set(cleaned, number = this.texts.push(cleaned) - 1);
		return number;
	}

	/** The same for a string of the profile. */
	ofString(string: number): number {
		return (this.known[string] ||= this.of(this.strings[string]) + 1) - 1;
	}
}
