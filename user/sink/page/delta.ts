// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Decodes deltas (user/sink/live/delta_format.h) into the lists of a live profile. Input is checked.

import { Column, integers, naturals, numbers } from './columns';
import { LEVELS, SliceList } from './slices';

const MAGIC = 0x444c544a, VERSION = 7, HEADER = 32;
const MOST_FRAMES = 1024;               // of a location
const MOST_BYTES = 1 << 30;             // of the deltas of a profile
const MOST_SLICES = 1 << 24;
const NUMBERS = 2 ** 32;
const BINS = 2048, MOST_ENGINES = 8;      // of code_lane.h
const utf8 = new TextDecoder();

/** Damaged data. */
export class BadDelta extends Error {}

/** plain, functionFile: name and source file of its function (user/symbolize/named_functions.h); 0: those of the frame, and none. */
export interface Frame { name: number; module: number; file: number; line: number; kind: number; flags: number; plain: number; functionFile: number }
export interface Row { pid: number; inner: number; comm: number; container: number; unit: number; fields: number[] }
export interface Thread { pid: number; tid: number; comm: number; container: number; unit: number }
export interface RunFacts { start_ns: number; wall_clock_ns: number; duration_ns: number; freq_hz: number; cpus: number;
	event: string; command: string; host: string; kernel: string }

/** JIT code by time: bins without changes are missing. */
export class CodeBins {
	ticks = 1;
	engines: number[] = [];         // names
	bins: { loads: number; unloads: number; live: number[] }[] = [];
}

/** Reads numbers and texts, and throws at the end of the bytes. */
class Cursor {
	private at = HEADER;

	constructor(private readonly bytes: Uint8Array) {}

	get atEnd(): boolean {
		return this.at === this.bytes.length;
	}

	/** Unsigned LEB128. A number above 2^53 is rounded. */
	number(): number {
		let value = 0, scale = 1;
		for (let digits = 0; digits < 10; digits++, scale *= 128) {
			if (this.at >= this.bytes.length)
				throw new BadDelta('a number is cut');
			const byte = this.bytes[this.at++];
			value += (byte & 127) * scale;
			if (byte < 128)
				return value;
		}
		throw new BadDelta('a number is too long');
	}

	/** A number of 64 bits, exactly: its high bits and its low 28. */
	halves(): [high: number, low: number] {
		const from = this.at;
		let low = this.number();
		if (low < 2 ** 53)
			return [Math.floor(low / 2 ** 28), low % 2 ** 28];
		const end = this.at;
		this.at = from;
		low = 0;
		for (let scale = 1; scale < 2 ** 28; scale *= 128)
			low += (this.bytes[this.at++] & 127) * scale;
		const high = this.number();
		this.at = end;
		return [high, low];
	}

	below(limit: number): number {
		const value = this.number();
		if (value >= limit)
			throw new BadDelta(`${value} is not below ${limit}`);
		return value;
	}

	/** A number near another one: the distance, by base/zigzag.h, modulo 2^32. */
	near(other: number): number {
		const distance = this.below(NUMBERS);
		return (other + (distance % 2 ? -(distance + 1) / 2 : distance / 2)) >>> 0;
	}

	text(): string {
		const size = this.number();
		if (size > this.bytes.length - this.at)
			throw new BadDelta('a text is cut');
		this.at += size;
		return utf8.decode(this.bytes.subarray(this.at - size, this.at));
	}

	/** Counts, of which those that are 0 are left out. */
	fields(count: number): number[] {
		const values = new Array<number>(count).fill(0);
		for (let at = -1, step = this.number(); step; step = this.number()) {
			at += step;
			if (at >= count)
				throw new BadDelta('a count without a name');
			values[at] = this.number();
		}
		return values;
	}
}

interface Header { epoch: number; complete: boolean; from: number; to: number }

export function headerOf(bytes: Uint8Array): Header {
	if (bytes.length < HEADER)
		throw new BadDelta('no header');
	const head = new DataView(bytes.buffer, bytes.byteOffset, HEADER), complete = head.getUint16(6, true);
	const header = { epoch: head.getUint32(8, true), complete: complete === 1, from: head.getUint32(16, true),
		to: head.getUint32(20, true) };
	if (head.getUint32(0, true) !== MAGIC || head.getUint16(4, true) !== VERSION || complete > 1 || !header.to)
		throw new BadDelta('not a delta of this version');
	return header;
}

export class DeltaProfile {
	state = 0;
	epoch = 0;
	complete = false;
	run!: RunFacts;
	strings: string[] = [''];
	places: number[] = [];                  // kind of each location
	frames: (Frame[] | null)[] = [];        // of each location, innermost first
	private readonly changed: number[] = [];        // locations whose frames were sent again
	private readonly owner = numbers();     // of each location
	private readonly offset = [numbers(), naturals()] as const;     // of each location: high bits, low ones
	readonly parent = integers();           // of each node; -1: none
	readonly location = naturals();         // of each node; of a root, its row
	readonly comm = new Map<number, number>();      // of each root
	threads: Thread[] = [];
	readonly node = integers();             // of each count
	readonly thread = naturals();
	readonly samples = numbers();
	private readonly recounted: number[] = [];
	rows: Row[] = [];
	readonly slices = new SliceList();
	code = new CodeBins();
	totals: number[] = [];
	private readonly isRecounted = new Column(new Uint8Array(64));
	private rowsDue = 0;
	private used = 0;

