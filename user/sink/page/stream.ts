// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Reads the stream of deltas from the live page's server (user/agent/server/server_message.h), and connects again
// when it breaks.

import { BadDelta } from './delta';

const LATE_MS = 4_000;                  // deltas come twice a second
const SILENT_MS = 15_000;
const AGAIN_MS = 2_000;
const MOST_BYTES = 64 << 20;            // of a delta
const NOT_FOUND = 404, UNAVAILABLE = 503;

/**
 * late: no data come; lost: the connection is tried again; full: the server has too many pages; gone: another run has the
 * address.
 */
export type Connection = 'connecting' | 'live' | 'late' | 'lost' | 'full' | 'gone' | 'ended';

export interface StreamActions {
	begin(): void;                  // a new connection: deltas begin with a snapshot
	delta(bytes: Uint8Array): void; // throws BadDelta to connect again
	connection(state: Connection): void;
}

/** Splits a stream into deltas. Returns true after the mark of the end of the run. */
export class Splitter {
	private bytes = new Uint8Array(1 << 16);
	private size = 0;

	constructor(private readonly delta: (bytes: Uint8Array) => void) {}

	add(chunk: Uint8Array): boolean {
		if (this.size + chunk.length > this.bytes.length) {
			const larger = new Uint8Array(2 * (this.size + chunk.length));
			larger.set(this.bytes.subarray(0, this.size));
			this.bytes = larger;
		}
		this.bytes.set(chunk, this.size);
		this.size += chunk.length;
		let at = 0;
		for (; this.size - at >= 4;) {
			const size = new DataView(this.bytes.buffer, at).getUint32(0, true);
			if (!size)
				return true;
			if (size > MOST_BYTES)
				throw new BadDelta('a delta is too large');
			if (this.size - at - 4 < size)
				break;
			this.delta(this.bytes.subarray(at + 4, at + 4 + size));
			at += 4 + size;
		}
		this.bytes.copyWithin(0, at, this.size);
		this.size -= at;
		return false;
	}
}

/** The result, or null if the connection is broken. */
async function unlessBroken<T>(result: Promise<T>): Promise<T | null> {
	try {
		return await result;
	} catch {
		return null;
	}
}

/** Returns 'ended', or 'lost' if the deltas are damaged or the connection is broken. */
async function readChunks(reader: ReadableStreamDefaultReader<Uint8Array>, actions: StreamActions,
	heard: () => void): Promise<Connection> {
	const splitter = new Splitter(bytes => actions.delta(bytes));
	for (;;) {
		const chunk = await unlessBroken(reader.read());
		if (!chunk || chunk.done)
			return 'lost';
		heard();
		actions.connection('live');
		try {
			if (splitter.add(chunk.value))
				return 'ended';
		} catch (error) {
			if (!(error instanceof BadDelta))
				throw error;
			return 'lost';
		}
	}
}

/** Read one connection. Returns how it has ended. */
async function readOnce(actions: StreamActions): Promise<Connection> {
	const abort = new AbortController(), timers = [0, 0];
	const quiet = () => timers.forEach(timer => clearTimeout(timer));
	const heard = () => {
		quiet();
		timers[0] = setTimeout(() => abort.abort(), SILENT_MS);
	};
	heard();
	const response = await unlessBroken(fetch('deltas', { cache: 'no-store', signal: abort.signal }));
	let end: Connection = response?.status === NOT_FOUND ? 'gone' : response?.status === UNAVAILABLE ? 'full' : 'lost';
	if (response?.ok && response.body) {
		actions.begin();
		end = await readChunks(response.body.getReader(), actions, () => {
			heard();
			timers[1] = setTimeout(() => actions.connection('late'), LATE_MS);
		});
	}
	quiet();
	abort.abort();
	return end;
}

/** Returns when no more deltas will come. */
export async function follow(actions: StreamActions): Promise<void> {
	actions.connection('connecting');
	for (;;) {
		const end = await readOnce(actions);
		actions.connection(end);
		if (end === 'ended' || end === 'gone')
			return;
		await new Promise(done => setTimeout(done, AGAIN_MS));
	}
}
