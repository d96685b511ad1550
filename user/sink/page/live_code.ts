// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The JIT code of a live profile by time.

import type { CodeLane } from './data';
import type { EventSamples } from './delta_samples';

const MOST_NAMED = 7;                   // engines with a name (user/profile/code_lane.h)

export function codeLane({ code, strings }: EventSamples): CodeLane {
	const bins = Object.keys(code.bins).map(Number), { engines } = code;
	return {
		ticks: code.ticks, rows: bins.length, bin: Uint32Array.from(bins),
		engines: engines.map((name, i) => i < MOST_NAMED ? strings[name] || '[unknown]' : 'others'),
		loads: Uint32Array.from(bins, bin => code.bins[bin].loads), unloads: Uint32Array.from(bins, bin => code.bins[bin].unloads),
		live: Float64Array.from(bins.flatMap(bin => engines.map((_, k) => code.bins[bin].live[k] ?? 0))),
	};
}
