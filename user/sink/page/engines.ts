// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What to do about code that JIT engines do not publish (user/sink/engine_advice.h).

import type { Process } from './data';

export interface Engine { name: string; processes: string[]; advice: string; without_code?: string }

export interface Idle { process: Process; samples: number; advice: string }

/** The last engine is the entry for all processes whose names no engine has. */
export function engineOf(engines: Engine[], process: string): Engine {
	return engines.find(engine => engine.processes.some(begin => process.startsWith(begin)))!;
}

export function adviceOf({ name, advice }: Engine): string {
	return name ? `${name}: ${advice}` : advice;
}

/** Processes of engines that have run no JIT code at all: their JIT may be off. The list is in order of samples. */
export function withoutCode(engines: Engine[], processes: Process[], most: number): Idle[] {
	const idle: Idle[] = [];
	for (const process of processes) {
		const { without_code } = engineOf(engines, process.comm), { taken, code_unknown } = process.samples;
		if (without_code && taken && !code_unknown && !process.jit.methods && idle.length < most)
			idle.push({ process, samples: taken, advice: without_code });
	}
	return idle;
}
