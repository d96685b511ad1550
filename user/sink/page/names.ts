// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Texts of labels and source lines, computed on first use.

import type { Profile } from './data';
import { INLINED, JIT, PROCESS, functionKind, kindLabel, plainKind } from './kinds';
import { SameNames } from './same_names';
import { visible } from './text';

const kindWords = (kind: number) => (kind & INLINED ? 'inlined ' : '') + kindLabel(kind);

export class Names {
	/** Trees have a frame for all code of a function (shaped.ts), so names and kinds are those of functions. */
	merged = true;
	private readonly names: string[] = [];
	private readonly plains: string[] = [];         // by function
	private readonly several = new Set<number>();   // functions whose code has several names
	private readonly called = new Set<number>();    // functions with code that is not inlined
	private readonly compiled = new Set<number>();  // functions with JIT code
	private readonly same = new SameNames();        // of functions
	private known = 0;              // labels in these sets

	constructor(private readonly profile: Profile) {}

	get labels(): number {
		return this.profile.labels.rows;
	}

	/** Whether a function has code with several labels. */
	get hasTwins(): boolean {
		const { labels } = this.profile;
		return labels.function.subarray(0, labels.rows).some((first, label) => first !== label);
	}

	/** The name of code as in the profile, for searches. */
	raw(label: number): string {
		return this.profile.strings[this.profile.labels.name[label]];
	}

	/** What identifies a label of a tree, with the module and the kind. */
	key(label: number): string {
		return this.merged ? this.plain(label) : this.raw(label);
	}

	rawModule(label: number): string {
		return this.profile.strings[this.profile.labels.module[label]];
	}

	/** The first label of a label's function, which stands for the function. */
	functionOf(label: number): number {
		return this.profile.labels.function[label];
	}

	/** The label that a tree has for code. */
	shown(label: number): number {
		return this.merged ? this.functionOf(label) : label;
	}

	private noteFunctions(): void {
		const { labels } = this.profile;
		for (; this.known < labels.rows; this.known++) {
			const { known: label } = this, first = labels.function[label];
			if (label === first)
				this.same.add(this.sameKey(first), this.file(first));
			if (labels.name[label] !== labels.name[first])
				this.several.add(first);
			if (!(labels.kind[label] & INLINED))
				this.called.add(first);
			if (plainKind(labels.kind[label]) === JIT)
				this.compiled.add(first);
		}
	}

	/** The source file that tells a label's function apart, '' if there is none. */
	file(label: number): string {
		const { labels: { file }, strings } = this.profile;
		return file ? strings[file[label]] : '';
	}

	private sameKey(first: number): string {
		return `${this.plain(first)}\n${this.rawModule(first)}\n${functionKind(this.ownKind(first))}`;
	}

	/** The name of a function: that of its code, if there is one. With its file, if only that tells it apart. */
	functionName(first: number): string {
		const { labels, strings } = this.profile;
		this.noteFunctions();
		const name = this.several.has(first) ? this.plains[first] ??= visible(strings[labels.plain[first]]) : this.whole(first);
		const file = this.same.file(this.sameKey(first), this.file(first));
		return file ? `${name} of ${visible(file)}` : name;
	}

	/** The name of a label's function without what differs between its code, for searches. */
	plain(label: number): string {
		return this.profile.strings[this.profile.labels.plain[label]];
	}

	private functionKind(first: number): number {
		const kind = this.ownKind(first);
		this.noteFunctions();
		return (this.compiled.has(first) ? JIT : plainKind(kind)) | (this.called.has(first) ? 0 : kind & INLINED);
	}

	functionKindWords(first: number): string {
		return kindWords(this.functionKind(first));
	}

	private whole(label: number): string {
		return this.names[label] ??= visible(this.raw(label));
	}

	name(label: number): string {
		return this.merged ? this.functionName(this.functionOf(label)) : this.whole(label);
	}

	/** The kind of code, also if trees have functions. */
	ownKind(label: number): number {
		return this.profile.labels.kind[label];
	}

	kind(label: number): number {
		return this.merged ? this.functionKind(this.functionOf(label)) : this.ownKind(label);
	}

	kindWords(label: number): string {
		return label === 0 ? 'everything' : kindWords(this.kind(label));
	}

	/** The tier of code: a number in TIERS. */
	tier(label: number): number {
		return this.profile.labels.tier[label];
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
