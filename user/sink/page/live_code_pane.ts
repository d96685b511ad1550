// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The code of the function that the code pane of a live page shows, from the page's server (user/run/page/code_answer.h).

import { generationIndex, type Annotation, type CodeFunction, type Functions, type Generation } from './code_data';

const PERIOD_MS = 1000;         // for the same generation
const PAUSE_MS = 150;           // from a request to the next
const MOST_CODES = 50;          // generations whose code is remembered

interface Answer { total: number; shown: number; function: CodeFunction }

export class LiveCode {
	functions: Functions | null = null;             // of the last answer, for `wanted`
	state: 'asking' | 'known' | 'none' = 'asking';
	changed: () => void = () => {};
	private wanted = '';
	private asked = '';
	private askedAt = -Infinity;
	private pending = false;
	private timer = 0;
	private readonly codes = new Map<string, Annotation>();         // by generation; of a runtime, by file

	/** address: returns the server's address for a label, or null if no sample was taken in that function. */
	constructor(private readonly address: (label: number) => string | null) {}

	/** Request the code of the function that the pane shows; "": none. Call it each time the pane is drawn. */
	want(text: string, labels: number[], generation: string): void {
		if (text !== this.wanted) {
			this.wanted = text;
			this.functions = null;
			this.state = 'asking';
			this.codes.clear();
		}
		clearTimeout(this.timer);
		if (!text || this.pending)
			return;
		const address = labels.map(label => this.address(label)).find(Boolean), asking = `${address}/${this.numberOf(generation)}`;
		if (!address) {
			this.state = 'none';
			return;
		}
		const wait = this.askedAt + (asking === this.asked ? PERIOD_MS : PAUSE_MS) - performance.now();
		if (wait > 0) {
			this.timer = setTimeout(() => this.changed(), wait + 10);
			return;
		}
		this.asked = asking;
		this.askedAt = performance.now();
		void this.ask(text, asking);
	}

	/**
	 * The number of a generation. The generation of a life is looked up in the last answer. 0: the generation with most
	 * samples.
	 */
	private numberOf(generation: string): number {
		const found = this.functions?.list[0];
		return found && generation.includes('@') ? generationIndex(found, generation) + 1 : Number(generation) || 0;
	}

	private async ask(text: string, address: string): Promise<void> {
		this.pending = true;
		const answer = await this.get(address);
		this.pending = false;
		if (text === this.wanted && answer)
			this.take(answer);
		else if (text === this.wanted && this.state === 'asking')
			this.state = 'none';
		if (this.wanted)
			this.changed();
	}

	/** The answer, or null: the server is gone or busy, or the recorder has no such function. */
	private async get(address: string): Promise<Answer | null> {
		try {
			const response = await fetch(address, { cache: 'no-store' });
			return response.ok ? await response.json() as Answer : null;
		} catch {
			return null;
		}
	}

	/**
	 * Take an answer. The code of a generation never changes, so the code of other generations is kept, with the samples
	 * of that time.
	 */
	private take({ total, shown, function: found }: Answer): void {
		const key = ({ name, address, loaded_ns: loaded }: Generation) => address === undefined ? `${name}` : `${address} ${loaded}`;
		for (const generation of found.generations) {
			if (generation.code) {
				this.codes.delete(key(generation));
				this.codes.set(key(generation), generation.code);
			} else if (this.codes.has(key(generation))) {
				generation.code = this.codes.get(key(generation))!;
			}
		}
		for (const old of this.codes.keys())
			if (this.codes.size > MOST_CODES)
				this.codes.delete(old);
		found.shown = shown;
		this.functions = { total, left_out: 0, max_bytes: 0, list: [found] };
		this.state = 'known';
	}
}
