// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is shown in the Firefox Profiler's processed format, with the same threads, tables and ledger as
// user/sink/format/firefox.c. The page has no addresses, so that symbols are missing, and no markers of JIT code.

import { firefoxTables, type FirefoxTables } from './firefox_tables';
import { KIND_ROWS, TIERS } from './kinds';
import { Rows } from './rows';
import { SavedFrames, SavedProcesses, timeNs, type Shown } from './saved';
import { lengthOf } from './slices';
import { jsonOf } from './text';

const PROCESSED_VERSION = 70, GECKO_VERSION = 36;
const FATES = ['resolved', 'code_unknown', 'stack_cut', 'lost'] as const;

// By kind of frame.
const CATEGORIES = KIND_ROWS.map(({ category: [name, color] }) => ({ name, color, subcategories: ['Other', ...TIERS.slice(1)] }));

/** Milliseconds with whole nanoseconds. */
const ms = (ns: number) => Math.round(ns) / 1e6;

const periodOf = ({ run: { run: { freq_hz } } }: Shown) => freq_hz ? Math.floor(1e9 / freq_hz) : 0;

/** Samples of a thread, in order of time: places in Shown.samples. */
interface Thread { pid: string; tid: number | string; isMain: boolean; name: string; process: string; samples: Uint32Array }

function metaOf(shown: Shown): object {
	const { run: { run, samples }, profile: { words, slices }, filters, samples: { size, samples: counts, tick } } = shown;
	const [from, to] = timeNs(shown);
	const entry = (label: string, value: number | string) => ({ label, format: typeof value === 'number' ? 'integer' : 'string', value });
	return {
		version: GECKO_VERSION, preprocessedProfileVersion: PROCESSED_VERSION, interval: ms(periodOf(shown) || 1e9),
		startTime: ms(run.wall_clock_ns), ...(run.start_ns === undefined ? {} : { startTimeAsClockMonotonicNanosecondsSinceBoot: run.start_ns }),
		profilingStartTime: ms(from), profilingEndTime: ms(to),
		processType: 0, stackwalk: 1, product: run.command || run.host, importedFrom: 'jitbpf', platform: 'Linux',
		oscpu: `Linux ${run.kernel} x86_64`, logicalCPUs: run.cpus, symbolicated: true, usesOnlyOneStackType: true,
		sourceCodeIsNotOnSearchfox: true, categories: CATEGORIES, markerSchema: [],
		sampleUnits: { time: 'ms', eventDelay: 'ms', threadCPUDelta: 'ns' },
		extra: [
			{ label: 'Samples', entries: [entry('taken', samples.taken), ...FATES.map(fate => entry(words.fates[fate], samples[fate]))] },
			{ label: 'Saved from a page', entries: [
				entry('samples', counts.subarray(0, size).reduce((sum, n) => sum + n, 0)),
				entry('times', !tick ? 'not known: all samples are at 0'
					: `known to ${ms(slices.tickNs)} ms, in old parts of long runs less: samples are spread evenly`),
				...(filters.length ? [entry('shown', filters.join(', '))] : []),
			] },
		],
	};
}

/** Place the samples of one thread after the other. Returns where those of each begin, and where the last ones end. */
function grouped(size: number, threadOf: (i: number) => number, count: number): { order: Uint32Array; begins: Uint32Array } {
	const order = new Uint32Array(size), begins = new Uint32Array(count + 1);
	for (let i = 0; i < size; i++)
		begins[threadOf(i) + 1]++;
	for (let i = 0; i < count; i++)
		begins[i + 1] += begins[i];
	const ends = begins.slice();
	for (let i = 0; i < size; i++)
		order[ends[threadOf(i)]++] = i;
	return { order, begins };
}

