// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The inverse of data.ts: a profile as the data of a page (user/sink/format/page_data.h).

import type { Profile } from './data';

type Numbers = ArrayLike<number>;

/** Columns: LEB128 in base64. */
function table(rows: number, columns: Record<string, Numbers | ((row: number) => number)>): Record<string, number | string> {
	const result: Record<string, number | string> = { rows };
	for (const [key, column] of Object.entries(columns)) {
		const value = typeof column === 'function' ? column : (row: number) => column[row], parts: string[] = [];
		let bytes: number[] = [];
		for (let row = 0; row < rows; row++) {
			let left = value(row);
			for (; left >= 128; left = Math.floor(left / 128))
				bytes.push(left % 128 + 128);
			bytes.push(left);
			if (bytes.length > 8192) {
				parts.push(String.fromCharCode(...bytes));
				bytes = [];
			}
		}
		result[key] = btoa(parts.join('') + String.fromCharCode(...bytes));
	}
	return result;
}

const steps = (values: Numbers) => (row: number) => values[row] - (row ? values[row - 1] : 0);

/** Rows in the order of two keys. */
function ordered(rows: number, first: (row: number) => number, second: (row: number) => number): Uint32Array {
	return Uint32Array.from({ length: rows }, (_, row) => row).sort((a, b) => first(a) - first(b) || second(a) - second(b));
}

/** Nodes that have samples in any thread, in preorder; and the place of each. */
function nodesOf({ tree, counts }: Profile): { order: number[]; places: Int32Array } {
	const used = new Uint8Array(tree.count), order: number[] = [], places = new Int32Array(tree.count);
	for (let i = 0; i < counts.rows; i++)
		if (counts.samples[i])
			used[counts.node[i]] = 1;
	for (let i = tree.count - 1; i > 0; i--)
		used[tree.parent[i]] |= used[i];
	tree.walk(node => {
		if (node && !used[node])
			return false;
		places[node] = order.push(node) - 1;
		return true;
	});
	return { order, places };
}

function slicesOf({ slices }: Profile, numbers: Uint32Array): Record<string, unknown> {
	const { tick, count, samples, rows, ends, tickNs } = slices, of = (row: number) => numbers[count[row]];
	const ticks: number[] = [], sizes: number[] = [], next: number[] = [], sums: number[] = [];
	let last = -1;
	for (const row of ordered(rows, i => tick[i], of)) {
		if (ticks[ticks.length - 1] !== tick[row]) {
			ticks.push(tick[row]);
			sizes.push(0);
			last = -1;
		}
		if (of(row) === last) {
			sums[sums.length - 1] += samples[row];
			continue;
		}
		next.push(of(row) - Math.max(0, last));
		sums.push(samples[row]);
		sizes[sizes.length - 1]++;
		last = of(row);
	}
	const several = sums.flatMap((sum, i) => sum > 1 ? [i] : []);
	return { ticks: { ...table(ticks.length, { step: steps(ticks), slices: sizes }), ns: tickNs },
		slices: table(next.length, { step: next }),
		several: table(several.length, { step: steps(several), more: row => sums[several[row]] - 1 }),
		levels: table(ends.length, { end: ends }) };
}

function codeOf({ code: { ticks, engines, rows, bin, loads, unloads, live } }: Profile): Record<string, unknown> {
	return { code: { ...table(rows, { step: steps(bin), loads, unloads }), ticks, engines },
		code_live: table(live.length, { bytes: live }) };
}

function livesOf({ lives }: Profile): Record<string, unknown> {
	if (!lives)
		return {};
	const { rows, strings: _, number: __, leftOut, forgotten, ...columns } = lives;
	return { lives: { ...table(rows, columns), left_lives: leftOut.lives, left_bytes: leftOut.bytes,
		forgotten_lives: forgotten.lives, forgotten_bytes: forgotten.bytes } };
}

/** The samples of an event. sourceRows: at least the number of rows of `sources` that are used. */
function samplesOf(profile: Profile): { data: Record<string, unknown>; sourceRows: number } {
	const { runs, event, threads, tree, counts, hidden } = profile, { order, places } = nodesOf(profile);
	const rows = ordered(counts.rows, row => places[counts.node[row]], row => counts.group[row]).filter(row => counts.samples[row]);
	const nodes = Uint32Array.from(rows, row => places[counts.node[row]]), numbers = new Uint32Array(counts.rows);
	rows.forEach((row, i) => { numbers[row] = i; });
	const sourceRows = order.reduce((most, node) => Math.max(most, tree.source[node] + 1), 1);
	const data = {
		...(event ? { event } : {}), runs,
		threads: table(threads.rows, { pid: threads.pid, tid: threads.tid, comm: threads.comm, container: threads.container }),
		nodes: table(order.length, { up: i => i ? tree.depth[order[i - 1]] + 1 - tree.depth[order[i]] : 0,
			label: i => tree.label[order[i]], source: i => tree.source[order[i]] }),
		counts: table(rows.length, { step: steps(nodes), group: i => counts.group[rows[i]], samples: i => counts.samples[rows[i]] }),
		...(hidden ? { hidden: table(hidden.rows, { label: hidden.label, side: hidden.side, samples: hidden.samples }) } : {}),
		...slicesOf(profile, numbers),
	};
	return { data, sourceRows };
}

/** others: the same profile, with the samples of other events. The last one has the labels of all. */
export function encodeProfile(profile: Profile, others: Profile[] = []): Record<string, unknown> {
	const { words, strings } = profile, { labels, sources } = others[others.length - 1] ?? profile, [own, ...rest] = [profile, ...others].map(samplesOf);
	const sourceRows = Math.max(own.sourceRows, ...rest.map(other => other.sourceRows));
	return {
		...own.data, ...(profile.events.length ? { events: profile.events } : {}), words, exact: profile.exact, strings,
		labels: table(labels.rows, { name: labels.name, module: labels.module, kind: labels.kind, tier: labels.tier,
			twin: label => label - labels.function[label],
			plain: label => labels.plain[label] === labels.name[label] ? 0 : labels.plain[label],
			file: label => labels.file ? labels.file[label] : 0 }),
		sources: table(sourceRows, { file: sources.file, line: sources.line }),
		...codeOf(profile),
		...livesOf(profile),
		...(profile.functions ? { functions: profile.functions } : {}),
		...(rest.length ? { others: rest.map(other => other.data) } : {}),
	};
}
