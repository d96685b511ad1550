// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How many samples have an innermost frame with a name, and what the others are in. A frame without one may be
// resolved: its file is known, and shown in brackets.

import { PROCESS, type Profile } from './data';
import { adviceOf, engineOf } from './engines';

export interface Naming { named: number; samples: number; missing: { module: string; samples: number; advice: string }[] }

const UNNAMED = 0, NATIVE = 2, JIT = 3;         // KINDS
const MOST = 20;                // modules
const SYMBOLS = 'its debug symbols have the names: the package NAME-dbgsym (Debian, Ubuntu) or NAME-debuginfo (Fedora)';

// The same as naming_of_node() in user/sink/naming.c
function isNamed({ strings, labels }: Profile, label: number): boolean {
	const kind = labels.kind[label] & 7, name = strings[labels.name[label]];
	return kind === PROCESS || (kind !== UNNAMED && name !== '[unknown]' && !(kind === NATIVE && name[0] === '['));
}

export function namingOf(profile: Profile): Naming {
	const { counts, tree, labels, strings, words: { engines } } = profile;
	const byLabel = new Float64Array(labels.rows), unknown = new Uint8Array(labels.rows);
	const modules = new Map<string, { samples: number; advice: string }>();
	let named = 0, samples = 0;
	const miss = (module: string, more: number, advice: () => string) => {
		const one = modules.get(module) ?? { samples: 0, advice: advice() };
		modules.set(module, { ...one, samples: one.samples + more });
	};
	for (let i = 0; i < counts.rows; i++)
		byLabel[tree.label[counts.node[i]]] += counts.samples[i];
	byLabel.forEach((sum, label) => {
		samples += sum;
		if (!sum || isNamed(profile, label)) {
			named += sum;
			return;
		}
		const kind = labels.kind[label] & 7;
		if (kind === UNNAMED)
			unknown[label] = 1;
		else
			miss(strings[labels.module[label]], sum, () => kind < JIT ? SYMBOLS : 'its engine has reported code without a name');
	});
	for (let i = 0; i < counts.rows; i++) {
		let at = counts.node[i];
		if (!unknown[tree.label[at]] || !counts.samples[i])
			continue;
		const name = strings[labels.name[tree.label[at]]];
		while (tree.depth[at] > 1)
			at = tree.parent[at];
		const process = strings[labels.name[tree.label[at]]];
		miss(`${name} of ${process}`, counts.samples[i], () => adviceOf(engineOf(engines, process)));
	}
	const missing = [...modules].sort((a, b) => b[1].samples - a[1].samples).slice(0, MOST).map(([module, one]) => ({ module, ...one }));
	return { named, samples, missing };
}
