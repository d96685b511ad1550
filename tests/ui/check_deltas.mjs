// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page's decoder of deltas (user/sink/page/delta.ts, live.ts, live_tree.ts, stream.ts): what it makes of a recording's deltas is
// what the static page of the recording holds. Damaged deltas are refused.
//   node check_deltas.mjs BUILD RECORDING...
import assert from 'node:assert';
import { load, randoms, run, textIn } from './page_modules.mjs';

const { BadDelta, DeltaProfile, LiveLabels, LiveVersion, Splitter, addSamples, encodeProfile, namingOf, readData,
	weigh } = await load('data', 'delta', 'encode', 'live', 'live_labels', 'naming', 'stream', 'weigh');
const [build, ...recordings] = process.argv.slice(2);
const dataIn = page => readData(textIn(page));

/** The texts of each node, from the root on. Siblings are in the order of their names. */
function paths({ tree, labels, strings, sources }) {
	const found = [];
	tree.walk(node => {
		const label = tree.label[node], source = tree.source[node], up = node && found[tree.parent[node]];
		const text = `${strings[labels.name[label]]}|${strings[labels.module[label]]}|${labels.kind[label]}`;
		found[node] = { stack: node ? `${up.stack};${text}` : text, self: tree.self[0][node], total: tree.total[0][node],
			source: `${strings[sources.file[source]]}:${sources.line[source]}` };
		return true;
	});
	return found;
}

/** Nodes with samples: stack, source and samples. */
const lines = profile => paths(profile).filter(node => node.total)
	.map(({ stack, source, self, total }) => `${stack} ${source} ${self} ${total}`).sort();

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

const version = (page, from) => {
	const labels = new LiveLabels(page.live);
	labels.string('');
	labels.label('all', '', 5);
	labels.source('', 0);
	return new LiveVersion(labels, page.words, from);
};

/** Samples that were added one version after another are those that are counted at once. */
function checkWeights(profile) {
	const before = lines(profile), bySelf = profile.tree.selfOf[0].slice();
	weigh(profile.tree, profile);
	assert.deepEqual(lines(profile), before);
	assert.deepEqual(profile.tree.selfOf[0], bySelf);
}

/** A page that the browser saves has the same data. */
function checkSaved(profile) {
	const { profile: again } = readData(JSON.stringify(encodeProfile(profile)));
	weigh(profile.tree, profile);
	weigh(again.tree, again);
	assert.deepEqual(lines(again), lines(profile));
	assert.deepEqual(counted(again), counted(profile));
	assert.deepEqual(timed(again), timed(profile));
	assert.deepEqual(again.code, profile.code);
	assert.deepEqual(JSON.parse(JSON.stringify(again.runs)), JSON.parse(JSON.stringify(profile.runs)));
}

/** A ledger, or the row of a process, as deltas have it: named samples are counted from the tree. */
const unnamed = ({ samples: { named, ...samples }, ...rest }) => ({ ...rest, samples });

function checkSame(page, deltas, expected) {
	const from = made(page), live = version(page, from), labels = [];
	let versions = 0, last;
	for (const delta of deltas) {
		assert(from.apply(delta));
		if (!from.complete)
			continue;
		const changes = live.update();
		last = live.profile;
		addSamples(last.tree, changes);
		noteLabels(labels, last);
		versions++;
	}
	checkWeights(last);
	checkSaved(last);
	checkSaved(expected);
	weigh(expected.tree, expected);
	assert.deepEqual(counted(last), counted(expected));
	assert.deepEqual(timed(last), timed(expected));
	assert.deepEqual(last.code, expected.code);
	jitBins += last.code.rows;
	assert.equal(total(last.slices.samples.subarray(0, last.slices.rows)), total(last.counts.samples));
	assert.deepEqual(lines(last), lines(expected));
	const { start_ns, ...facts } = expected.runs[0].run, { version: _, over_memory, ...ledger } = expected.runs[0];
	assert.deepEqual({ ...last.runs[0] }, { ...unnamed(ledger), run: facts, processes: ledger.processes.map(unnamed) });
	for (const profile of [last, expected])
		assert.equal(namingOf(profile).named, ledger.samples.named, 'the page counts named samples as the summary does');
	assert.equal(from.apply(deltas[0]), false, 'a delta applies once');
	return { versions, last };
}