/** Those with samples: by pid, the main thread first. Of two runs, there is one for each process, without numbers. */
function threadsOf({ profile, run, samples: { size, node, thread, tick } }: Shown, { process }: SavedFrames): Thread[] {
	const { threads, strings } = profile, processes = new SavedProcesses(profile, run), rows = new Rows();
	const rowOf = new Int32Array(threads.rows), lastOf: number[] = [];      // by row of the table, and the last such row
	for (let i = 0; thread && i < threads.rows; i++)
		lastOf[rowOf[i] = rows.add(threads.pid[i], threads.tid[i])] = i;
	const of = (i: number) => thread ? rowOf[thread[i]] : rows.add(process[node[i]]);
	for (let i = 0; !thread && i < size; i++)
		of(i);
	const { order, begins } = grouped(size, of, rows.count), list: Thread[] = [];
	for (let row = 0; row < rows.count; row++) {
		const own = order.subarray(begins[row], begins[row + 1]), last = thread ? lastOf[row] : -1;
		if (!own.length)
			continue;
		if (tick && own.some((i, at) => at > 0 && tick[own[at - 1]] > tick[i]))
			own.sort((a, b) => tick[a] - tick[b] || a - b);
		const name = processes.nameOf(process[node[own[own.length - 1]]], last);
		list.push(last < 0 ? { pid: `process ${row + 1}`, tid: 'all', isMain: true, name, process: name, samples: own }
			: { pid: String(threads.pid[last]), tid: threads.tid[last], isMain: threads.tid[last] === threads.pid[last],
				name: strings[threads.comm[last]], process: name, samples: own });
	}
	return list.sort((a, b) => Number(a.pid) - Number(b.pid) || Number(b.isMain) - Number(a.isMain) || Number(a.tid) - Number(b.tid));
}

/** Times in ms. The samples of a thread and tick are spread over it, so that none of them lasts for all of the tick. */
function timesOf({ profile: { slices }, samples: { tick, samples } }: Shown, own: Uint32Array): Float64Array {
	const times = new Float64Array(own.length);
	for (let first = 0, end = 0, latest = 0; tick && first < own.length; first = end) {
		let whole = 0, before = 0;
		for (end = first; end < own.length && tick[own[end]] === tick[own[first]]; end++)
			whole += samples[own[end]];
		const length = lengthOf(slices.ends, tick[own[first]]);
		for (let i = first; i < end; i++) {
			const weight = samples[own[i]], at = tick[own[i]] + length * (before + weight / 2) / whole;
			times[i] = latest = Math.max(latest, ms(at * slices.tickNs));   // it must not decrease
			before += weight;
		}
	}
	return times;
}

function samplesJson(shown: Shown, { stackOf }: FirefoxTables, own: Uint32Array): string {
	const { samples: { node, samples, tick } } = shown, periodNs = periodOf(shown), weights = Float64Array.from(own, i => samples[i]);
	const stacks = Int32Array.from(own, i => stackOf[node[i]]).join(',').replace(/-1/g, 'null');
	const cpu = tick && periodNs ? `,"threadCPUDelta":[${weights.map(weight => weight * periodNs).join(',')}]` : '';
	return `{"length":${own.length},"weight":[${weights.join(',')}],"weightType":"samples","stack":[${stacks}],` +
		`"time":[${timesOf(shown, own).join(',')}]${cpu}}`;
}

function threadJson(shown: Shown, tables: FirefoxTables, { pid, tid, isMain, name, process, samples }: Thread): string {
	const facts = jsonOf({
		name, processName: process, processType: 'default', isMainThread: isMain, pid, tid, processStartupTime: 0, processShutdownTime: null,
		registerTime: 0, unregisterTime: null, pausedRanges: [],
		markers: { length: 0, data: [], name: [], startTime: [], endTime: [], phase: [], category: [] },
	});
	return `${facts.slice(0, -1)},"samples":${samplesJson(shown, tables, samples)}}`;
}

export function firefoxOf(shown: Shown): string[] {
	const frames = new SavedFrames(shown), tables = firefoxTables(shown, frames);
	const threads = threadsOf(shown, frames).flatMap((thread, i) => [i ? ',' : '', threadJson(shown, tables, thread)]);
	return [`{"meta":${jsonOf(metaOf(shown))},"libs":${jsonOf(tables.libs)},"shared":`, ...tables.json, ',"threads":[', ...threads, ']}'];
}
