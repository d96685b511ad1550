// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Colours of frames: by kind or, in a difference, by change.

import { INLINED, INTERPRETED, KIND_ROWS, PROCESS, UNKNOWN, kindLabel, plainKind, type Hsl } from './kinds';
import type { Names } from './names';

interface Palette { kinds: Record<string, Hsl>; step: number; ink: string; page: string; strip: string;
	grown: Hsl; shrunk: Hsl; same: number;
	modules: Hsl[] }

// Each colour of a kind has three shades, so that neighbours can be distinguished. In a difference, red and blue, and
// their strengths, can be distinguished with any colour blindness.
const ofKinds = (key: 'light' | 'dark') => Object.fromEntries(KIND_ROWS.map(kind => [kind.label, kind[key]]));
const LIGHT: Palette = {
	kinds: { ...ofKinds('light'), inlined: [309, 40, 62], process: [215, 12, 90] },
	step: 2.5, ink: '#16181a', page: '#ffffff', strip: '#e4e6e9', grown: [10, 88, 64], shrunk: [212, 82, 66], same: 92,
	modules: [[41, 92, 64], [202, 80, 74], [164, 52, 52], [56, 80, 62], [217, 78, 76], [18, 88, 70], [320, 52, 78]],
};
const DARK: Palette = {
	kinds: { ...ofKinds('dark'), inlined: [304, 44, 32], process: [215, 10, 22] },
	step: 1.5, ink: '#f4f5f6', page: '#121416', strip: '#2b2f33', grown: [8, 72, 40], shrunk: [214, 72, 46], same: 24,
	modules: [[38, 88, 26], [202, 74, 34], [164, 74, 22], [54, 72, 20], [222, 60, 48], [16, 74, 34], [322, 48, 38]],
};

export const dark = matchMedia('(prefers-color-scheme: dark)');
let current = dark.matches ? DARK : LIGHT;      // the query is slow
dark.addEventListener('change', () => { current = dark.matches ? DARK : LIGHT; });
export const palette = () => current;
/** Kinds that the legend has only if there are samples of them. */
export const RARE = KIND_ROWS.slice(INTERPRETED).map(kind => kind.label);
export const LEGEND = [...KIND_ROWS.slice(UNKNOWN + 1, INTERPRETED).map(kind => kind.label), 'inlined', ...RARE, KIND_ROWS[UNKNOWN].label];
export const colourKey = (kind: number) => kind & INLINED ? 'inlined' : kindLabel(kind);

export function kindColour(key: string, shade: number): string {
	const { kinds, step } = palette(), [h, s, l] = kinds[key] ?? kinds[KIND_ROWS[UNKNOWN].label];
	return `hsl(${h} ${s}% ${l + (shade - 1) * step}%)`;
}

export function shadeOf(name: string): number {
	let hash = 0;
	for (let i = 0; i < name.length; i++)
		hash = (Math.imul(hash, 31) + name.charCodeAt(i)) >>> 0;
	return hash % 3;
}

/** change: -1 (all samples are gone) to 1 (all are new). The square root makes small changes visible. */
export function changeColour(change: number): string {
	const { grown, shrunk, same } = palette(), [h, s, l] = change > 0 ? grown : shrunk;
	const strength = Math.round(8 * Math.sqrt(Math.min(1, Math.abs(change)))) / 8;
	return `hsl(${h} ${s * strength}% ${same + (l - same) * strength}%)`;
}

/** Colours of modules. Each module with many samples gets a colour of its own, and keeps it; the others are grey. */
export class ModuleColours {
	private readonly places = new Map<string, number>();

	constructor(private readonly names: Names) {}

	/** What a label counts as: its module or, of code without one, its kind. */
	key(label: number): string {
		const { names } = this;
		return plainKind(names.kind(label)) === PROCESS ? 'process' : names.module(label).split('/').pop() || names.kindWords(label);
	}

	/** Give the free colours to modules, those with most samples first. */
	assign(samples: [string, number][]): void {
		for (const [key] of samples)
			if (this.places.size < palette().modules.length && !this.places.has(key) && key !== 'process')
				this.places.set(key, this.places.size);
	}

	has(key: string): boolean {
		return this.places.has(key);
	}

	ofKey(key: string, shade: number): string {
		const { modules, kinds, step } = palette(), [h, s, l] = key === 'process' ? kinds.process
			: modules[this.places.get(key) ?? -1] ?? kinds['unknown kind'];
		return `hsl(${h} ${s}% ${l + (shade - 1) * step}%)`;
	}

	colour(label: number): string {
		return this.ofKey(this.key(label), shadeOf(this.names.name(label)));
	}
}
