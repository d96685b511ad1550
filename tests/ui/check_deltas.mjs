// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page's decoder of deltas (user/sink/page/delta.ts, live_tree.ts, stream.ts): what it makes of a recording's deltas is
// what the static page of the recording holds. Damaged deltas are refused.
//   node check_deltas.mjs BUILD RECORDING...
import assert from 'node:assert';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';

const pageFolder = new URL('../../user/sink/page/', import.meta.url).pathname;
const { buildSync } = createRequire(pageFolder)('esbuild');
const modules = ['data', 'delta', 'live_tree', 'stream'].map(name => `export * from './${name}';`).join('');
const { outputFiles: [bundle] } = buildSync({
	stdin: { contents: modules, resolveDir: pageFolder }, bundle: true, write: false, format: 'esm', target: 'es2022',
});
const folder = mkdtempSync(tmpdir() + '/jitbpf-ui-'), file = folder + '/page.mjs';
writeFileSync(file, bundle.contents);
const { BadDelta, DeltaProfile, LiveTree, Splitter, readData } =
	await import(file);
rmSync(folder, { recursive: true });

const [build, ...recordings] = process.argv.slice(2);
const run = (program, ...args) => execFileSync(program, args, { maxBuffer: 1 << 28, stdio: ['ignore', 'pipe', 'inherit'] });
const dataIn = page => readData(/id="profile">(.*?)<\/script>/s.exec(page.toString())[1]);

/** The texts of each node, from the root on. */
function paths({ nodes, labels, strings, sources }) {
	const path = [], found = [];
	for (let i = 0; i < nodes.rows; i++) {
		const label = nodes.label[i];
		path.length = nodes.depth[i];
		path.push(`${strings[labels.name[label]]}|${strings[labels.module[label]]}|${labels.kind[label]}`);
		const source = nodes.source[i];
		found.push({ stack: path.join(';'), source: `${strings[sources.file[source]]}:${sources.line[source]}` });
	}
	return found;
}

const lines = profile => paths(profile).map(({ stack, source }) => `${stack} ${source}`).sort();

/** Samples by stack and thread. */
function counted(profile) {
	const sums = new Map(), stacks = paths(profile), { counts, threads, strings } = profile;
	for (let i = 0; i < counts.rows; i++) {
		const t = counts.group[i];
		const key = `${threads.pid[t]}.${threads.tid[t]} ${strings[threads.comm[t]]} ${stacks[counts.node[i]].stack}`;
		sums.set(key, (sums.get(key) ?? 0) + counts.samples[i]);
	}
	return new Map([...sums].filter(([, samples]) => samples).sort());
}

/** Samples by tick and count of a stack and thread. */
function timed(profile) {
	const sums = new Map(), stacks = paths(profile), { counts, threads, slices } = profile;
	for (let i = 0; i < slices.rows; i++) {
		const count = slices.count[i], t = counts.group[count];
		const key = `${slices.tick[i]} ${threads.pid[t]}.${threads.tid[t]} ${stacks[counts.node[count]].stack}`;
		sums.set(key, (sums.get(key) ?? 0) + slices.samples[i]);
	}
	return new Map([...sums].sort());
}

const total = numbers => numbers.reduce((sum, n) => sum + n, 0);

function split(bytes, chunk) {
	const deltas = [], splitter = new Splitter(delta => deltas.push(delta.slice()));
	let ended = false;
	for (let at = 0; at < bytes.length; at += chunk)
		ended = splitter.add(bytes.subarray(at, at + chunk));
	return { deltas, ended };
}

const made = ({ live }) => new DeltaProfile(live.row.length, live.totals.length);

/** Numbers of labels keep their texts in all versions. */
function noteLabels(known, { labels, strings }) {
	for (let i = 0; i < labels.rows; i++) {
		const text = `${strings[labels.name[i]]}|${strings[labels.module[i]]}|${labels.kind[i]}`;
		assert.equal(known[i] ??= text, text);
	}
}

function checkSame(page, deltas, expected) {
	const from = made(page), tree = new LiveTree(page.live, page.words), labels = [];
	let versions = 0, last;
	for (const delta of deltas) {
		assert(from.apply(delta));
		if (!from.complete)
			continue;
		last = tree.profile(from);
		noteLabels(labels, last);
		versions++;
	}
	assert.deepEqual(counted(last), counted(expected));
	assert.deepEqual(timed(last), timed(expected));
	assert.equal(total(last.slices.samples.subarray(0, last.slices.rows)), total(last.counts.samples));
	assert.deepEqual(lines(last), lines(expected));
	const { start_ns, ...facts } = expected.runs[0].run, { version, over_memory, ...ledger } = expected.runs[0];
	assert.deepEqual(last.runs[0], { ...ledger, run: facts });
	assert.equal(from.apply(deltas[0]), false, 'a delta applies once');
	return { versions, last };
}

/** Nothing but BadDelta, and no version that cannot be shown. */
function checkDamaged(page, deltas) {
	let state = 1, refused = 0;
	const random = below => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return Math.floor(state / 2 ** 32 * below); };
	for (let round = 0; round < 2000; round++) {
		const from = made(page), tree = new LiveTree(page.live, page.words), damaged = random(Math.min(deltas.length, 4));
		try {
			for (let i = 0; i <= damaged; i++) {
				let delta = deltas[i].slice();
				if (i === damaged && round % 2)
					delta = delta.subarray(0, random(delta.length));
				else if (i === damaged)
					for (let left = 1 + random(3); left; left--)
						delta[random(delta.length)] = random(256);
				if (from.apply(delta) && from.complete)
					tree.profile(from);
			}
		} catch (error) {
			assert(error instanceof BadDelta, error.stack);
			refused++;
		}
	}
	assert(refused > 1000, `only ${refused} of 2000 damaged sequences were refused`);
}

let versions = 0;
for (const recording of recordings) {
	const bytes = run(`${build}/tests/ui/make_deltas`, 'deltas', recording);
	const { deltas, ended } = split(bytes, 1 << 16);
	assert(ended);
	for (const chunk of [1, 4099])
		assert.deepEqual(split(bytes, chunk), { deltas, ended });
	for (const hide of [false, true]) {
		const page = dataIn(run(`${build}/tests/ui/make_deltas`, 'page', recording, ...(hide ? ['hide'] : [])));
		const options = hide ? ['--kernel=no', '--no-inline'] : [];
		const { profile } = dataIn(run(`${build}/jitbpf`, 'report', '-f', 'html', ...options, recording));
		versions += checkSame(page, deltas, profile).versions;
		if (!hide)
			checkDamaged(page, deltas);
	}
}
assert(versions > 4 * recordings.length, `only ${versions} versions`);
assert.throws(() => split(Uint8Array.of(255, 255, 255, 255, 0), 5), BadDelta);
console.log('deltas: ok');
