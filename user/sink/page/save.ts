// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Files that are made of what the page shows (folded stacks, speedscope), or of all that it has (a page); and downloads.

import type { Profile } from './data';
import { encodeProfile } from './encode';
import { INLINED, KIND_ROWS, functionKind, plainKind } from './kinds';
import type { Names } from './names';
import { visible } from './text';
import type { Tree } from './tree';

// In parts: a page has no address of another one, and a test looks for some.
const SCHEMA = ['https:', '', 'www.speedscope.app', 'file-format-schema.json'].join('/');

/** Visit stacks that have samples: nodes from below the root on. */
function eachStack(tree: Tree, visit: (nodes: number[], samples: number) => void): void {
	const side = tree.sides - 1, path: number[] = [];
	tree.walk(node => {
		path.length = tree.depth[node];
		path.push(node);
		if (tree.self[side][node])
			visit(path.slice(1), tree.self[side][node]);
		return tree.total[side][node] > 0;
	});
}

/** A frame of a folded stack, as in user/sink/format/folded.c. */
function foldedFrame(names: Names, label: number): string {
	const kind = names.kind(label), shown = names.merged ? functionKind(kind) : kind, { suffix = '' } = KIND_ROWS[plainKind(shown)] ?? {};
	return visible(names.key(label)).replace(/;/g, ':') + (shown & INLINED ? '_[i]' : suffix);
}

/** A line for each stack, sorted; in a difference, of the second side. Stacks whose frames have equal texts are one. */
export function foldedOf(tree: Tree, names: Names): string {
	const frames: string[] = [], lines = new Map<string, number>();
	eachStack(tree, (nodes, samples) => {
		const stack = nodes.map(node => frames[tree.label[node]] ??= foldedFrame(names, tree.label[node])).join(';');
		if (stack)
			lines.set(stack, (lines.get(stack) ?? 0) + samples);
	});
	return [...lines].map(([stack, samples]) => `${stack} ${samples}`).sort().join('\n') + '\n';
}

export function speedscopeOf(tree: Tree, names: Names, title: string): string {
	const frames: { name: string; file?: string }[] = [], numbers = new Map<number, number>();
	const samples: number[][] = [], weights: number[] = [];
	const frameOf = (label: number) => {
		let number = numbers.get(label);
		if (number === undefined) {
			const module = names.module(label);
			numbers.set(label, number = frames.push({ name: visible(names.key(label)), ...(module ? { file: module } : {}) }) - 1);
		}
		return number;
	};
	eachStack(tree, (nodes, n) => {
		samples.push(nodes.map(node => frameOf(tree.label[node])));
		weights.push(n);
	});
	return JSON.stringify({
		$schema: SCHEMA, name: title, exporter: 'jitbpf', activeProfileIndex: 0,
		shared: { frames },
		profiles: [{ type: 'sampled', name: title, unit: 'none', startValue: 0, endValue: weights.reduce((sum, n) => sum + n, 0),
			samples, weights }],
	});
}

/** The page as it was loaded, with data of its own. It connects to nothing. */
export function pageOf(page: string, profile: Profile, others: Profile[]): string {
	const data = JSON.stringify(encodeProfile(profile, others)).replace(/</g, '\\u003c');
	const at = page.indexOf('<script>');     // the only one; its own text has others
	return '<!doctype html>\n' + page.slice(0, at).replace("connect-src 'self'", "connect-src 'none'") +
		`<script type="application/json" id="profile">${data}</script>\n` + page.slice(at);
}

export function download(content: BlobPart, type: string, name: string): void {
	const link = document.createElement('a'), url = URL.createObjectURL(new Blob([content], { type }));
	link.href = url;
	link.download = name;
	link.click();
	setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** The same for a large file, as NAME.gz. Browsers before 2023 may lack gzip: the file is NAME then, which its readers accept too. */
export async function downloadPacked(parts: BlobPart[], name: string): Promise<void> {
	const plain = new Blob(parts);
	if (typeof CompressionStream === 'undefined')
		download(plain, 'application/octet-stream', name);
	else
		download(await new Response(plain.stream().pipeThrough(new CompressionStream('gzip'))).blob(), 'application/gzip', name + '.gz');
}