/** After an update: each node whose frames have moved leads to where one of them is, that with most samples first. */
function checkMoves(tree, before, totals) {
	const after = [...tree.place.data.subarray(0, before.length)], moves = tree.takeMoves(), ends = new Map();
	before.forEach((node, i) => {
		const sums = ends.get(node) ?? new Map();
		ends.set(node, sums.set(after[i], (sums.get(after[i]) ?? 0) + totals[i]));
	});
	for (const [node, sums] of ends) {
		const to = moves.get(node) ?? node, most = Math.max(...sums.values());
		assert.equal(sums.get(to), most, `node ${node} leads to ${to}, which has other samples`);
	}
	return [...moves].filter(([node, to]) => node !== to).length;
}

/** Random changes of a profile: a tree that is updated many times is the tree that is made at once. */
function checkRandom(page, mostFrames) {
	const random = randoms(), from = made(page), live = version(page, from), frames = () =>
		Array.from({ length: 1 + random(mostFrames) }, () => ({ name: random(40), module: random(3), file: random(5), line: random(9), kind: 3,
			flags: random(2) }));
	from.strings = Array.from({ length: 40 }, (_, i) => i ? `name${i}` : '');
	from.rows = [{ pid: 1, inner: 0, comm: 0, fields: [] }];
	from.threads = [{ pid: 1, tid: 1, comm: 1 }, { pid: 1, tid: 2, comm: 2 }];
	from.totals = page.live.totals.map(() => 0);
	const grow = nodes => {
		for (let left = nodes; left; left--) {
			const node = from.parent.size, location = from.places.length;
			if (!random(3)) {
				from.places.push(4);
				from.frames[location] = random(4) ? frames() : null;
			}
			from.parent.push(node && random(40) ? random(node) : -1);
			from.location.push(from.parent.data[node] < 0 ? 0 : random(from.places.length));
			from.comm.set(node, random(4));
			if (random(2)) {
				from.node.push(random(node + 1));
				from.thread.push(random(2));
				from.samples.push(random(9));
				from.isRecounted.push(0);
			}
		}
	};
	from.places.push(4);
	from.frames.push(null);
	for (let round = 0; round < 150; round++) {
		grow(round ? random(9) : 3000);
		for (let left = random(5); left; left--) {
			const count = random(from.samples.size);
			from.recount(count, from.samples.data[count] + 1 + random(3));
		}
		if (!random(9)) {
			const location = random(from.places.length);
			from.frames[location] = frames();
			from.changed.push(location);
		}
		const { place, total } = live.tree;
		const before = [...place.data.subarray(0, place.size)], totals = [...total.data.subarray(0, total.size)];
		const changes = live.update();
		addSamples(live.profile.tree, changes);
		if (mostFrames === 1)
			moved += checkMoves(live.tree, before, totals);
		if (round % 10 && round < 140)
			continue;
		const again = version(page, from), recounted = from.takeRecounted();
		addSamples(again.profile.tree, again.update());
		assert.deepEqual(recounted, []);
		assert.deepEqual(lines(live.profile), lines(again.profile));
		checkWeights(live.profile);
	}
}

/** Nothing but BadDelta, and no version that cannot be shown. */
function checkDamaged(page, deltas) {
	const random = randoms();
	let refused = 0;
	for (let round = 0; round < 2000; round++) {
		const from = made(page), live = version(page, from), damaged = random(Math.min(deltas.length, 4));
		try {
			for (let i = 0; i <= damaged; i++) {
				let delta = deltas[i].slice();
				if (i === damaged && round % 2)
					delta = delta.subarray(0, random(delta.length));
				else if (i === damaged)
					for (let left = 1 + random(3); left; left--)
						delta[random(delta.length)] = random(256);
				if (from.apply(delta)) {
					const changes = live.update();
					if (from.complete)
						addSamples(live.profile.tree, changes);
				}
			}
		} catch (error) {
			assert(error instanceof BadDelta, error.stack);
			refused++;
		}
	}
	assert(refused > 1000, `only ${refused} of 2000 damaged sequences were refused`);
}

let versions = 0, jitBins = 0, moved = 0;
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
		if (recording === recordings[0])
			[1, 3].forEach(most => checkRandom(page, most));
	}
}
assert(jitBins > 0, 'no JIT code by time');
assert(moved > 100, `only ${moved} nodes have moved`);
assert(versions > 4 * recordings.length, `only ${versions} versions`);
assert.throws(() => split(Uint8Array.of(255, 255, 255, 255, 0), 5), BadDelta);
console.log('deltas: ok');
