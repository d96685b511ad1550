// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The selection of all processes, one process, or one thread.

import type { Profile } from './data';
import { element, percent, visible } from './text';

interface Entry { key: string; text: string; samples: number }
interface ProcessEntry extends Entry { threads: Map<number, Entry> }

function processesOf({ threads, counts, strings }: Profile): ProcessEntry[] {
	const samples = new Float64Array(threads.rows);
	for (let i = 0; i < counts.rows; i++)
		samples[counts.group[i]] += counts.samples[i];
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
		if (tid === pid)
			process.text = thread.text;
		thread.samples += samples[i];
		process.samples += samples[i];
	}
	return [...processes.values()];
}

export function fillThreads(select: HTMLSelectElement, profile: Profile): void {
	const whole = profile.counts.samples.reduce((sum, n) => sum + n, 0);
	const bySamples = (a: Entry, b: Entry) => b.samples - a.samples;
	const option = (entry: Entry, indent: string) => {
		const o = element('option', `${indent}${entry.text} – ${percent(entry.samples, whole)}`);
		o.value = entry.key;
		return o;
	};
	const chosen = select.value;
	select.replaceChildren(Object.assign(element('option', 'All processes'), { value: '' }));
	for (const process of processesOf(profile).sort(bySamples)) {
		select.append(option(process, ''));
		if (process.threads.size > 1)
			select.append(...[...process.threads.values()].sort(bySamples).map(t => option(t, '\u2003')));
	}
	select.value = chosen;
}

/** Whether each thread is selected; null: all are. */
export function chosenThreads({ threads }: Profile, key: string): Uint8Array | null {
	if (!key)
		return null;
	const [pid, tid] = key.split('.').map(Number);
	return Uint8Array.from({ length: threads.rows }, (_, i) =>
		Number(threads.pid[i] === pid && (tid === undefined || threads.tid[i] === tid)));
}
