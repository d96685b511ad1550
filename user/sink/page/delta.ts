// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Decodes deltas (user/sink/live/delta_format.h) into the lists of a live profile. Input is checked.

import { naturals, numbers } from './columns';
import { BadDelta, Cursor, HEADER, NUMBERS, each, takeChanged } from './delta_cursor';
import { CodeBins, EventSamples, type Frame, type Row, type RunFacts } from './delta_samples';

export { BadDelta };

const MAGIC = 0x444c544a, VERSION = 13;
const CPU_TIME = 'cpu-time';            // RUN_CPU_TIME
const COMPLETE = 1, EVENTS = 2;         // flags
const MOST_EVENTS = 16;                 // JITBPF_EVENTS_MAX
const MOST_FRAMES = 1024;               // of a location
const INTERPRETER = 128;                // DELTA_INTERPRETER
const MOST_BYTES = 1 << 30;             // of the deltas of a profile
const BINS = 2048, MOST_ENGINES = 8;      // of code_lane.h

interface Header { epoch: number; complete: boolean; events: boolean; from: number; to: number }

export function headerOf(bytes: Uint8Array): Header {
	if (bytes.length < HEADER)
		throw new BadDelta('no header');
	const head = new DataView(bytes.buffer, bytes.byteOffset, HEADER), flags = head.getUint16(6, true);
	const header = { epoch: head.getUint32(8, true), complete: Boolean(flags & COMPLETE), events: Boolean(flags & EVENTS), from: head.getUint32(16, true),
		to: head.getUint32(20, true) };
	if (head.getUint32(0, true) !== MAGIC || head.getUint16(4, true) !== VERSION || flags > (COMPLETE | EVENTS) || !header.to)
		throw new BadDelta('not a delta of this version');
	return header;
}

/** Of a run with several events. */
export class EventProfile extends EventSamples {
	private readonly fates = new Map<number, number[]>();   // by row: numbers of the fields that `isFate` has

	constructor(private readonly of: DeltaProfile, private readonly facts: { event: string; unit: string; period: number }) {
		super();
	}

	get epoch(): number { return this.of.epoch; }
	get strings(): string[] { return this.of.strings; }
	get places(): number[] { return this.of.places; }
	get frames(): (Frame[] | null)[] { return this.of.frames; }
	get code(): CodeBins { return this.of.code; }
	get events(): string[] { return this.of.events; }
	get run(): RunFacts { return { ...this.of.run, freq_hz: 0, ...this.facts }; }
	isInterpreter(location: number): boolean { return this.of.isInterpreter(location); }
	keyOf(location: number): string { return this.of.keyOf(location); }

	/** The rows of all events, with the fates of this one. */
	get rows(): Row[] {
		const { fateFields } = this.of;
		return this.of.rows.map((row, i) => {
			const fates = this.fates.get(i), fields = row.fields.slice();
			fateFields.forEach((field, k) => { fields[field] = fates?.[k] ?? 0; });
			return { ...row, fields };
		});
	}

	take(at: Cursor): void {
		this.takeLists(at);
		this.takeCounted(at);
		takeChanged(at, this.of.rows.length, row => this.fates.set(row, at.fields(this.of.fateFields.length)));
		this.takeSlices(at);
	}

	takeTotals(at: Cursor, fields: number): void {
		this.totals = at.fields(fields);
		if (this.rowsDue > this.of.rows.length)
			throw new BadDelta('a process is missing');
	}
}

export class DeltaProfile extends EventSamples {
	state = 0;
	epoch = 0;
	complete = false;
	run!: RunFacts;
	strings: string[] = [''];
	places: number[] = [];                  // kind of each location
	private readonly interpreters = new Set<number>();      // locations of native code that serves a runtime
	frames: (Frame[] | null)[] = [];        // of each location, innermost first
	private readonly owner = numbers();     // of each location
	private readonly offset = [numbers(), naturals()] as const;     // of each location: high bits, low ones
	rows: Row[] = [];
	code = new CodeBins();
	events: string[] = [];
	private others: EventProfile[] = [];    // events from 1 on
	private used = 0;

