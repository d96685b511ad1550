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
	light: Hsl;
	dark: Hsl;
}

// The colours were found by search: with any colour blindness, two of them differ by at least 18 (CIE76), and names
// have a contrast of 5. So do those of inlined frames and processes (colour.ts).
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
];
export const UNKNOWN = 0;
export const KERNEL = 1;
export const NATIVE = 2;
export const JIT = 3;
export const INTERPRETED = 4;
export const PROCESS = KIND_ROWS.length;
export const INLINED = 8;

/** The first is of [unknown] and [cut]; "named" is another question, and has its own number (naming.ts). */
export const KINDS = [...KIND_ROWS.map(kind => kind.label), 'process'];
