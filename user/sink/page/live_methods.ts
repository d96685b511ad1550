// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The lives of JIT code that the panel of methods of a live page shows, from the page's server (user/cli/methods_answer.h).

import { readLives } from './data';
import { methodText, type Lives } from './lives';
import type { Range } from './time_range';

const PERIOD_MS = 2000;         // for the same lives,
const REST = 4;                 // but not before so many times as long as the answer took
const PAUSE_MS = 150;           // from a request to the next
const MOST = 0xffffffff;        // of a number in a request; of a tick: as long as it takes

/** What the page shows: of which epoch, and whether no more comes. */
export interface Shown { epoch: number; still: boolean; ended: boolean }

interface Answer { of: string; epoch: number; lives: Lives }

const tick = (value: number) => Math.min(MOST, Math.max(0, Math.floor(value)));

export class LiveMethods {
	changed: () => void = () => {};
	silent = false;                         // the last request had no answer
	private range: Range = [0, Infinity];
	private method = '';
	private list: Answer | null = null;     // of a range
	private one: Answer | null = null;      // of a method
	private numbers = new Map<string, number>();    // a life of each method that was seen, in numbersOf
	private numbersOf = -1;                 // epoch
	private asked = '';
	private nextAt = -Infinity;             // for the same request
	private soonAt = -Infinity;             // for another one
	private pending = false;
	private timer = 0;

	constructor(private readonly shown: () => Shown | null) {}

	private get place(): string {
		return `${tick(this.range[0])}/${tick(this.range[1])}`;
	}

	/** The last answer to what is wanted. */
	private get answer(): Answer | null {
		const { list, one, method } = this;
		return !method ? list?.of === this.place ? list : null : one?.of === method ? one
			: list && this.isBefore(list) ? list : null;    // nothing else has these lives any more
	}

	private isBefore({ epoch }: Answer): boolean {
		const shown = this.shown();
		return Boolean(shown && shown.epoch !== epoch);
	}

	/** Null: they are on their way, or there is no answer. */
	get lives(): Lives | null {
		return this.answer?.lives ?? null;
	}

	/** The lives are of a recording that was closed since. They stay, but nobody can count their samples any more. */
	get isOld(): boolean {
		return Boolean(this.answer && this.isBefore(this.answer));
	}

	get ended(): boolean {
		return Boolean(this.shown()?.ended);
	}

	/** The panel shows these lives, as of now. Call it each time it is drawn. */
	want(range: Range, method: string): void {
		this.range = range;
		this.method = method;
		clearTimeout(this.timer);
		const shown = this.shown(), { answer } = this;
		if (this.pending || !shown || document.hidden || (answer && (shown.still || this.isOld)))
			return;
		if (this.numbersOf !== shown.epoch) {
			this.numbersOf = shown.epoch;
			this.numbers.clear();
		}
		const number = method ? this.numbers.get(method) : 0;
		const address = `methods/${shown.epoch}/${number ? `0/${MOST}/${number}` : `${this.place}/0`}`;
		const wait = (address === this.asked ? this.nextAt : this.soonAt) - performance.now();
		if (wait > 0)
			this.timer = setTimeout(() => this.changed(), wait + 10);
		else
			void this.ask(address, shown.epoch, number ? method : '', this.place);
	}

	/** The panel is closed. */
	stop(): void {
		clearTimeout(this.timer);
		this.list = this.one = null;
		this.silent = false;
	}

	/** Ask for what is wanted in the recording of now. */
	renew(): void {
		this.stop();
		this.nextAt = -Infinity;
		this.changed();
	}

	private async ask(address: string, epoch: number, method: string, place: string): Promise<void> {
		const begun = performance.now();
		this.pending = true;
		this.asked = address;
		const lives = await this.get(address), now = performance.now();
		this.pending = false;
		this.soonAt = now + PAUSE_MS;
		this.nextAt = now + Math.max(PERIOD_MS, REST * (now - begun));
		this.silent = !lives;
		if (lives)
			this.take({ of: method || place, epoch, lives }, Boolean(method));
		else if (method)
			this.numbers.delete(method);    // that life may be forgotten: another one of the range will do
		this.changed();
	}

	private take(answer: Answer, isMethod: boolean): void {
		const { lives } = answer;
		for (let row = lives.rows - 1; row >= 0 && answer.epoch === this.numbersOf; row--)
			this.numbers.set(methodText(lives, row), lives.number?.[row] ?? 0);
		if (isMethod)
			this.one = answer;
		else
			this.list = answer;
		// A range without the method is an answer, too: it is not known.
		if (!isMethod && this.method && !this.numbers.has(this.method))
			this.one = { ...answer, of: this.method };
	}

	/** The lives, or null: the server is gone or busy, the epoch has ended, or the life is forgotten. */
	private async get(address: string): Promise<Lives | null> {
		try {
			const response = await fetch(address, { cache: 'no-store' }), text = response.ok ? await response.text() : '';
			const answer = text ? JSON.parse(text) : null;
			return answer && readLives(answer.lives, answer.strings);
		} catch {
			return null;
		}
	}
}