	/** fateFields: the fields of a row that count samples of one event. */
	constructor(private readonly rowFields: number, private readonly totalFields: number, readonly fateFields: number[]) {
		super();
	}

	/** Apply a delta. Returns false if it is not of this profile's state. Throws BadDelta. */
	apply(bytes: Uint8Array): boolean {
		const { from, to, epoch, complete, events } = headerOf(bytes);
		if (from !== this.state || (from && epoch !== this.epoch))
			return false;
		this.used += bytes.length;
		if (this.used > MOST_BYTES)
			throw new BadDelta('the profile is too large for this page');
		this.take(new Cursor(bytes), from === 0, complete, events);
		this.epoch = epoch;
		this.state = to;
		this.complete = complete;
		return true;
	}

	private take(at: Cursor, first: boolean, complete: boolean, events: boolean): void {
		const duration_ns = at.number();
		if (first)
			this.run = this.takeRun(at);
		this.run.duration_ns = duration_ns;
		each(at, () => this.strings.push(at.text()));
		each(at, () => this.takeLocation(at));
		this.takeLists(at);
		each(at, () => this.rows.push(this.takeRow(at)));
		each(at, () => this.takeNames(at, at.below(this.places.length), true));
		this.takeCounted(at);
		takeChanged(at, this.rows.length, i => { this.rows[i] = this.takeRow(at); });
		this.takeSlices(at);
		this.takeCode(at);
		if (first && events)
			this.takeEventFacts(at);
		if (events !== this.others.length > 0)
			throw new BadDelta('events are missing');
		this.others.forEach(event => event.take(at));
		if (complete)
			this.takeTotals(at);
		if (!at.atEnd)
			throw new BadDelta('more than a delta');
	}

	private takeTotals(at: Cursor): void {
		at.below(2);
		this.totals = at.fields(this.totalFields);
		if (this.rowsDue > this.rows.length)
			throw new BadDelta('a process is missing');
		this.others.forEach(event => event.takeTotals(at, this.totalFields));
	}

	private takeEventFacts(at: Cursor): void {
		for (let left = at.below(MOST_EVENTS); left > 0; left--) {
			const event = at.text(), unit = at.text(), period = at.number();
			this.others.push(new EventProfile(this, { event, unit, period }));
			this.events.push(event);
		}
		this.events.unshift(CPU_TIME);
	}

	private takeRun(at: Cursor): RunFacts {
		const start_ns = at.number(), wall_clock_ns = at.number(), freq_hz = at.number(), cpus = at.number();
		const event = at.text(), command = at.text(), host = at.text(), kernel = at.text();
		return { start_ns, wall_clock_ns, duration_ns: 0, freq_hz, cpus, event, command, host, kernel };
	}

	private takeLocation(at: Cursor): void {
		const kind = at.below(2 * INTERPRETER);
		if (kind >= INTERPRETER)
			this.interpreters.add(this.places.length);
		this.places.push(kind % INTERPRETER);
		this.frames.push(null);
		this.owner.push(at.number());
		at.halves().forEach((half, i) => this.offset[i].push(half));
		this.takeNames(at, this.places.length - 1, false);
	}

	/** The samples of an event by its number in `events`. */
	ofEvent(number: number): EventSamples {
		return number ? this.others[number - 1] : this;
	}

	isInterpreter(location: number): boolean {
		return this.interpreters.has(location);
	}

	keyOf(location: number): string {
		const [high, low] = this.offset;
		return `${this.places[location]}${this.isInterpreter(location) ? 'i' : ''} ${this.owner.at(location)} ${high.at(location)} ${low.at(location)}`;
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
			for (const event of again ? [this, ...this.others] : [])
				event.changed.push(location);
		}
	}

	private takeRow(at: Cursor): Row {
		return { pid: at.below(NUMBERS), inner: at.below(NUMBERS), comm: this.string(at),
			container: this.string(at), unit: this.string(at), fields: at.fields(this.rowFields) };
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
		takeChanged(at, BINS, bin => {
			code.bins[bin] = { loads: at.below(NUMBERS), unloads: at.below(NUMBERS), live: code.engines.map(() => at.number()) };
		});
	}
}
