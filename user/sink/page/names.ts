// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Texts of labels and source lines, computed on first use.

import type { Profile } from './data';
import { INLINED, KINDS, PROCESS } from './kinds';
import { visible } from './text';

export class Names {
	private readonly names: string[] = [];
	private readonly several = new Set<number>();   // functions whose code has several names
	private readonly called = new Set<number>();    // functions with code that is not inlined
	private known = 0;              // labels in these sets

	constructor(private readonly profile: Profile) {}

	get labels(): number {
		return this.profile.labels.rows;
	}

	/** The name as in the profile, for searches. */
	raw(label: number): string {
		return this.profile.strings[this.profile.labels.name[label]];
	}

	rawModule(label: number): string {
		return this.profile.strings[this.profile.labels.module[label]];
	}

	/** The first label of a label's function, which stands for the function. */
	functionOf(label: number): number {
		return this.profile.labels.function[label];
	}

	private noteFunctions(): void {
		const { labels } = this.profile;
		for (; this.known < labels.rows; this.known++) {
			const { known: label } = this, first = labels.function[label];
			if (labels.name[label] !== labels.name[first])
				this.several.add(first);
			if (!(labels.kind[label] & INLINED))
				this.called.add(first);
		}
	}

	/** The name of a function: that of its code, if there is one. */
	functionName(first: number): string {
		const { labels, strings } = this.profile;
		this.noteFunctions();
		return this.several.has(first) ? visible(strings[labels.plain[first]]) : this.name(first);
	}

	/** The name of a label's function without what differs between its code, for searches. */
	plain(label: number): string {
		return this.profile.strings[this.profile.labels.plain[label]];
	}

	functionKindWords(first: number): string {
		this.noteFunctions();
		return this.called.has(first) ? KINDS[this.kind(first) & 7] : this.kindWords(first);
	}

	name(label: number): string {
		return this.names[label] ??= visible(this.raw(label));
	}

	kind(label: number): number {
		return this.profile.labels.kind[label];
	}

	kindWords(label: number): string {
		const kind = this.kind(label);
		return label === 0 ? 'everything' : (kind & INLINED ? 'inlined ' : '') + KINDS[kind & 7];
	}

	module(label: number): string {
		return visible(this.rawModule(label));
	}

	kindLine(label: number): string {
		return this.kind(label) === PROCESS ? this.kindWords(label) : `${this.kindWords(label)} · ${this.module(label)}`;
	}

	source(source: number): string {
		const { file, line } = this.profile.sources, path = this.profile.strings[file[source]];
		return path && visible(path) + (line[source] ? ':' + line[source] : '');
	}
}
