// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The axis below the strip: times since the begin of the run. The text of a time does not depend on the length of the
// run, and each step is a multiple of the one before. So while a live run grows, labels disappear but never change.

import { element } from './text';

const MINUTE = 60, HOUR = 3600, DAY = 86400;
const STEPS = [.05, .1, .5, 1, 5, 10, 30, MINUTE, 5 * MINUTE, 10 * MINUTE, 30 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY];
const LETTER = 6, SPACE = 24;           // pixels: of a letter at most, and between labels

const two = (n: number) => String(n).padStart(2, '0');

/** "0.5 s", "1:05" (minutes and seconds), "1:05 h" (hours and minutes). */
export function timeText(seconds: number): string {
	const whole = Math.round(seconds);
	return seconds < MINUTE ? `${Math.round(seconds * 100) / 100} s`
		: seconds < HOUR ? `${Math.floor(whole / MINUTE)}:${two(whole % MINUTE)}`
			: `${Math.floor(whole / HOUR)}:${two(Math.floor(whole % HOUR / MINUTE))} h`;
}

const wideOf = (time: number) => timeText(time).length * LETTER;

/** The times with a label, of so many seconds on so many pixels. A label is right of its time. */
export function axisTimes(seconds: number, width: number): number[] {
	for (let i = 0, step = STEPS[0]; width > 0; step = STEPS[++i] ?? 2 * step) {
		const scale = width / seconds;
		if (step * scale < SPACE)
			continue;
		const times = Array.from({ length: Math.floor(seconds / step) + 1 }, (_, n) => n * step);
		if (times.every(time => wideOf(time) + SPACE <= step * scale))
			return times.filter(time => time * scale + wideOf(time) <= width);
	}
	return [];
}

export function showAxis(box: HTMLElement, seconds: number, width: number): void {
	box.replaceChildren(...axisTimes(seconds, width).map(time => {
		const label = element('span', timeText(time));
		label.style.left = `${time / seconds * width}px`;
		return label;
	}));
}
