// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The lane of JIT code on the time line: loads above a line and unloads below it; under them, live bytes by engine.

import { changeColour } from './colour';
import type { CodeLane } from './data';
import { bytes, plural, visible } from './text';
import type { Range } from './time_range';

const EVENTS = 22, LIVE = 26;
export const LANE = EVENTS + LIVE;      // height

const sumOf = (live: Float64Array, row: number, engines: number) => {
	let sum = 0;
	for (let i = 0; i < engines; i++)
		sum += live[row * engines + i];
	return sum;
};

/** Loads and unloads, as far as they are visible at all; the square root shows single ones beside storms. */
function drawEvents(pen: CanvasRenderingContext2D, lane: CodeLane, top: number, xOf: (tick: number) => number): void {
	let most = 1;
	for (let i = 0; i < lane.rows; i++)
		most = Math.max(most, lane.loads[i], lane.unloads[i]);
	const high = (n: number) => n ? Math.max(1, (EVENTS / 2 - 1) * Math.sqrt(n / most)) : 0, middle = top + EVENTS / 2;
	for (let i = 0; i < lane.rows; i++) {
		const x = xOf(lane.bin[i] * lane.ticks), wide = Math.max(1.5, xOf((lane.bin[i] + 1) * lane.ticks) - x);
		pen.fillStyle = changeColour(1);
		pen.fillRect(x, middle - high(lane.loads[i]), wide, high(lane.loads[i]));
		pen.fillStyle = changeColour(-1);
		pen.fillRect(x, middle + 1, wide, high(lane.unloads[i]));
	}
}

/** Engines are stacked; each has another strength of the same colour, and a line above it. */
function drawLive(pen: CanvasRenderingContext2D, lane: CodeLane, top: number, end: number, xOf: (tick: number) => number,
	colour: string): void {
	const engines = lane.engines.length, bottom = top + LIVE;
	let most = 1;
	for (let i = 0; i < lane.rows; i++)
		most = Math.max(most, sumOf(lane.live, i, engines));
	pen.fillStyle = colour;
	for (let i = 0; i < lane.rows; i++) {
		const x = Math.floor(xOf(lane.bin[i] * lane.ticks));
		const next = i + 1 < lane.rows ? Math.floor(xOf(lane.bin[i + 1] * lane.ticks)) : end;
		let y = bottom;
		for (let k = 0; k < engines; k++) {
			const high = (LIVE - 2) * lane.live[i * engines + k] / most;
			pen.globalAlpha = .35 + .55 * ((k + 1) % 3) / 2;
			pen.fillRect(x, y - high, Math.max(1, next - x), high);
			y -= high;
		}
	}
	pen.globalAlpha = 1;
}

export function drawLane(pen: CanvasRenderingContext2D, lane: CodeLane, top: number, end: number, xOf: (tick: number) => number,
	colours: { live: string; line: string }): void {
	pen.fillStyle = colours.line;
	pen.fillRect(0, top + EVENTS / 2, end, 1);
	drawEvents(pen, lane, top, xOf);
	drawLive(pen, lane, top + EVENTS, end, xOf, colours.live);
}

/** The range of the bin at x, or of the nearest one within `near`: bins can be narrow. Null: there is none. */
export function nearestBin(lane: CodeLane, x: number, near: number, xOf: (tick: number) => number): Range | null {
	let least = near, found: Range | null = null;
	for (let i = 0; i < lane.rows; i++) {
		const range: Range = [lane.bin[i] * lane.ticks, (lane.bin[i] + 1) * lane.ticks], left = xOf(range[0]), right = xOf(range[1]);
		const away = x < left ? left - x : x > right ? x - right : 0;
		if (away < least || (away === 0 && !found)) {
			least = away;
			found = range;
		}
	}
	return found;
}

/** What a range has: loads, unloads and, at its end, live code. Empty without JIT code. */
export function codeWords(lane: CodeLane, [from, to]: Range): string[] {
	let loads = 0, unloads = 0, last = -1;
	for (let i = 0; i < lane.rows && lane.bin[i] * lane.ticks < to; i++) {
		last = i;
		if ((lane.bin[i] + 1) * lane.ticks <= from)
			continue;
		loads += lane.loads[i];
		unloads += lane.unloads[i];
	}
	if (!lane.rows)
		return [];
	const count = lane.engines.length, live = lane.engines.map((name, k) => ({ name, bytes: last < 0 ? 0 : lane.live[last * count + k] }))
		.filter(engine => engine.bytes).sort((a, b) => b.bytes - a.bytes);
	return [`${plural(loads, 'JIT load')}, ${plural(unloads, 'unload')}`,
		'live JIT code: ' + (live.map(engine => `${visible(engine.name)} ${bytes(engine.bytes)}`).join(', ') || 'none')];
}
