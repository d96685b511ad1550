// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The lives of JIT code (user/sink/format/page_lives.h), and the methods that were loaded or ended in a range of time.

import { functionText } from './path_text';

interface LeftOut { lives: number; bytes: number }

/** Columns by life. Times are in ns since the start, plus 1. */
export interface Lives {
	rows: number;
	strings: string[];
	name: Uint32Array; module: Uint32Array; comm: Uint32Array;      // strings
	pid: Uint32Array;
	address: Float64Array;
	bytes: Float64Array;
	loaded: Float64Array;           // 0: before the run
	ended: Float64Array;            // 0: still in force
	samples: Float64Array;          // in its own instructions
	number: Uint32Array | null;     // of the life, in the answers of a live page's server
	leftOut: LeftOut;               // no room in the table
	forgotten: LeftOut;             // no room while it was recorded
}

/** The lives of one method of a process. */
export interface Method {
	rows: number[];
	loads: number;                  // in the range
	ends: number;
	bytes: number;                  // bytes of its code that was loaded or ended there
	samples: number;                // of the same code
}

/** The methods with loads or ends in [from, to), in ns: most samples first, then the largest. */
export function methodsIn(lives: Lives, from: number, to: number): Method[] {
	const found = new Map<string, Method>(), isIn = (time: number) => time > 0 && time - 1 >= from && time - 1 < to;
	for (let row = 0; row < lives.rows; row++) {
		const loaded = isIn(lives.loaded[row]), ended = isIn(lives.ended[row]);
		if (!loaded && !ended)
			continue;
		const key = `${lives.name[row]} ${lives.module[row]} ${lives.comm[row]} ${lives.pid[row]}`;
		let method = found.get(key);
		if (!method)
			found.set(key, method = { rows: [], loads: 0, ends: 0, bytes: 0, samples: 0 });
		method.rows.push(row);
		method.loads += Number(loaded);
		method.ends += Number(ended);
		method.bytes += lives.bytes[row];
		method.samples += lives.samples[row];
	}
	return [...found.values()].sort((a, b) => b.samples - a.samples || b.bytes - a.bytes || a.rows[0] - b.rows[0]);
}

/** The text of a method in addresses: that of its function in the code pane. */
export function methodText({ strings, name, module }: Lives, row: number): string {
	return functionText(strings[name[row]], strings[module[row]]);
}

/** Lives of all methods with a text, in order of time. */
export function livesOf(lives: Lives, text: string): number[] {
	const texts = new Map<string, boolean>(), rows: number[] = [];
	for (let row = 0; row < lives.rows; row++) {
		const key = `${lives.name[row]} ${lives.module[row]}`;
		let same = texts.get(key);
		if (same === undefined)
			texts.set(key, same = methodText(lives, row) === text);
		if (same)
			rows.push(row);
	}
	return rows.sort((a, b) => lives.loaded[a] - lives.loaded[b] || a - b);
}

/** How long a life is, in ns, or null if one of its ends is not in the run. */
export const lengthOf = ({ loaded, ended }: Lives, row: number) => loaded[row] && ended[row] ? ended[row] - loaded[row] : null;

/** A life in an address, for the code pane. */
export const generationText = ({ address, loaded }: Lives, row: number) =>
	`0x${address[row].toString(16)}@${loaded[row] ? loaded[row] - 1 : ''}`;
