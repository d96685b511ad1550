// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The code of functions in a page (user/sink/annotate/page_code.h, annotation_page.h), and its samples by line.

import { JIT, kindLabel } from './kinds';
import type { Names } from './names';
import { functionText } from './path_text';

export interface Annotation {
	lack?: string;
	address?: string;               // of the function in its file
	skipped: number;
	unshown: number;
	sampled?: [file: number, line: number, samples: number, total: number][];      // of a runtime: instead of instructions
	instructions: [offset: number, samples: number, length: number, text: number, frames: number, target: number, code: string][];
	frames: number[][];
	lines?: [file: number, line: number, text: string][];
	troubles?: [file: number, words: string][];
	strings: string[];
}

/** Machine code that a function had for some time, or the source lines of a function of a runtime. Times are in ns from the start of the run. */
export interface Generation {
	name?: string;                  // of code of a function whose code has several names; of source lines, their file
	tier?: string;                  // of what kind the code is: interpreted, clone, cold ...
	samples: number;
	total?: number;                 // of source lines: with what they call
	address?: string;
	bytes?: number;
	loaded_ns?: number;
	ended_ns?: number;
	before_run?: boolean;
	live?: boolean;
	code?: Annotation;
}

export interface CodeFunction { name: string; module: string; kind: string; samples: number; more: number; generations: Generation[];
	file?: string;                  // the source file that tells the function apart
	shown?: number }                // of a live page: number of the requested generation

export interface Functions { total: number; left_out: number; max_bytes: number; list: CodeFunction[] }

/** Source lines come before JIT code, and then what has most samples. */
export const generationWeight = ({ samples, total }: Generation) => total === undefined ? samples : Number.MAX_SAFE_INTEGER / 2 + total;

/**
 * The code of a function, as generations with names if it has several names; undefined: there is none. labels: those of the function
 * or, if text is that of a part of its code alone, of this part. JIT code that ran for a function of a runtime has no label.
 */
export function codeOf(functions: Functions, names: Names, labels: number[], text: string): CodeFunction | undefined {
	// The answer of a live page is of the requested function, whatever its file.
	const is = (f: CodeFunction) => (f.kind === kindLabel(JIT) && functionText(f.name, f.module) === text) || labels.some(label => f.name === names.raw(label) && f.module === names.rawModule(label) &&
		(f.shown !== undefined || (f.file ?? '') === names.file(label)));
	const found = functions.list.filter(is), sum = (of: (f: CodeFunction) => number) => found.reduce((all, f) => all + of(f), 0);
	return found.length < 2 ? found[0] : { ...found[0], samples: sum(f => f.samples), more: sum(f => f.more),
		generations: found.flatMap(({ name, generations }) => generations.map(generation => ({ ...generation, name }))) };
}

/** Returns the index of a generation, given by number (from 1 on) or by the text of a life (lives.ts); -1: there is none. */
export function generationIndex({ generations }: CodeFunction, text: string): number {
	return text.includes('@') ? generations.findIndex(({ address, loaded_ns: loaded }) => text === `${address}@${loaded ?? ''}`)
		: generations[Number(text) - 1] ? Number(text) - 1 : -1;
}

export interface Frame { name: string; file: string; line: number }

export interface Instruction {
	offset: number;
	samples: number;
	text: string;                   // "": the code is not known
	code: string;
	target: number;                 // index of the instruction that it jumps to, or -1
	frames: Frame[];                // innermost first
	line: string;                   // key of its line; "" none
	gap: boolean;                   // instructions before it were left out
}

/** total: of a runtime, with what the line calls. line 0: not known. */
export interface Line { file: string; line: number; text: string | null; samples: number; total?: number; hasCode: boolean; key: string }

const keyOf = (file: string, line: number) => `${line}:${file}`;

function framesOf({ frames, strings }: Annotation): Frame[][] {
	return frames.map(list => {
		const levels: Frame[] = [];
		for (let i = 0; i + 2 < list.length; i += 3)
			levels.push({ name: strings[list[i]] ?? '', file: strings[list[i + 1]] ?? '', line: list[i + 2] });
		return levels;
	});
}

/** The first level with a line: the source line that ran. */
const lineOf = (frames: Frame[]) => frames[0] && frames[0].file && frames[0].line ? keyOf(frames[0].file, frames[0].line) : '';

export function instructionsOf(annotation: Annotation): Instruction[] {
	const { instructions, strings } = annotation, frames = framesOf(annotation), index = new Map<number, number>();
	instructions.forEach(([offset], i) => index.set(offset, i));
	let end = 0;
	return instructions.map(([offset, samples, length, text, chain, target, code]) => {
		const levels = frames[chain - 1] ?? [], gap = offset > end;
		end = offset + length;
		return { offset, samples, text: strings[text] ?? '', code, target: index.get(target) ?? -1, frames: levels, line: lineOf(levels), gap };
	});
}

/** Lines by file, those with most samples first, and by number. Samples count for the innermost line. */
export function linesOf(annotation: Annotation, instructions: Instruction[]): Line[] {
	const lines = new Map<string, Line>(), files = new Map<string, number>(), { strings } = annotation;
	const get = (file: string, line: number) => {
		const key = keyOf(file, line);
		let found = lines.get(key);
		if (!found)
			lines.set(key, found = { file, line, text: null, samples: 0, hasCode: false, key });
		return found;
	};
	for (const [file, line, text] of annotation.lines ?? [])
		get(strings[file] ?? '', line).text = text;
	for (const { frames, samples } of instructions)
		frames.forEach(({ file, line }, level) => {
			if (!file || !line)
				return;
			const at = get(file, line);
			at.hasCode = true;
			if (level)
				return;
			at.samples += samples;
			files.set(file, (files.get(file) ?? 0) + samples);
		});
	for (const [file, line, samples, total] of annotation.sampled ?? [])
		Object.assign(get(strings[file] ?? '', line), { samples, total, hasCode: true });
	const weight = (line: Line) => files.get(line.file) ?? 0;
	return [...lines.values()].sort((a, b) => weight(b) - weight(a) || (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line));
}
