// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The trees that the graphs show: all frames, callers, or the two halves of a sandwich. Each is made once; later
// samples are added to it.

import { Callers } from './callers';
import { Sandwich } from './sandwich';
import type { LabelOrder, Changes, Tree } from './tree';

/**
 * Selects the trees. `zoom`: the path that the tree of callers is made for; `centre`: a label of the function of a sandwich,
 * or -1.
 */
export interface Wanted { base: Tree; callers: boolean; zoom: number[]; sandwich: string; centre: number; isCentre: (label: number) => boolean;
	order: LabelOrder }

export class Pictures {
	private base: Tree | null = null;
	private key = '';
	private sandwich: Sandwich | null = null;
	private callers: Callers | null = null;

	/** `changes`: samples that were added to the base, if there are no other changes since the last call. */
	update({ base, callers, zoom, sandwich, centre, isCentre, order }: Wanted, changes: Changes | null): void {
		const key = centre >= 0 ? `sandwich ${sandwich}` : callers ? `callers ${zoom}` : '';
		if (changes && base === this.base && key === this.key) {
			this.sandwich?.add(changes);
			this.callers?.add(changes);
			return;
		}
		this.base = base;
		this.key = key;
		this.sandwich = centre >= 0 ? new Sandwich(base, centre, isCentre, order) : null;
		this.callers = centre < 0 && callers ? new Callers(base, zoom) : null;
	}

	get tree(): Tree {
		return (this.sandwich?.callers ?? this.callers)?.tree ?? this.base!;
	}

	get callees(): Tree | null {
		return this.sandwich?.callees ?? null;
	}
}
