// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The samples of a profile by time (user/profile/time_slices.h): slices, each of a tick and a row of the profile's
// counts. Old ticks are longer than new ones.

export interface Slices {
	tickNs: number;
	rows: number;
	tick: Uint32Array;      // these three may be longer than `rows`
	count: Uint32Array;
	samples: Uint32Array;
	version: number;        // changes when existing slices change, and differs for each profile
	ends: number[];         // ticks below ends[i] are at least 2^(i+1) ticks long
}

export const TICK_NS = 50e6;           // of a live profile
export const LEVELS = 24;

export function noSlices(): Slices {
	return { tickNs: TICK_NS, rows: 0, tick: new Uint32Array(0), count: new Uint32Array(0), samples: new Uint32Array(0), ends: [], version: 0 };
}

/** Returns the length of a tick: it begins at a multiple of it. */
export function lengthOf(ends: number[], tick: number): number {
	let length = 1;
	for (let i = 0; i < ends.length && tick < ends[i]; i++)
		length *= 2;
	return length;
}

let versions = 0;

/** The slices of a live profile, as they come. A copy of `list` stays as it is: its arrays are only added to. */
export class SliceList {
	readonly list = { ...noSlices(), version: ++versions };

	/** Continue in new arrays. */
	private renew(size: number): void {
		const { list } = this;
		for (const key of ['tick', 'count', 'samples'] as const) {
			const other = new Uint32Array(size);
			other.set(list[key].subarray(0, list.rows));
			list[key] = other;
		}
	}

	add(tick: number, count: number, samples: number): void {
		const { list } = this;
		if (list.rows === list.tick.length)
			this.renew(Math.max(1024, 2 * list.rows));
		list.tick[list.rows] = tick;
		list.count[list.rows] = count;
		list.samples[list.rows++] = samples;
	}

	clear(): void {
		this.list.rows = 0;
		this.renew(0);
		this.list.version = ++versions;
	}

	/**
	 * Fold slices, since old ticks have become longer: equal ticks and counts are added up, except for some that came
	 * late.
	 */
	follow(ends: number[], counts: number): void {
		const { list } = this, { rows } = list, latest = new Int32Array(counts).fill(-1);
		this.renew(list.tick.length);
		const { tick, count, samples } = list;
		list.ends = ends;
		list.rows = 0;
		for (let i = 0; i < rows; i++) {
			const first = tick[i] - tick[i] % lengthOf(ends, tick[i]), same = latest[count[i]];
			if (same >= 0 && tick[same] === first && samples[same] + samples[i] < 2 ** 32) {
				samples[same] += samples[i];
				continue;
			}
			latest[count[i]] = list.rows;
			this.add(first, count[i], samples[i]);
		}
		list.version = ++versions;
	}
}
