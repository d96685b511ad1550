// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Formatting of numbers and names, and elements that contain only text.

const LONGEST = 4000;

/**
 * Names are untrusted. Invisible characters and bidirectional controls are shown as escapes, and long names are cut.
 */
export function visible(s: string): string {
	const cut = s.length > LONGEST ? `${s.slice(0, LONGEST)}… (${number(s.length)} characters)` : s;
	return cut.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, c => '\\u{' + c.codePointAt(0)!.toString(16) + '}');
}

// Characters that can disguise a name, as utf8_is_control() in user/base/utf8.h has them.
const DISGUISES = '\\0-\\x1f\\x7f-\\x9f\\xad\\u061c\\u180e\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff' +
	'\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}';
const CONTROLS = new RegExp(`[${DISGUISES}]`, 'gu'), ESCAPED = new RegExp(`[<>&${DISGUISES}]`, 'gu');

/** For files: the name with a question mark for each of these characters. */
export const withoutControls = (name: string) => name.replace(CONTROLS, '?');

/** JSON in which these characters, and those of markup, are escapes. */
export const jsonOf = (value: unknown) => JSON.stringify(value).replace(ESCAPED, c =>
	c.split('').map(unit => '\\u' + unit.charCodeAt(0).toString(16).padStart(4, '0')).join(''));

/** The name in so many letters. Of a long one, the middle is left out. */
export function shortened(name: string, room: number): string {
	if (name.length <= room)
		return name;
	if (room < 12)
		return name.slice(0, room - 1) + '…';
	const end = Math.floor(room / 3);
	return name.slice(0, room - 1 - end) + '…' + name.slice(-end);
}

const english = new Intl.NumberFormat('en-US');

export const number = (n: number) => english.format(n);

/** Shares near 0 and 100 % get enough digits to differ from these. */
export function percent(part: number, whole: number): string {
	const p = whole ? 100 * part / whole : 0;
	return p.toFixed(p > 99.95 && p < 100 ? 3 : p && p < 1 ? 2 : 1) + ' %';
}

export const signed = (n: number, text: string) => (n > 0 ? '+' : n < 0 ? '\u2212' : '\u00b1') + text;

export const plural = (n: number, word: string) => `${number(n)} ${word}${n === 1 ? '' : 's'}`;

export function bytes(n: number): string {
	const units = ['B', 'KB', 'MB', 'GB', 'TB'];
	let unit = 0;
	for (; n >= 1000 && unit < 4; unit++)
		n /= 1000;
	return `${n.toFixed(unit ? 1 : 0)} ${units[unit]}`;
}

export const byId = <T extends HTMLElement = HTMLElement>(id: string) => document.getElementById(id) as T;

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, text = '', className = '',
	...children: (Node | string)[]): HTMLElementTagNameMap[K] {
	const e = document.createElement(tag);
	e.textContent = text;
	if (className)
		e.className = className;
	e.append(...children);
	return e;
}

export function swatch(colour: string): HTMLElement {
	const e = element('span', '', 'swatch');
	e.style.background = colour;
	return e;
}
