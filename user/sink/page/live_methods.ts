// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The lives of JIT code that the panel of methods of a live page shows, from the page's server (user/run/page/methods_answer.h).

import { readLives } from './data';
import { methodText, type Lives } from './lives';
import type { Range } from './time_range';

const PERIOD_MS = 2000;         // for the same lives,
const REST = 4;                 // but at least this many times the time that the answer took
const PAUSE_MS = 150;           // from a request to the next
const MOST = 0xffffffff;        // the largest number in a request; as a tick: no end

/** Epoch of the shown version. of: what addresses of the samples of its event begin with. still: the page shows no newer versions now; ended: no more data come. */
export interface Shown { epoch: number; of?: string; still: boolean; ended: boolean }

interface Answer { of: string; epoch: number; lives: Lives }

const tick = (value: number) => Math.min(MOST, Math.max(0, Math.floor(value)));

export class LiveMethods {
	changed: () => void = () => {};
	silent = false;                         // the last request had no answer
	private range: Range = [0, Infinity];
	private method = '';
	private list: Answer | null = null;     // of a range
	private one: Answer | null = null;      // of a method
	private numbers = new Map<string, number>();    // number of a life of each known method, in epoch numbersOf
	private numbersOf = -1;                 // epoch
	private asked = '';
	private nextAt = -Infinity;             // for the same request
	private soonAt = -Infinity;             // for another one
	private pending = false;
	private timer = 0;
	private of: string | undefined;

	constructor(private readonly shown: () => Shown | null) {}

	private get place(): string {
		return `${tick(this.range[0])}/${tick(this.range[1])}`;
	}

	/** The last answer to what is wanted. */
	private get answer(): Answer | null {
		const { list, one, method } = this;
		return !method ? list?.of === this.place ? list : null : one?.of === method ? one
			: list && this.isBefore(list) ? list : null;    // no other answer can have these lives
	}

	private isBefore({ epoch }: Answer): boolean {
		const shown = this.shown();
		return Boolean(shown && shown.epoch !== epoch);
	}

	/** Null: they are on their way, or there is no answer. */
	get lives(): Lives | null {
		return this.answer?.lives ?? null;
	}

	/**
	 * True if the lives are of a recording that was closed since. They stay, but their samples are no longer counted.
	 */
	get isOld(): boolean {
		return Boolean(this.answer && this.isBefore(this.answer));
	}

	get ended(): boolean {
		return Boolean(this.shown()?.ended);
	}

	/** Request the lives that the panel shows. Call it each time the panel is drawn. */
	want(range: Range, method: string): void {
		this.range = range;
		this.method = method;
		clearTimeout(this.timer);
		const shown = this.shown();
		if (shown && shown.of !== this.of) {    // samples of another event
			this.of = shown.of;
			this.list = this.one = null;
			this.nextAt = -Infinity;
		}
		const { answer } = this;
		if (this.pending || !shown || document.hidden || (answer && (shown.still || this.isOld)))
			return;
		if (this.numbersOf !== shown.epoch) {
			this.numbersOf = shown.epoch;
			this.numbers.clear();
		}
		const number = method ? this.numbers.get(method) : 0;
		const address = `${shown.of ?? ''}methods/${shown.epoch}/${number ? `0/${MOST}/${number}` : `${this.place}/0`}`;
		const wait = (address === this.asked ? this.nextAt : this.soonAt) - performance.now();
		if (wait > 0)
			this.timer = setTimeout(() => this.changed(), wait + 10);
		else
			void this.ask(address, shown.epoch, number ? method : '', this.place);
	}

	/** Forget the answers, and request no more: the panel is closed. */
	stop(): void {
		clearTimeout(this.timer);
		this.list = this.one = null;
		this.silent = false;
	}

	/** Request the same lives in the present recording. */
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
			this.numbers.delete(method);    // the recorder may have forgotten that life: take another life of the method from the range
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
		// If the range does not have the method, the method is not known: that is an answer, too.
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
