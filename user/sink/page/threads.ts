// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The selection of all processes, one process, one thread, threads of a name, or a container.

import { withRoom } from './columns';
import type { Counts, Profile } from './data';
import { element, percent, visible } from './text';

// First characters of keys that are no pid.
const COMMAND = '=', CONTAINER = '@';

interface Entry { key: string; text: string; samples: number }
interface ProcessEntry extends Entry { threads: Map<number, Entry> }

function processesOf({ threads, strings }: Profile, samples: Float64Array): ProcessEntry[] {
	const processes = new Map<number, ProcessEntry>();
	for (let i = 0; i < threads.rows; i++) {
		const pid = threads.pid[i], tid = threads.tid[i], comm = visible(strings[threads.comm[i]]);
		let process = processes.get(pid);
		if (!process)
			processes.set(pid, process = { key: String(pid), text: `${comm} ${pid}`, samples: 0, threads: new Map() });
		let thread = process.threads.get(tid);
		if (!thread)
			process.threads.set(tid, thread = { key: `${pid}.${tid}`, text: '', samples: 0 });
		thread.text = `${comm} ${tid}`; // the last name is used
		if (!pid)       // of shared rows (user/pipeline/analysis/shared_rows.h)
			process.text = 'Processes counted together';
		else if (tid === pid)
			process.text = thread.text;
		thread.samples += samples[i];
		process.samples += samples[i];
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

	/** Select an entry. On a live page, the chosen one may have no samples yet, or none in this recording. */
	choose(key: string): void {
		const { select } = this;
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

	private fill(): void {
		const { profile, select, samples } = this, chosen = select.value;
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
