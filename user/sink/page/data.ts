// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads the profile in the page (user/sink/format/page_data.h) into typed arrays.

import type { Functions } from './code_data';
import type { Engine } from './engines';
import { PROCESS } from './kinds';
import type { Lives } from './lives';
import type { Live } from './live_labels';
import { noSlices, type Slices } from './slices';
import { Tree, type LabelOrder } from './tree';

export interface Samples { taken: number; resolved: number; code_unknown: number; stack_cut: number; lost: number;
	cut: Record<string, number>; frame_pointers: number; runtime_functions: number; runtime_cut: number; runtime_unknown: number;
	cut_unpublished: number }

/** functions: whether they are shown, a key of Words.runtimes; missing: nothing is known of that. */
export interface Runtime { name: string; version?: string; functions?: string }

/** processes: the number of processes that share the entry, which has no pid then. */
export interface Process { pid: number; pid_inside?: number; processes?: number; comm: string; runtimes?: Runtime[]; container?: string; unit?: string; cgroup?: string;
	samples: Samples; jit: Record<string, number> }

/** A run and its ledger, in the format of `report --json`. */
export interface Run {
	run: { command: string; event: string; freq_hz: number; unit?: string; period?: number; cpus: number; host: string; kernel: string;
		start_ns: number; wall_clock_ns: number; duration_ns: number };
	samples: Samples;
	jit: Record<string, number>;
	throttled: { intervals: number; ns: number };
	total_unknown?: number;         // not of a live profile
	malformed_records: number;
	counters: Record<string, number>;
	unnamed?: { file: string; samples: number; package?: string; next: string }[];  // of a live profile: while its ledger is open
	processes: Process[];
}

/** JIT code by time (user/profile/code_lane.h): bins in which code was loaded or has ended. */
export interface CodeLane {
	ticks: number;                  // length of a bin
	engines: string[];
	rows: number;
	bin: Uint32Array;
	loads: Uint32Array;
	unloads: Uint32Array;
	live: Float64Array;             // bytes after each bin, by engine
}

/** Texts of the ledger's keys (user/sink/ledger_terms.h); about: what they mean, and what to do. */
type WordTables = Record<'fates' | 'cuts' | 'counters' | 'jit' | 'singles' | 'runtimes', Record<string, string>>;
/** symbols: the advice for a file without names of functions whose package is not known. */
export type Words = WordTables & { about: WordTables; engines: Engine[]; symbols: string };

/** What functions have as TOTAL in samples whose callers the tree lacks. */
export interface Hidden { rows: number; label: Uint32Array; side: Uint32Array; samples: Float64Array }

/** Samples of nodes, by thread or, in a difference, by side. */
export interface Counts { rows: number; node: ArrayLike<number>; group: Uint32Array; samples: Float64Array }

/** Columns may be longer than the number of their rows. */
export interface Profile {
	runs: Run[];                    // two: a difference
	words: Words;
	strings: string[];
	exact: boolean;                 // graphs begin with names in full
	/**
	 * function: the first label of the function; plain: its name, a string. They are equal for all code of a function.
	 * tier: number in TIERS.
	 */
	labels: { rows: number; name: Uint32Array; module: Uint32Array; kind: Uint32Array; tier: Uint32Array; function: Uint32Array;
		plain: Uint32Array;
		file?: Uint32Array };   // of the function: the source file that tells it apart, a string
	sources: { file: Uint32Array; line: Uint32Array };
	threads: { rows: number; pid: Uint32Array; tid: Uint32Array; comm: Uint32Array;
		container: Uint32Array };
	tree: Tree;                     // of all frames and threads; its samples are those that are shown
	counts: Counts;
	hidden: Hidden | null;
	slices: Slices;                 // of counts
	order: LabelOrder;
	code: CodeLane;
	lives: Lives | null;            // of JIT code; null: only pages of recordings have them
	functions: Functions | null;    // with their code; null: the page has none
	event: string;                  // whose samples these are; "" if the run has one event only
	events: string[];               // of the run; empty if it has one only
}

type Table = { rows: number } & Record<string, string>;

/** Decode a column: LEB128 in base64. */
function column<T extends Uint32Array | Float64Array>(table: Table, key: string, into: T): T {
	const bytes = atob(table[key]);
	for (let at = 0, row = 0; row < into.length; row++) {
		let byte = bytes.charCodeAt(at++), value = byte & 0x7f;
		for (let scale = 0x80; byte & 0x80; scale *= 0x80) {
			byte = bytes.charCodeAt(at++);
			value += (byte & 0x7f) * scale;
		}
		into[row] = value;
	}
	return into;
}

const integers = (table: Table, key: string) => column(table, key, new Uint32Array(table.rows));

/** Depth of nodes: one level below the previous node, minus the levels up. */
function depths(up: Uint32Array): Uint32Array {
	for (let i = 1; i < up.length; i++)
		up[i] = up[i - 1] + 1 - up[i];
	return up;
}

function sums(steps: Uint32Array): Uint32Array {
	for (let i = 1; i < steps.length; i++)
		steps[i] += steps[i - 1];
	return steps;
}

