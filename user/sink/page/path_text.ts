// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Labels as texts in an address, which mean the same after a reload: the begin of the name, and a hash of name,
// module and kind.

import { JIT, KIND_ROWS, NATIVE, functionKind, plainKind } from './kinds';
import type { Names } from './names';

const NAME = 40, PATH = 4000, LONGEST = 8000;   // characters

function hashOf(text: string): number {
	let hash = 0x811c9dc5;
	for (let i = 0; i < text.length; i++)
		hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
	hash = Math.imul(hash ^ hash >>> 16, 0x85ebca6b);
	return (hash ^ hash >>> 13) >>> 0;
}

/** The begin of a name, and a hash. */
const text = (name: string, hash: number) =>
	`${Array.from(name.slice(0, 2 * NAME)).slice(0, NAME).join('').replace(/\p{Cs}/gu, '')}~${hash.toString(36)}`;

/** The text of a function: inlined or not, it is the same. file: of a static function of native code. */
export const functionText = (name: string, module: string, file = '') => text(name, hashOf(`${name}\n${module}${file && '\n' + file}`));

/** Made for one value of Names.merged. */
export class PathTexts {
	private readonly labels = new Map<string, number>();    // by hash
	private known = 0;

	constructor(private readonly names: Names) {}

	private hash(label: number): number {
		const { names } = this;
		// The kind of a function may change while a profile grows.
		const kind = names.ownKind(label), stable = !names.merged ? kind : functionKind(kind);
		const tier = names.merged || !KIND_ROWS[plainKind(kind)]?.unknown ? '' : `\n${names.tier(label)}`;
		const file = names.merged && names.file(label);
		return hashOf(`${names.key(label)}\n${names.rawModule(label)}\n${stable}${tier}${file ? '\n' + file : ''}`);
	}

	textOf(label: number): string {
		return text(this.names.key(label), this.hash(label));
	}

	functionOf(label: number): string {
		const { names } = this, isNative = names.merged && plainKind(names.ownKind(label)) === NATIVE;
		return functionText(names.key(label), names.rawModule(label), isNative ? names.file(label) : '');
	}

	/** The text of the JIT code of a label alone, as that of a method (lives.ts): its function may have code of other names. */
	codeOf(label: number): string {
		const { names } = this;
		return functionKind(names.ownKind(label)) === JIT ? functionText(names.raw(label), names.rawModule(label)) : '';
	}

	/** The label, or -1 if there is none yet. */
	labelOf(text: string): number {
		for (; this.known < this.names.labels; this.known++)
			this.labels.set(this.hash(this.known).toString(36), this.names.shown(this.known));
		return this.labels.get(text.slice(text.lastIndexOf('~') + 1)) ?? -1;
	}

	/** A path, for an address. A long one has hashes only, and a very long one is cut. */
	pathOf(labels: number[]): string {
		const join = (texts: string[]) => texts.map(encodeURIComponent).join('/');
		let path = join(labels.map(label => this.textOf(label)));
		if (path.length > PATH)
			path = join(labels.map(label => '~' + this.hash(label).toString(36)));
		return path.length > LONGEST ? path.slice(0, path.lastIndexOf('/', LONGEST)) : path;
	}

	/** Labels of a path, up to the first that does not exist yet. */
	labelsOf(texts: string[]): number[] {
		const labels: number[] = [];
		for (const text of texts) {
			const label = this.labelOf(text);
			if (label < 0)
				break;
			labels.push(label);
		}
		return labels;
	}
}
