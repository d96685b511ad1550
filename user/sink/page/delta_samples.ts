// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The samples of an event in the lists of a live profile.

import { Column, integers, naturals, numbers } from './columns';
import { BadDelta, NUMBERS, each, takeChanged, type Cursor } from './delta_cursor';
import { LEVELS, SliceList } from './slices';

const MOST_SLICES = 1 << 24;

/** plain, functionFile: name and source file of its function (user/symbolize/named_functions.h); 0: those of the frame, and none. */
export interface Frame { name: number; module: number; file: number; line: number; kind: number; flags: number; plain: number; functionFile: number }
export interface Row { pid: number; inner: number; comm: number; container: number; unit: number; fields: number[] }
export interface Thread { pid: number; tid: number; comm: number; container: number; unit: number }
export interface RunFacts { start_ns: number; wall_clock_ns: number; duration_ns: number; freq_hz: number; cpus: number;
	event: string; command: string; host: string; kernel: string; unit?: string; period?: number }

/** JIT code by time: bins without changes are missing. */
export class CodeBins {
	ticks = 1;
	engines: number[] = [];         // names
	bins: { loads: number; unloads: number; live: number[] }[] = [];
}

/** The samples of an event, with names and processes of all events. */
export abstract class EventSamples {
	abstract readonly epoch: number;
	abstract readonly run: RunFacts;
	abstract readonly strings: string[];
	abstract readonly places: number[];             // kind of each location
	abstract readonly frames: (Frame[] | null)[];   // of each location, innermost first
	abstract readonly rows: Row[];
	abstract readonly code: CodeBins;
	abstract readonly events: string[];             // names of all events; empty if there is one only
	abstract isInterpreter(location: number): boolean;
	/** Identifies a location in all epochs; its number is valid in one epoch only. */
	abstract keyOf(location: number): string;

	readonly changed: number[] = [];        // locations whose frames were sent again
	readonly parent = integers();           // of each node; -1: none
	readonly location = naturals();         // of each node; of a root, its row
	readonly comm = new Map<number, number>();      // of each root
	threads: Thread[] = [];
	readonly node = integers();             // of each count
	readonly thread = naturals();
	readonly samples = numbers();
	private readonly recounted: number[] = [];
	readonly slices = new SliceList();
	totals: number[] = [];
	private readonly isRecounted = new Column(new Uint8Array(64));
	protected rowsDue = 0;

	protected string(at: Cursor): number {
		return at.below(this.strings.length);
	}

	/** Take the lists that only grow. */
	protected takeLists(at: Cursor): void {
		each(at, () => this.takeNode(at));
		each(at, () => this.threads.push({ pid: at.below(NUMBERS), tid: at.below(NUMBERS), comm: this.string(at),
			container: this.string(at), unit: this.string(at) }));
		each(at, () => this.takeCount(at));
	}

	protected takeCounted(at: Cursor): void {
		takeChanged(at, this.samples.size, i => this.recount(i, at.number()));
	}

	/** Whether locations have got names since the last update. */
	get hasRenamed(): boolean {
		return this.changed.length > 0;
	}

	private takeNode(at: Cursor): void {
		const number = this.parent.size, up = at.below(number + 1), location = at.number();
		if (!up)
			this.rowsDue = Math.max(this.rowsDue, location + 1);
		else if (location >= this.places.length)
			throw new BadDelta('a location is missing');
		this.parent.push(up ? number - up : -1);
		this.location.push(location);
		if (!up)
			this.comm.set(number, this.string(at));
	}

	private takeCount(at: Cursor): void {
		const node = at.below(this.parent.size), thread = at.below(this.threads.length);
		this.node.push(node);
		this.thread.push(thread);
		this.samples.push(at.number());
		this.isRecounted.push(0);
	}

	private recount(count: number, samples: number): void {
		this.samples.data[count] = samples;
		if (!this.isRecounted.data[count])
			this.recounted.push(count);
		this.isRecounted.data[count] = 1;
	}

	/** The counts whose samples have changed since the last call. */
	takeRecounted(): number[] {
		const taken = this.recounted.splice(0);
		for (const count of taken)
			this.isRecounted.data[count] = 0;
		return taken;
	}

	/** The locations whose frames have changed since the last call. */
	takeRenamed(): number[] {
		return this.changed.splice(0);
	}

	protected takeSlices(at: Cursor): void {
		const { slices } = this, counts = this.samples.size;
		if (at.below(2))
			slices.clear();
		const levels = at.number();
		if (levels && levels !== LEVELS)
			throw new BadDelta('levels are missing');
		const ends = Array.from({ length: levels }, () => at.below(NUMBERS));
		if (ends.some((end, i) => end % 2 ** (i + 1) || (i > 0 && end > ends[i - 1])))
			throw new BadDelta('levels that cannot be');
		if (levels)
			slices.follow(ends, counts);
		for (let left = at.number(), tick = 0, count = 0; left > 0; left--) {
			tick = at.near(tick);
			count = at.near(count);
			const samples = at.below(NUMBERS);
			if (count >= counts || !samples || slices.list.rows >= MOST_SLICES)
				throw new BadDelta('a slice without a count');
			slices.add(tick, count, samples);
		}
	}
}
