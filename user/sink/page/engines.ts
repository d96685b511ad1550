// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What to do about code that JIT engines do not publish (user/sink/engine_advice.h): by the runtimes of a process.

import type { Process, Runtime } from './data';

export interface Engine { name: string; runtime: string; advice?: string; without_code?: string }

/** Advice for a process, because of some of its samples. */
export interface Advised { process: Process; samples: number; advice: string }

/** The runtimes of the processes with a name, those in whose unknown code most samples are first. */
export function runtimesOf(processes: Process[], name: string): Runtime[] {
	return processes.filter(process => process.comm === name)
		.sort((a, b) => b.samples.code_unknown - a.samples.code_unknown)[0]?.runtimes ?? [];
}

const engineOf = (engines: Engine[], { name }: Runtime) => engines.find(engine => engine.runtime === name);

/** The last engine is the entry for processes whose runtimes have no advice. */
export function adviceOf(engines: Engine[], runtimes: Runtime[]): string {
	const known = runtimes.map(runtime => engineOf(engines, runtime)).filter(engine => engine?.advice);
	return known.map(engine => `${engine!.name}: ${engine!.advice}`).join('; ') || engines[engines.length - 1].advice!;
}

/** The runtimes of a ledger's row: numbers as engine_runtime_number() makes them. */
export function runtimesFrom(engines: Engine[], statuses: string[], numbers: number[]): Runtime[] {
	const part = (number: number, at: number, size: number) => Math.floor(number / 2 ** at) % 2 ** size;
	return numbers.filter(number => part(number, 0, 8) && engines[part(number, 0, 8) - 1]).map(number => {
		const { runtime } = engines[part(number, 0, 8) - 1];
		const version = [0, 1, 2].slice(0, part(number, 8, 2)).map(i => part(number, 16 + 12 * i, 12)).join('.');
		const functions = statuses[part(number, 10, 6) - 1];
		return { name: runtime, ...(version ? { version } : {}), ...(functions ? { functions } : {}) };
	});
}

export interface RuntimeRow extends Runtime { samples: number; shown: number; cut: number; unknown: number }

/** The runtimes of all processes whose functions are shown, or could be (user/sink/runtime_rows.h): most samples first. */
export function runtimeRows(processes: Process[]): RuntimeRow[] {
	const rows = new Map<string, RuntimeRow>();
	for (const { samples, runtimes = [] } of processes) {
		for (const runtime of runtimes.filter(({ functions }) => functions)) {
			const key = [runtime.name, runtime.version, runtime.functions].join(' ');
			const row = rows.get(key) ?? { ...runtime, samples: 0, shown: 0, cut: 0, unknown: 0 };
			row.samples += samples.taken - samples.lost;
			row.shown += samples.runtime_functions;
			row.cut += samples.runtime_cut;
			row.unknown += samples.runtime_unknown;
			rows.set(key, row);
		}
	}
	return [...rows.values()].filter(row => row.samples).sort((a, b) => b.samples - a.samples);
}

/** Processes whose stacks are cut in JIT code that no engine published (samples_unpublished() in summary_trouble.c): most samples first. */
export function cutProcesses(engines: Engine[], processes: Process[], most: number): Advised[] {
	return processes.filter(({ samples, jit }) => samples.cut_unpublished && !jit.methods && !jit.other_version)
		.sort((a, b) => b.samples.cut_unpublished - a.samples.cut_unpublished).slice(0, most)
		.map(process => ({ process, samples: process.samples.cut_unpublished, advice: adviceOf(engines, process.runtimes ?? []) }));
}

/** Processes of engines that have run no JIT code at all: their JIT may be off. The list is in order of samples. */
export function withoutCode(engines: Engine[], processes: Process[], most: number): Advised[] {
	const idle: Advised[] = [];
	for (const process of processes) {
		const { taken, code_unknown, cut_unpublished } = process.samples;
		const advice = process.runtimes?.map(runtime => engineOf(engines, runtime)?.without_code).find(Boolean);
		if (advice && taken && !code_unknown && !cut_unpublished && !process.jit.methods && idle.length < most)
			idle.push({ process, samples: taken, advice });
	}
	return idle;
}
