// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Texts of a live profile. Numbers of labels, sources and strings keep their meaning, even when the page connects
// again. So a path of labels leads to the same frames in each version.

import { naturals, type Column } from './columns';
import type { Profile } from './data';
import type { EventSamples, Frame } from './delta_samples';
import { INLINED, KIND_ROWS, NATIVE, PROCESS, TIERS, functionKind } from './kinds';
import type { LabelOrder } from './tree';

/** What deltas refer to by position (user/sink/format/live_page.h), and the view's options. */
export interface Live {
	inlined: boolean;
	merge: 'graphs' | 'tables' | 'all' | 'none';    // enum view_merge
	kernel: boolean;
	interpreter: boolean;
	by: 'comm' | 'pid' | 'tid' | 'container';
	event: string;          // name of the event that is shown first
	row: string[];
	totals: string[];
	places: { name: string; module: string; kind: number }[];
	kinds: number[];
}

/** Labels and source lines of a location's frames, innermost first. */
export interface Texts { labels: number[]; sources: number[] }

const FLAG_INLINED = 1;
const TIER_SHIFT = 4;           // DELTA_TIER_SHIFT
const TIER_INLINED = TIERS.indexOf('inlined');

/** The words of user/sink/cgroup_text.h for a container, or else a unit or path. */
export function cgroupText(name: string | undefined): string {
	return name === '/' ? 'host' : name || '[unknown cgroup]';
}

type Columns = Column<Uint32Array>[];

/** Returns the number of a row; equal rows have one number. */
function intern(numbers: Map<string, number>, columns: Columns, ...row: number[]): number {
	const key = row.join(' ');
	let number = numbers.get(key);
	if (number === undefined) {
		numbers.set(key, number = columns[0].size);
		columns.forEach((column, i) => column.push(row[i]));
	}
	return number;
}

export class LiveLabels {
	readonly strings: string[] = [];
	private readonly stringNumbers = new Map<string, number>();
	private readonly labelColumns: Columns = [naturals(), naturals(), naturals(), naturals(), naturals(), naturals(), naturals()];
	private readonly functions = new Map<string, number>();         // first labels
	private readonly labelNumbers = new Map<string, number>();
	private readonly sourceColumns: Columns = [naturals(), naturals()];
	private readonly sourceNumbers = new Map<string, number>();

	constructor(readonly live: Live) {}

	string(text: string): number {
		let number = this.stringNumbers.get(text);
		if (number === undefined)
			this.stringNumbers.set(text, number = this.strings.push(text) - 1);
		return number;
	}

	/** The number of a label. plain, file: name of its function, and the source file that tells this one apart. */
	label(name: string, module: string, kind: number, tier = 0, plain = name, file = ''): number {
		const row = [this.string(name), this.string(module), kind, tier];
		const counted = this.live.merge === 'none' ? kind : functionKind(kind);
		const key = [this.string(plain), row[1], counted, this.string(file)].join(' ');
		let first = this.functions.get(key);
		if (first === undefined)
			this.functions.set(key, first = this.labelColumns[0].size);
		return intern(this.labelNumbers, this.labelColumns, ...row, first, this.string(plain), this.string(file));
	}

	source(file: string, line: number): number {
		return intern(this.sourceNumbers, this.sourceColumns, this.string(file), file ? line : 0);
	}

	get labels(): Profile['labels'] {
		const [name, module, kind, tier, first, plain, file] = this.labelColumns;
		return { rows: name.size, name: name.data, module: module.data, kind: kind.data, tier: tier.data, function: first.data, plain: plain.data, file: file.data };
	}

	get sources(): Profile['sources'] {
		const [file, line] = this.sourceColumns;
		return { file: file.data, line: line.data };
	}

	/** By name, and then by number. */
	readonly order: LabelOrder = (a, b) => {
		const { data } = this.labelColumns[0], first = this.strings[data[a]], second = this.strings[data[b]];
		return first < second ? -1 : first > second ? 1 : a - b;
	};

	private frame(from: EventSamples, place: number, frame: Frame): [number, number] {
		const { live } = this, unknown = live.places[place] ?? live.places[0];
		const module = from.strings[frame.module], file = module.split('/').pop() || module;
		const stand = frame.kind === NATIVE && file ? file[0] === '[' ? file : `[${file}]` : KIND_ROWS[live.kinds[frame.kind]]?.unknown ?? '';
		const kind = (live.kinds[frame.kind] ?? 0) | (frame.flags & FLAG_INLINED ? INLINED : 0);
		const whole = from.strings[frame.name] || stand || unknown.name, exact = live.merge === 'none';
		const plain = exact ? whole : from.strings[frame.plain] || whole, name = live.merge === 'all' ? plain : whole;
		const tier = frame.flags & FLAG_INLINED ? TIER_INLINED : frame.flags >> TIER_SHIFT;
		return [this.label(name, module || unknown.module, kind, tier, plain, exact ? '' : from.strings[frame.functionFile]),
			this.source(from.strings[frame.file], frame.line)];
	}

	textsOf(from: EventSamples, location: number): Texts {
		const frames = from.frames[location], place = from.places[location];
		const shown = frames && !this.live.inlined ? frames.slice(-1) : frames;
		const { name, module, kind } = this.live.places[place] ?? this.live.places[0];
		const pairs = shown ? shown.map(frame => this.frame(from, place, frame)) : [[this.label(name, module, kind), 0]];
		return { labels: pairs.map(p => p[0]), sources: pairs.map(p => p[1]) };
	}

	/** Whether samples of one process can be below several outermost frames (view_by_thread()). */
	get groups(): boolean {
		return this.live.by === 'tid' || this.live.by === 'container';
	}

	/** The number of frames of a root of the profile. */
	get rootFrames(): number {
		return this.live.by === 'container' ? 2 : 1;
	}

	/** The group of a thread: the label of its container, or its own. */
	groupOf(from: EventSamples, number: number): number {
		const { by } = this.live, { pid, tid, comm, container, unit } = from.threads[number];
		if (by === 'container')
			return this.label(cgroupText(from.strings[container || unit]), '', PROCESS);
		const name = from.strings[comm] || '[unknown]';
		return by === 'tid' ? this.label(pid ? `${name}-${pid}/${tid}` : name, '', PROCESS) : 0;
	}

	/** The labels of a root of the profile for a group, the outermost first. */
	rootLabels(from: EventSamples, node: number, group: number): number[] {
		const { by } = this.live, name = from.strings[from.comm.get(node)!] || '[unknown]';
		if (by === 'tid')
			return [group];
		const pid = by === 'pid' ? from.rows[from.location.data[node]].pid : 0, own = this.label(pid ? `${name}-${pid}` : name, '', PROCESS);
		return by === 'container' ? [group, own] : [own];
	}
}
