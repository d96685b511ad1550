// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// How many samples have an innermost frame with a name, and what the others are in. A frame without one may be
// resolved: its file is known, and shown in brackets.

import { PROCESS, type Profile } from './data';

export interface Naming { named: number; samples: number; missing: { module: string; samples: number; advice: string }[] }

const UNNAMED = 0, NATIVE = 2;  // KINDS
const MOST = 20;                // modules

// The same as naming_of_node() in user/sink/naming.c
function isNamed({ strings, labels }: Profile, label: number): boolean {
	const kind = labels.kind[label] & 7, name = strings[labels.name[label]];
	return kind === PROCESS || (kind !== UNNAMED && name !== '[unknown]' && !(kind === NATIVE && name[0] === '['));
}

export function namingOf(profile: Profile): Naming {
	const { counts, tree, labels, strings } = profile, byLabel = new Float64Array(labels.rows);
	const modules = new Map<string, { samples: number; native: boolean }>();
	let named = 0, samples = 0;
	for (let i = 0; i < counts.rows; i++)
		byLabel[tree.label[counts.node[i]]] += counts.samples[i];
	byLabel.forEach((sum, label) => {
		samples += sum;
		if (!sum || isNamed(profile, label)) {
			named += sum;
			return;
		}
		const native = (labels.kind[label] & 7) === NATIVE, module = strings[native ? labels.module[label] : labels.name[label]];
		const one = modules.get(module) ?? { samples: 0, native };
		modules.set(module, { samples: one.samples + sum, native });
	});
	const missing = [...modules].sort((a, b) => b[1].samples - a[1].samples).slice(0, MOST).map(([module, one]) => ({
		module, samples: one.samples, advice: one.native
			? 'its debug symbols have the names: the package NAME-dbgsym (Debian, Ubuntu) or NAME-debuginfo (Fedora)'
			: 'jitbpf list says what each JIT engine needs to publish its code',
	}));
	return { named, samples, missing };
}
