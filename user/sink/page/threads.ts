// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The selection of all processes, one process, one thread, threads of a name, or a container.

import { withRoom } from './columns';
import type { Counts, Profile } from './data';
import { element, percent, visible } from './text';

// First characters of keys that are no pid.
const COMMAND = '=', CONTAINER = '@';

interface Entry { key: string; text: string; samples: number }
interface ThreadEntry extends Entry { most: number }     // samples of the row that names it
interface ProcessEntry extends Entry { threads: Map<number, ThreadEntry> }

/**
 * Samples of a process. `row` of Profile.threads names it: that of its main thread with the most samples, or else its first row. The
 * order of rows says little: samples of before an exec can wait longer than those of after it.
 */
export interface ProcessSum { row: number; samples: number }

export function sumsOf({ threads }: Profile, samples: Float64Array): Map<number, ProcessSum> {
	const sums = new Map<number, ProcessSum>();
	for (let i = 0; i < threads.rows; i++) {
		const pid = threads.pid[i];
		let sum = sums.get(pid);
		if (!sum)
			sums.set(pid, sum = { row: i, samples: 0 });
		if (threads.tid[i] === pid && (threads.tid[sum.row] !== pid || samples[i] >= samples[sum.row]))
			sum.row = i;
		sum.samples += samples[i];
	}
	return sums;
}

/** The name of the process of a thread. Shared rows have no pid (user/pipeline/analysis/epoch/shared_rows.h). */
export function processName({ threads, strings }: Profile, row: number): string {
	return threads.pid[row] ? visible(strings[threads.comm[row]]) : 'Processes counted together';
}

/** The text of a process in the list. */
export const processText = (name: string, pid: number) => pid ? `${name} ${pid}` : name;

/** A process and a thread have the name of most of their samples. */
export function processesOf(profile: Profile, samples: Float64Array): ProcessEntry[] {
	const { threads, strings } = profile, processes = new Map<number, ProcessEntry>();
	for (const [pid, { row, samples: own }] of sumsOf(profile, samples))
		processes.set(pid, { key: String(pid), text: processText(processName(profile, row), pid), samples: own, threads: new Map() });
	for (let i = 0; i < threads.rows; i++) {
		const pid = threads.pid[i], tid = threads.tid[i], own = processes.get(pid)!.threads;
		let thread = own.get(tid);
		if (!thread)
			own.set(tid, thread = { key: `${pid}.${tid}`, text: '', samples: 0, most: -1 });
		if (samples[i] >= thread.most)
			Object.assign(thread, { text: `${visible(strings[threads.comm[i]])} ${tid}`, most: samples[i] });
		thread.samples += samples[i];
	}
	return [...processes.values()];
}

/** Groups threads by `column`: by name, or by container. */
function groupsOf({ threads, strings }: Profile, samples: Float64Array, column: Uint32Array, mark: string): Entry[] {
	const groups = new Map<number, Entry>();
	for (let i = 0; i < threads.rows; i++) {
		const name = column[i], text = strings[name];
		if (!groups.has(name))
			groups.set(name, { key: mark + text, text: visible(text), samples: 0 });
		groups.get(name)!.samples += samples[i];
	}
	return groups.size > 1 ? [...groups.values()] : [];
}

const LONGEST = 100;    // letters of a name that is not in the list
const SHORT = 200;      // a longer list is filled again only before it is opened

export class ThreadList {
	private profile: Profile | null = null;
	private samples = new Float64Array(64);         // by thread
	private filled = 0;     // threads

	constructor(private readonly select: HTMLSelectElement) {
		for (const opening of ['pointerdown', 'focus'])
			select.addEventListener(opening, () => this.fill());
	}

	has(key: string): boolean {
		return [...this.select.options].some(option => option.value === key);
	}

	/** Samples by pid. */
	get processes(): Map<number, ProcessSum> {
		return this.profile ? sumsOf(this.profile, this.samples) : new Map();
	}

	/** Select an entry. On a live page, the chosen one may have no samples yet, or none in this recording. */
	choose(key: string): void {
		const { select, profile } = this;
		if (key && !this.has(key) && profile && this.filled < profile.threads.rows)
			return this.fill(key);
		if (key && !this.has(key))
			select.append(Object.assign(element('option', `${visible(key.replace(/^[=@]/, '').slice(0, LONGEST))} – no samples`), { value: key }));
		select.value = key;
	}

	/** Begin anew, with no samples. */
	clear(): void {
		this.samples.fill(0);
	}

	/** Show a newer version, in which samples have been added, unless the list may be open. */
	refresh(profile: Profile, more: Counts): void {
		this.profile = profile;
		this.samples = withRoom(this.samples, profile.threads.rows);
		for (let i = 0; i < more.rows; i++)
			this.samples[more.group[i]] += more.samples[i];
		if (document.activeElement !== this.select && (!this.filled || profile.threads.rows <= SHORT))
			this.fill();
	}

	private fill(chosen = this.select.value): void {
		const { profile, select, samples } = this;
		if (!profile)
			return;
		const processes = processesOf(profile, samples), whole = processes.reduce((sum, process) => sum + process.samples, 0);
		const bySamples = (a: Entry, b: Entry) => b.samples - a.samples;
		const option = (entry: Entry, indent: string) => {
			const o = element('option', `${indent}${entry.text} – ${percent(entry.samples, whole)}`);
			o.value = entry.key;
			return o;
		};
		this.filled = profile.threads.rows;
		select.replaceChildren(Object.assign(element('option', 'All processes'), { value: '' }));
		for (const process of processes.sort(bySamples)) {
			select.append(option(process, ''));
			if (process.threads.size > 1)
				select.append(...[...process.threads.values()].sort(bySamples).map(t => option(t, '\u2003')));
		}
		const { rows, comm, container } = profile.threads, commands = groupsOf(profile, samples, comm, COMMAND);
		const add = (label: string, entries: Entry[]) => {
			const group = element('optgroup', '', '', ...entries.sort(bySamples).map(entry => option(entry, '')));
			group.label = label;
			if (entries.length)
				select.append(group);
		};
		add('Containers and units', groupsOf(profile, samples, container, CONTAINER));
		add('Threads by name', commands.length < rows ? commands : []);
		this.choose(chosen);
	}
}

/** Whether each thread is selected; null: all are. */
export function chosenThreads({ threads, strings }: Profile, key: string): Uint8Array | null {
	if (!key)
		return null;
	const column = key[0] === COMMAND ? threads.comm : key[0] === CONTAINER ? threads.container : null;
	if (column)
		return Uint8Array.from({ length: threads.rows }, (_, i) => Number(strings[column[i]] === key.slice(1)));
	const [pid, tid] = key.split('.').map(Number);
	return Uint8Array.from({ length: threads.rows }, (_, i) =>
		Number(threads.pid[i] === pid && (tid === undefined || threads.tid[i] === tid)));
}
