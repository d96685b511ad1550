// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Counts the samples whose innermost frame has a name, and the files of the others. A frame without a name can be
// resolved: then its file is known, and shown in brackets.

import { withRoom } from './columns';
import type { Counts, Profile, Run } from './data';
import { adviceOf, runtimesOf } from './engines';
import { KIND_ROWS, NATIVE, PROCESS, UNKNOWN, plainKind } from './kinds';

export interface Naming { named: number; samples: number; missing: { module: string; samples: number; advice: string }[] }

const MOST = 20;                // modules

// The same as naming_of_node() in user/sink/naming.c
function isNamed({ strings, labels }: Profile, label: number): boolean {
	const kind = plainKind(labels.kind[label]), name = strings[labels.name[label]];
	return kind === PROCESS || (kind !== UNKNOWN && name !== '[unknown]' && name !== KIND_ROWS[kind]?.unknown && !(kind === NATIVE && name[0] === '['));
}

/** Counts the samples of a profile, and those that are added later. */
export class NamingCounts {
	private named = 0;
	private samples = 0;
	private readonly missing = new Map<string, { samples: number; advice: string; process?: string }>();
	private isNamed = new Uint8Array(64);   // by label; 0: not known, 1: no, 2: yes

	constructor(private readonly profile: Profile) {
		this.add(profile.counts);
	}

	add({ rows, node, samples }: Counts): void {
		const { tree } = this.profile;
		for (let i = 0; i < rows; i++) {
			this.samples += samples[i];
			if (this.has(tree.label[node[i]]))
				this.named += samples[i];
			else if (samples[i])
				this.miss(node[i], samples[i]);
		}
	}

	private has(label: number): boolean {
		if (label >= this.isNamed.length)
			this.isNamed = withRoom(this.isNamed, label + 1);
		return (this.isNamed[label] ||= isNamed(this.profile, label) ? 2 : 1) === 2;
	}

	private miss(node: number, samples: number): void {
		const { missing, profile: { tree, labels, strings, words: { symbols } } } = this;
		const label = tree.label[node], kind = plainKind(labels.kind[label]);
		let key = strings[labels.module[label]], process: string | undefined;
		const advice = !KIND_ROWS[kind]?.ofEngine ? symbols : KIND_ROWS[kind].unknown ? 'the function was gone, or could not be read in time' :
			'its engine has reported code without a name';
		if (kind === UNKNOWN) {
			let at = node;
			while (tree.depth[at] > 1 && plainKind(labels.kind[tree.label[at]]) !== PROCESS)
				at = tree.parent[at];
			process = strings[labels.name[tree.label[at]]];
			key = `${strings[labels.name[label]]} of ${process}`;
		}
		const one = missing.get(key) ?? { samples: 0, advice, process };
		missing.set(key, { ...one, samples: one.samples + samples });
	}

	/** run: has advice about files, and what its processes run. */
	naming(run: Run | undefined): Naming {
		const packages = new Map(run?.unnamed?.map(({ file, next }) => [file, next])), { engines } = this.profile.words;
		const adviceFor = (process: string) => adviceOf(engines, runtimesOf(run?.processes ?? [], process));
		const missing = [...this.missing].filter(([, one]) => one.samples).sort((a, b) => b[1].samples - a[1].samples).slice(0, MOST)
			.map(([module, { samples, advice, process }]) => ({ module, samples,
				advice: process === undefined ? packages.get(module) ?? advice : adviceFor(process) }));
		return { named: this.named, samples: this.samples, missing };
	}
}

export const namingOf = (profile: Profile): Naming => new NamingCounts(profile).naming(profile.runs[0]);