/** The data in the page: those of a profile, or of a page that reads deltas. */
export function readData(text: string): { profile: Profile; others: Profile[]; live?: undefined } | { live: Live; words: Words } {
	const data = JSON.parse(text);
	if (data.live)
		return data;
	const profile = readProfile(data), others: Profile[] = (data.others ?? []).map((other: any) => ({ ...profile, ...readSamples(other, profile.order), event: other.event, functions: null }));
	for (const one of [profile, ...others])
		one.events = data.events ?? [];
	return { profile, others };
}

/** A profile without samples. */
export function noProfile(words: Words): Profile {
	const none = () => new Uint32Array(0), one = () => new Uint32Array(1), order = () => 0;
	return {
		runs: [], words, exact: false, strings: ['all'], order, tree: new Tree(1, order),
		labels: { rows: 1, name: one(), module: one(), kind: Uint32Array.of(PROCESS), tier: one(), function: one(), plain: one() },
		sources: { file: one(), line: one() },
		threads: { rows: 0, pid: none(), tid: none(), comm: none(), container: none() },
		counts: { rows: 0, node: none(), group: none(), samples: new Float64Array(0) },
		hidden: null,
		slices: noSlices(),
		code: { ticks: 1, engines: [], rows: 0, bin: none(), loads: none(), unloads: none(), live: new Float64Array(0) },
		lives: null,
		functions: null,
		event: '', events: [],
	};
}

function readSlices({ ticks, slices, several, levels }: Record<string, Table>): Slices {
	const steps = sums(integers(ticks, 'step')), sizes = integers(ticks, 'slices');
	const count = integers(slices, 'step'), tick = new Uint32Array(slices.rows), samples = new Uint32Array(slices.rows).fill(1);
	for (let row = 0, at = 0; row < ticks.rows; row++)
		for (let left = sizes[row], last = 0; left > 0; left--, at++) {
			tick[at] = steps[row];
			last = count[at] += last;
		}
	const more = integers(several, 'more');
	sums(integers(several, 'step')).forEach((at, i) => { samples[at] += more[i]; });
	return { tickNs: Number(ticks.ns), rows: slices.rows, tick, count, samples, ends: [...integers(levels, 'end')], version: 0 };
}

function readCode({ code, code_live: live }: Record<string, Table>): CodeLane {
	return {
		ticks: Number(code.ticks ?? 1), engines: (code.engines as unknown as string[] | undefined) ?? [], rows: code.rows,
		bin: sums(integers(code, 'step')), loads: integers(code, 'loads'), unloads: integers(code, 'unloads'),
		live: column(live, 'bytes', new Float64Array(live.rows)),
	};
}

/** strings: what its names refer to. */
export function readLives(lives: Table | undefined, strings: string[]): Lives | null {
	if (!lives)
		return null;
	const whole = (key: string) => integers(lives, key), large = (key: string) => column(lives, key, new Float64Array(lives.rows));
	return {
		rows: lives.rows, strings, name: whole('name'), module: whole('module'), comm: whole('comm'), pid: whole('pid'), address: large('address'),
		bytes: large('bytes'), loaded: large('loaded'), ended: large('ended'), samples: large('samples'),
		number: lives.number === undefined ? null : whole('number'),
		leftOut: { lives: Number(lives.left_lives), bytes: Number(lives.left_bytes) },
		forgotten: { lives: Number(lives.forgotten_lives), bytes: Number(lives.forgotten_bytes) },
	};
}

/** The samples of an event. */
function readSamples(data: any, order: LabelOrder): Pick<Profile, 'runs' | 'threads' | 'tree' | 'counts' | 'hidden' | 'slices'> {
	const { runs, threads, nodes, counts, hidden } = data;
	return {
		runs,
		threads: { rows: threads.rows, pid: integers(threads, 'pid'), tid: integers(threads, 'tid'),
			comm: integers(threads, 'comm'), container: integers(threads, 'container') },
		tree: nodes.rows ? Tree.ofPreorder(integers(nodes, 'label'), integers(nodes, 'source'), depths(integers(nodes, 'up')),
			Math.max(1, runs.length), order) : new Tree(Math.max(1, runs.length), order),
		counts: { rows: counts.rows, node: sums(integers(counts, 'step')), group: integers(counts, 'group'),
			samples: column(counts, 'samples', new Float64Array(counts.rows)) },
		hidden: hidden ? { rows: hidden.rows, label: integers(hidden, 'label'), side: integers(hidden, 'side'),
			samples: column(hidden, 'samples', new Float64Array(hidden.rows)) } : null,
		slices: readSlices(data),
	};
}

function readProfile(data: any): Profile {
	const { words, strings, labels, sources } = data, name = integers(labels, 'name');
	const order: LabelOrder = (a, b) => strings[name[a]] < strings[name[b]] ? -1 : strings[name[a]] > strings[name[b]] ? 1 : a - b;
	return {
		...readSamples(data, order),
		words,
		exact: Boolean(data.exact),
		strings,
		labels: { rows: labels.rows, name, module: integers(labels, 'module'), kind: integers(labels, 'kind'),
			tier: integers(labels, 'tier'),
			function: integers(labels, 'twin').map((distance, label) => label - distance),
			plain: integers(labels, 'plain').map((plain, label) => plain || name[label]),
			file: integers(labels, 'file') },
		sources: { file: integers(sources, 'file'), line: integers(sources, 'line') },
		order,
		code: readCode(data),
		lives: readLives(data.lives, strings),
		functions: data.functions ?? null,
		event: data.event ?? '', events: [],
	};
}