	constructor(private readonly rowFields: number, private readonly totalFields: number) {}

	/** Apply a delta. Returns false if it is not of this profile's state. Throws BadDelta. */
	apply(bytes: Uint8Array): boolean {
		const { from, to, epoch, complete } = headerOf(bytes);
		if (from !== this.state || (from && epoch !== this.epoch))
			return false;
		this.used += bytes.length;
		if (this.used > MOST_BYTES)
			throw new BadDelta('the profile is too large for this page');
		this.take(new Cursor(bytes), from === 0, complete);
		this.epoch = epoch;
		this.state = to;
		this.complete = complete;
		return true;
	}

	private take(at: Cursor, first: boolean, complete: boolean): void {
		const duration_ns = at.number();
		if (first)
			this.run = this.takeRun(at);
		this.run.duration_ns = duration_ns;
		const each = (take: () => void) => {
			for (let left = at.number(); left > 0; left--)
				take();
		};
		each(() => this.strings.push(at.text()));
		each(() => this.takeLocation(at));
		each(() => this.takeNode(at));
		each(() => this.threads.push({ pid: at.below(NUMBERS), tid: at.below(NUMBERS), comm: this.string(at),
			container: this.string(at), unit: this.string(at) }));
		each(() => this.takeCount(at));
		each(() => this.rows.push(this.takeRow(at)));
		each(() => this.takeNames(at, at.below(this.places.length), true));
		this.takeChanged(at, this.samples.size, i => this.recount(i, at.number()));
		this.takeChanged(at, this.rows.length, i => { this.rows[i] = this.takeRow(at); });
		this.takeSlices(at);
		this.takeCode(at);
		if (complete) {
			at.below(2);
			this.totals = at.fields(this.totalFields);
			if (this.rowsDue > this.rows.length)
				throw new BadDelta('a process is missing');
		}
		if (!at.atEnd)
			throw new BadDelta('more than a delta');
	}

	private takeRun(at: Cursor): RunFacts {
		const start_ns = at.number(), wall_clock_ns = at.number(), freq_hz = at.number(), cpus = at.number();
		const event = at.text(), command = at.text(), host = at.text(), kernel = at.text();
		return { start_ns, wall_clock_ns, duration_ns: 0, freq_hz, cpus, event, command, host, kernel };
	}

	private string(at: Cursor): number {
		return at.below(this.strings.length);
	}

	private takeLocation(at: Cursor): void {
		this.places.push(at.below(256));
		this.frames.push(null);
		this.owner.push(at.number());
		at.halves().forEach((half, i) => this.offset[i].push(half));
		this.takeNames(at, this.places.length - 1, false);
	}

	/** Identifies a location in all epochs; its number is valid in one epoch only. */
	keyOf(location: number): string {
		const [high, low] = this.offset;
		return `${this.places[location]} ${this.owner.at(location)} ${high.at(location)} ${low.at(location)}`;
	}

	/** Whether locations have got names since the last update. */
	get hasRenamed(): boolean {
		return this.changed.length > 0;
	}

	private takeNames(at: Cursor, location: number, again: boolean): void {
		const names = at.number(), frames: Frame[] = [];
		if (names > 2 * MOST_FRAMES + 1)
			throw new BadDelta('too many frames');
		for (let left = Math.floor(names / 2); left > 0; left--) {
			const name = this.string(at), module = this.string(at), file = this.string(at), line = at.below(NUMBERS);
			at.number();    // distance from the symbol
			frames.push({ name, module, file, line, kind: at.below(65536), flags: at.below(256), plain: this.string(at), functionFile: this.string(at) });
		}
		if (frames.length) {
			this.frames[location] = frames;
			if (again)
				this.changed.push(location);
		}
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

	private takeRow(at: Cursor): Row {
		return { pid: at.below(NUMBERS), inner: at.below(NUMBERS), comm: this.string(at),
			container: this.string(at), unit: this.string(at), fields: at.fields(this.rowFields) };
	}

	private takeSlices(at: Cursor): void {
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

	private takeCode(at: Cursor): void {
		const shift = at.below(33);
		if (!shift)
			return;
		if (this.code.ticks !== 2 ** (shift - 1))
			this.code = new CodeBins();
		const { code } = this;
		code.ticks = 2 ** (shift - 1);
		code.engines = Array.from({ length: at.below(MOST_ENGINES + 1) }, () => this.string(at));
		this.takeChanged(at, BINS, bin => {
			code.bins[bin] = { loads: at.below(NUMBERS), unloads: at.below(NUMBERS), live: code.engines.map(() => at.number()) };
		});
	}

	private takeChanged(at: Cursor, size: number, take: (number: number) => void): void {
		let number = 0;
		for (let left = at.number(); left > 0; left--) {
			number += at.below(size - number);
			take(number);
		}
	}
}
