// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The processes with a heat map of their own, below that of all, and the buttons with their names.

import { byId, element, number, plural } from './text';
import { processName, processText, type ProcessSum } from './threads';
import type { Split } from './time_bins';
import type { View } from './view';

const MOST = 4;                 // processes with a heat map
const CLEARLY = 2;              // factor between the samples of a new process and of the process that it replaces

/**
 * Choose the processes with most samples, as pids. Processes of `before` keep their places, so that maps do not move while
 * samples are added. The process with fewest samples is replaced when a process outside has clearly more.
 */
export function chooseProcesses(before: number[], samples: Map<number, ProcessSum>): number[] {
	const of = (pid: number) => samples.get(pid)?.samples ?? 0, shown = before.filter(of);
	const others = [...samples.keys()].filter(pid => of(pid) && !shown.includes(pid)).sort((a, b) => of(b) - of(a));
	for (const pid of others) {
		const least = shown.reduce((a, b) => of(b) < of(a) ? b : a, shown[0]);
		if (shown.length < MOST)
			shown.push(pid);
		else if (of(pid) > CLEARLY * of(least))
			shown[shown.indexOf(least)] = pid;
		else
			break;
	}
	return shown.length > 1 ? shown : [];
}

/** How many processes have no heat map, in words. */
function moreText(pids: number[]): string {
	const named = pids.filter(Boolean).length, more = named ? [`${number(named)} more process${named === 1 ? '' : 'es'}`] : [];
	return [...more, ...(named < pids.length ? ['those counted together'] : [])].map(text => `and ${text}`).join(' ');
}

interface Shown { pid: number; name: string }

export class ProcessMaps {
	shown: Shown[] = [];
	private readonly box = byId('processes');
	private readonly buttons = Array.from({ length: MOST }, () => element('button'));
	private readonly others = element('span', '', 'others');

	constructor(private readonly view: View) {
		this.buttons.forEach((button, i) => button.addEventListener('click', () => {
			view.change({ threads: String(this.shown[i].pid) });
			view.say(button.title);
			byId('strip').focus();
		}));
		this.box.append(...this.buttons, this.others);
	}

	/** Choose processes for the present samples. There are none if the time line is not `open`, or if threads are chosen. */
	update(open: boolean): void {
		const { view } = this, sums = open && !view.state.threads ? view.threads.processes : new Map<number, ProcessSum>();
		const pids = chooseProcesses(this.shown.map(({ pid }) => pid), sums);
		this.box.hidden = !pids.length;
		this.shown = pids.map(pid => ({ pid, name: processName(view.profile, sums.get(pid)!.row) }));
		this.others.textContent = pids.length ? moreText([...sums.keys()].filter(pid => sums.get(pid)!.samples && !pids.includes(pid))) : '';
		this.buttons.forEach((button, i) => {
			button.hidden = i >= pids.length;
			if (!button.hidden)
				this.write(button, this.shown[i], sums.get(pids[i])!.samples);
		});
	}

	/** Write a name and a number of samples on a button, if they have changed. */
	private write(button: HTMLButtonElement, { pid, name }: Shown, samples: number): void {
		const text = `Only ${processText(name, pid)}: ${plural(samples, 'sample')}`;
		if (button.title === text)
			return;
		button.title = button.ariaLabel = text;
		button.replaceChildren(element('bdi', name), element('span', pid ? String(pid) : ''));
	}

	/** Some processes have no heat map, and a line says how many. */
	get hasOthers(): boolean {
		return Boolean(this.others.textContent);
	}

	/** Put the buttons beside their maps, of which the first one begins at `top`, and the line about others below them. */
	place(top: number, height: number, gap: number): void {
		const { buttons, others, shown } = this, place = (one: HTMLElement, i: number) => { one.style.top = `${top + i * (height + gap)}px`; };
		buttons.forEach(place);
		place(others, shown.length);
	}

	/** The shown processes as parts of all threads. */
	get split(): Split {
		const { view: { profile: { threads } }, shown } = this, part = new Map(shown.map(({ pid }, i) => [pid, i + 1]));
		return { key: [...part.keys()].join(), parts: part.size,
			of: part.size ? Uint8Array.from(threads.pid.subarray(0, threads.rows), pid => part.get(pid) ?? 0) : new Uint8Array(0) };
	}
}
