// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Texts of labels and source lines, computed on first use.

import { INLINED, KINDS, PROCESS, type Profile } from './data';
import { visible } from './text';

export class Names {
	private readonly names: string[] = [];

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
