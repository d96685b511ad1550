// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Kinds of frames: the rows of user/locate/code_kinds.c, by number, with their colours. A new kind is a row here, too.

export type Hsl = [number, number, number];

/** What a mapping is of, in formats that have mappings. */
export enum Code { none, kernel, file, jit, anonymous }

interface Kind {
	label: string;
	word: string;                   // in labels of pprof
	suffix: string;                 // in folded stacks
	category: string[];             // in the Firefox Profiler: name and colour; the first grey category is the default
	code: Code;                     // of its mappings
	ofEngine: boolean;              // an engine reports its names
	unknown?: string;               // in place of a name, of functions of a runtime
	light: Hsl;
	dark: Hsl;
}

// The colours were found by search: with any colour blindness, two of them differ by at least 18 (CIE76), and names
// have a contrast of 5. So do those of inlined frames and processes (colour.ts).
/** The first is of [unknown] and [cut]; "named" is another question, and has its own number (naming.ts). */
export const KIND_ROWS: readonly Kind[] = [
	{ label: 'unknown kind', word: 'unknown', suffix: '', category: ['Other', 'grey'], code: Code.none, ofEngine: false,
		light: [0, 0, 68], dark: [0, 0, 41] },
	{ label: 'kernel', word: 'kernel', suffix: '_[k]', category: ['Kernel', 'orange'], code: Code.kernel, ofEngine: false,
		light: [34, 85, 70], dark: [15, 68, 28] },
	{ label: 'native', word: 'native', suffix: '', category: ['Native', 'blue'], code: Code.file, ofEngine: false,
		light: [211, 90, 80], dark: [218, 67, 44] },
	{ label: 'JIT', word: 'jit', suffix: '_[j]', category: ['JIT', 'green'], code: Code.jit, ofEngine: true,
		light: [152, 52, 43], dark: [150, 78, 26] },
	{ label: 'interpreted', word: 'interpreted', suffix: '', category: ['Interpreted', 'yellow'], code: Code.jit, ofEngine: true,
		light: [58, 78, 62], dark: [46, 84, 27] },
	{ label: 'Python', word: 'python', suffix: '_[p]', category: ['Python', 'purple'], code: Code.none, ofEngine: true,
		unknown: '[unknown python function]',
		light: [240, 80, 74], dark: [264, 80, 53] },
	{ label: 'PHP', word: 'php', suffix: '_[p]', category: ['PHP', 'brown'], code: Code.none, ofEngine: true,
		unknown: '[unknown php function]',
		light: [30, 80, 47], dark: [276, 80, 26] },
	{ label: 'Ruby', word: 'ruby', suffix: '_[p]', category: ['Ruby', 'red'], code: Code.none, ofEngine: true,
		unknown: '[unknown ruby function]',
		light: [345, 90, 74], dark: [345, 80, 36] },
	{ label: 'Perl', word: 'perl', suffix: '_[p]', category: ['Perl', 'lightblue'], code: Code.none, ofEngine: true,
		unknown: '[unknown perl function]',
		light: [188, 70, 72], dark: [190, 75, 30] },
];
export const UNKNOWN = 0;
export const KERNEL = 1;
export const NATIVE = 2;
export const JIT = 3;
export const INTERPRETED = 4;
// As enum page_kind (user/sink/format/page_data.h): a kind of frames is a number below PROCESS, and INLINED is a bit beside it.
export const PROCESS = 127;
export const INLINED = 128;

export const plainKind = (kind: number) => kind & ~INLINED;
export const kindLabel = (kind: number) =>
	plainKind(kind) === PROCESS ? 'process' : (KIND_ROWS[plainKind(kind)] ?? KIND_ROWS[UNKNOWN]).label;

/** The kind as which all code of a function counts. */
export const functionKind = (kind: number) => plainKind(kind) === INTERPRETED ? JIT : plainKind(kind);

/** Rows of user/engines/code_tier.c, by number. */
export const TIERS = ['', 'interpreted', 'baseline', 'mid-tier', 'optimized', 'trace', 'generated', 'clone', 'part', 'cold', 'inlined', 'compiled'];
