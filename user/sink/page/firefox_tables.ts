// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The tables of the Firefox Profiler's format, as user/sink/format/firefox_tables.h has them: a stack consists of
// frames, a frame belongs to a function, and a function to a resource and a source file. No frame has an address.

import { KIND_ROWS, plainKind } from './kinds';
import { Rows } from './rows';
import { SavedTexts, type SavedFrames, type Shown } from './saved';
import { jsonOf } from './text';

const NONE = -1;

export interface FirefoxTables {
	stackOf: Int32Array;    // by node: its stack, or NONE
	libs: object[];
	json: string[];         // the member "shared" of the profile
}

/** A column: numbers, of which NONE may be null, or the same literal for each row. */
type Column = [key: string, values: Int32Array | string, noneIsNull?: boolean];

function table(length: number, columns: Column[]): string {
	const literal = (values: Int32Array | string, noneIsNull: boolean) => {
		if (typeof values === 'string')
			return new Array<string>(length).fill(values).join(',');
		const text = values.subarray(0, length).join(',');
		return noneIsNull ? text.replace(/-1/g, 'null') : text;
	};
	const members = columns.map(([key, values, noneIsNull]) => `"${key}":[${literal(values, noneIsNull ?? false)}]`);
	return `{"length":${length},${members.join(',')}}`;
}

class TablesWriter {
	readonly texts: SavedTexts;
	readonly libs = new Rows();             // of path (all four: numbers of strings)
	private readonly resources = new Rows();        // of name
	private readonly sources = new Rows();          // of file
	private readonly functions = new Rows();        // of name, resource and source
	private readonly lines = new Rows();            // of label and source line of the page
	private readonly frames = new Rows();           // of line, lib and inline depth
	private readonly stacks = new Rows();           // of frame and caller
	readonly stackOf: Int32Array;

	constructor(private readonly shown: Shown, frames: SavedFrames) {
		const { tree } = shown;
		this.texts = new SavedTexts(shown.profile.strings, text => text);
		this.stackOf = new Int32Array(tree.count).fill(NONE);
		frames.each(node => {
			const head = frames.head[node], line = this.lines.add(tree.label[node], tree.sourceOf(node));
			const frame = this.frames.add(line, this.libOf(tree.label[head]), tree.depth[node] - tree.depth[head]);
			this.stackOf[node] = this.stacks.add(frame, this.stackOf[tree.parent[node]]);
		});
	}

	/** Code of which nothing is known, and functions of runtimes, are in no file. */
	private libOf(label: number): number {
		const { labels } = this.shown.profile;
		return KIND_ROWS[plainKind(labels.kind[label])]?.code ? this.libs.add(this.texts.ofString(labels.module[label])) : NONE;
	}

	/** The functions of lines, by number. */
	private functionsOf(): Int32Array {
		const { lines, functions, resources, texts, shown: { profile: { labels, sources } } } = this;
		return Int32Array.from({ length: lines.count }, (_, i) => {
			const label = lines.a[i], file = texts.ofString(sources.file[lines.b[i]]);
			return functions.add(texts.ofString(labels.name[label]), resources.add(texts.ofString(labels.module[label])),
				file ? this.sources.add(file) : NONE);
		});
	}

	private stackTable(): string {
		const { stacks: { count, a, b } } = this;
		return table(count, [['frame', a], ['prefixOffset', Int32Array.from({ length: count }, (_, i) => b[i] < 0 ? 0 : i - b[i])]]);
	}

	private frameTable(): string {
		const { frames: { count, a, b, c }, lines, shown: { profile: { labels, sources } } } = this, functions = this.functionsOf();
		const column = (of: (line: number) => number) => Int32Array.from({ length: count }, (_, i) => of(a[i]));
		const kind = (line: number) => labels.kind[lines.a[line]];
		return table(count, [
			['address', '-1'], ['lib', b], ['inlineDepth', c], ['category', column(line => plainKind(kind(line)))],
			['subcategory', column(line => labels.tier[lines.a[line]])], ['func', column(line => functions[line])],
			['nativeSymbol', 'null'], ['innerWindowID', '0'], ['line', column(line => sources.line[lines.b[line]] || NONE), true],
			['column', 'null'], ['originalLocation', 'null'],
		]);
	}

	json(): string[] {
		const { functions, resources, sources, texts } = this, frameTable = this.frameTable();
		return [
			'{"stackTable":', this.stackTable(), ',"frameTable":', frameTable, ',"funcTable":',
			table(functions.count, [
				['name', functions.a], ['isJS', 'false'], ['relevantForJS', 'false'], ['resource', functions.b], ['source', functions.c, true],
				['lineNumber', 'null'], ['columnNumber', 'null'], ['originalLocation', 'null'],
			]), ',"resourceTable":',
			table(resources.count, [['name', resources.a], ['host', 'null'], ['type', '1']]), ',"nativeSymbols":',
			table(0, [['libIndex', ''], ['address', ''], ['name', ''], ['functionSize', '']]), ',"sources":',
			table(sources.count, [
				['id', 'null'], ['filename', sources.a], ['startLine', '1'], ['startColumn', '1'], ['sourceMapURL', 'null'], ['content', 'null'],
			]), ',"sourceLocationTable":',
			table(0, [['source', ''], ['line', ''], ['column', '']]), ',"stringArray":', jsonOf(texts.texts), '}',
		];
	}
}

export function firefoxTables(shown: Shown, frames: SavedFrames): FirefoxTables {
	const writer = new TablesWriter(shown, frames), json = writer.json(), { libs, texts: { texts }, stackOf } = writer;
	return { stackOf, json, libs: Array.from({ length: libs.count }, (_, i) => {
		const path = texts[libs.a[i]], name = path.slice(path.lastIndexOf('/') + 1);
		return { arch: 'x86_64', name, path, debugName: name, debugPath: path, breakpadId: '', codeId: null };
	}) };
}
