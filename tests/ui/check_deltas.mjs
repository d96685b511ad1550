// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The page's decoder of deltas (user/sink/page/delta.ts, live.ts, live_tree.ts, stream.ts): what it makes of a recording's deltas is
// what the static page of the recording holds. Damaged deltas are refused.
//   node check_deltas.mjs BUILD RECORDING...
import assert from 'node:assert';
import { load, randoms, run, textIn } from './page_modules.mjs';

const { BadDelta, DeltaProfile, KeptFrames, LiveLabels, LiveVersion, Names, NamingCounts, PROCESS, PathTexts, SavedProcesses, Shaped, SliceList,
	Splitter, TickSums, addSamples, binsOf, Callers, encodeProfile, exists, firefoxOf, namingOf, Sandwich, pathTo, readData, readState, shapes,
	shownSamples, weigh,
} = await load('callers', 'data', 'delta', 'encode', 'kept_frames', 'kinds', 'live', 'live_labels', 'names', 'naming', 'path_text', 'sandwich',
	'save_firefox', 'saved', 'shaped', 'slices', 'state', 'stream', 'time_bins', 'tree', 'weigh');
const [build, ...recordings] = process.argv.slice(2);
const dataIn = page => readData(textIn(page));

/** The texts of each node, from the root on. Siblings are in the order of their names. */
function paths({ tree, labels, strings, sources }) {
	const found = [];
	tree.walk(node => {
		const label = tree.label[node], source = tree.source[node], up = node && found[tree.parent[node]];
		const text = `${strings[labels.name[label]]}|${strings[labels.module[label]]}|${labels.kind[label]}|${strings[labels.plain[label]]}`;
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

const made = ({ live: { row, totals } }) => new DeltaProfile(row.length, totals.length, [...row.keys()].filter(i => row[i].startsWith('samples.')));

/** Numbers of labels keep their texts in all versions. */
function noteLabels(known, { labels, strings }) {
	for (let i = 0; i < labels.rows; i++) {
		const text = `${strings[labels.name[i]]}|${strings[labels.module[i]]}|${labels.kind[i]}|${strings[labels.plain[i]]}`;
		assert.equal(known[i] ??= text, text);
	}
}

const newLabels = page => {
	const labels = new LiveLabels(page.live);
	labels.string('');
	labels.label('all', '', PROCESS);
	labels.source('', 0);
	return labels;
};

const version = (page, from, labels = newLabels(page), event = '') => new LiveVersion(labels, page.words, from, event);

/** Samples that were added one version after another are those that are counted at once. */
function checkWeights(profile) {
	const before = lines(profile), bySelf = profile.tree.selfOf[0].slice();
	weigh(profile.tree, profile);
	assert.deepEqual(lines(profile), before);
	assert.deepEqual(profile.tree.selfOf[0], bySelf);
}

/** A page that the browser saves has the same data, also of other events. */
function checkSaved(profile, others = []) {
	const { profile: again, others: more } = readData(JSON.stringify(encodeProfile(profile, others)));
	assert.deepEqual([again, ...more].map(({ event, events }) => [event, events]), [profile, ...others].map(({ event, events }) => [event, events]));
	others.forEach((other, i) => checkSamples(other, more[i]));
	checkSamples(profile, again);
}

function checkSamples(profile, again) {
	weigh(profile.tree, profile);
	weigh(again.tree, again);
	assert.deepEqual(lines(again), lines(profile));
	assert.deepEqual(counted(again), counted(profile));
	assert.deepEqual(timed(again), timed(profile));
	assert.deepEqual(again.code, profile.code);
	assert.deepEqual(JSON.parse(JSON.stringify(again.runs)), JSON.parse(JSON.stringify(profile.runs)));
}

/** What is saved for the Firefox Profiler: its description, and samples by thread, tick and stack; and names and cgroups of threads. */
function savedOf(profile) {
	const samples = shownSamples(profile, {}, null, true);
	const shown = { profile, run: profile.runs[0], tree: profile.tree, samples, range: null, filters: [] };
	const { meta, threads, shared: { stackTable, frameTable, funcTable, stringArray } } = JSON.parse(firefoxOf(shown).join(''));
	const stacks = [], sums = new Map(), processes = new SavedProcesses(profile, profile.runs[0]);
	for (let i = 0; i < stackTable.length; i++) {
		const frame = stackTable.frame[i], name = stringArray[funcTable.name[frameTable.func[frame]]];
		stacks.push(`${stacks[i - stackTable.prefixOffset[i]] ?? ''};${name} ${frameTable.category[frame]} ${frameTable.line[frame]}`);
	}
	for (const { pid, tid, name, processName, samples } of threads)
		samples.stack.forEach((stack, i) => {
			const key = `${pid}.${tid} ${name} ${processName} ${Math.floor(1e6 * samples.time[i] / profile.slices.tickNs)} ${stacks[stack] ?? ''}`;
			sums.set(key, (sums.get(key) ?? 0) + samples.weight[i]);
		});
	const ofThreads = Array.from({ length: profile.threads.rows }, (_, i) => JSON.stringify([processes.nameOf(0, i), processes.cgroupOf(i)]));
	return { meta, sums: [...sums].sort(), ofThreads: ofThreads.sort() };
}

/** A ledger, or the row of a process, as deltas have it: named samples are counted from the tree. */
const unnamed = ({ samples: { named, ...samples }, ...rest }) => ({ ...rest, samples });

/** Threads in so many parts; some are in none. */
const splitOf = ({ threads }, parts) => ({ key: 'same', parts, of: Uint8Array.from({ length: parts ? threads.rows : 0 }, (_, i) => i % (parts + 1)) });

/** Sums that have followed the slices are those that are made at once. `halves` has followed the threads in two parts. */
function checkSums(profile, sums, halves, slices) {
	const { counts } = profile;
	const same = (parts, followed = sums) => {
		const anew = new TickSums(), split = splitOf(profile, parts);
		for (const one of [anew, followed])
			one.follow(profile, split);
		const bins = binsOf(profile, followed, 1000, parts === 1, true);
		assert.deepEqual(bins, binsOf(profile, anew, 1000, parts === 1, true));
		assert.equal(total(anew.all.subarray(0, anew.size)), total(counts.samples));
		const expected = Array.from({ length: parts }, (_, part) =>
			total(Array.from({ length: counts.rows }, (_, i) => split.of[counts.group[i]] === part + 1 ? counts.samples[i] : 0)));
		assert.deepEqual(followed.parts.map(part => total(part.subarray(0, followed.size))), expected);
		assert.deepEqual(bins.maps.map(({ cells }) => Math.round(total(cells))), parts === 1 ? expected : [total(counts.samples), ...expected]);
		assert.equal(Math.round(total(bins.chosen)), parts === 1 ? expected[0] : total(counts.samples));
		assert(bins.maps.every(({ most, cells }) => most === Math.max(...cells)), 'each map has its own largest number');
		assert.deepEqual(binsOf(profile, followed, 1000, parts === 1, false), { ...bins, maps: [] }, 'a folded time line has no map');
	};
	same(2, halves);
	same(0);
	same(1);
	same(3);
	slices.follow(Array.from({ length: 24 }, (_, i) => i ? 0 : 1 << 20), counts.rows);
	profile = { ...profile, slices: slices.list };
	same(3);
	same(1);
	same(2, halves);
	assert(sums.tick.subarray(0, sums.size).every(tick => tick % 2 === 0), 'ticks have become longer');
}

/**
 * Each event of the static page, with the samples of its versions one after the other. Some versions of the others are
 * left out, as when a page shows another event.
 */
function checkEvents(page, deltas, { profile, others }) {
	const random = randoms(), all = made(page), labels = newLabels(page), lives = [], last = [], expected = [profile, ...others];
	for (const delta of deltas) {
		assert(all.apply(delta));
		for (const [number, event] of all.events.entries()) {
			const live = lives[number] ??= version(page, all.ofEvent(number), labels, event);
			if (all.complete && (!random(3) || delta === deltas[deltas.length - 1])) {
				addSamples(live.tree.tree, live.update());
				last[number] = live.profile;
			}
		}
	}
	assert.deepEqual(last.map(({ event }) => event), expected.map(({ event }) => event));
	last.forEach((now, number) => {
		const same = expected[number], { version: _, over_memory, unnamed: _files, events: _events, total_unknown: _hidden, ...ledger } = same.runs[0];
		checkWeights(now);
		weigh(same.tree, same);
		assert.deepEqual(counted(now), counted(same));
		assert.deepEqual(timed(now), timed(same));
		assert.deepEqual(lines(now), lines(same));
		assert.deepEqual(now.events, same.events);
		assert.deepEqual(JSON.parse(JSON.stringify(now.runs[0])), { ...unnamed(ledger), processes: ledger.processes.map(unnamed) });
		shownEvents += total(now.counts.samples) > 0;
	});
	checkSaved(last[1], [last[0], ...last.slice(2)]);
}

function checkSame(page, deltas, expected) {
	const random = randoms(), from = made(page), live = version(page, from), labels = [], shown = {}, sums = new TickSums(), halves = new TickSums();
	let versions = 0, last, naming, times = null;
	for (const delta of deltas) {
		assert(from.apply(delta));
		if (last && random(3) === 0)
			assert.deepEqual(timed(last), times, 'what is shown stays until the next version is');
		if (!from.complete)
			continue;
		const changes = live.update();
		last = live.profile;
		addSamples(last.tree, changes);
		times = timed(last);
		noteLabels(labels, last);
		Object.assign(shown, last);
		if (naming)
			naming.add(changes);
		else
			naming = new NamingCounts(shown);
		sums.follow(shown, splitOf(shown, 0));
		halves.follow(shown, splitOf(shown, 2));
		versions++;
	}
	assert.deepEqual(naming.naming(last.runs[0]), namingOf(last));
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
	assert.deepEqual(savedOf(last), savedOf(expected));
	// Of other events, only the names are known while a run goes on.
	const { version: _, over_memory, unnamed: _files, events: _events, total_unknown: _hidden, ...ledger } = expected.runs[0];
	assert.deepEqual({ ...last.runs[0] }, { ...unnamed(ledger), processes: ledger.processes.map(unnamed) });
	for (const profile of [last, expected])
		assert.equal(namingOf(profile).named, ledger.samples.named, 'the page counts named samples as the summary does');
	assert.equal(from.apply(deltas[0]), false, 'a delta applies once');
	assert.equal(new Set(from.places.map((_, location) => from.keyOf(location))).size, from.places.length, 'locations differ');
	checkSums(last, sums, halves, from.slices);
	return { versions, last };
}

const nodeAt = (tree, path) => path.reduce((at, label) => tree.find(at, label), 0);

/** The path to the frame that a stack was kept for. */
const pathOf = (labels, at) => [...labels.slice(0, at).flat(), ...labels[at].slice(0, 1)];

/** Spots, by the locations of their stacks. */
function nodesByStack({ from, tree, place, spots }) {
	const keys = [], nodes = new Map();
	for (let i = 0; i < place.size; i++) {
		const up = spots.up.data[i];
		keys[i] = up < 0 ? `-1 ${pathTo(tree, place.data[i])}` : `${keys[up]} ${from.location.data[spots.node.data[i]]}`;
		nodes.set(keys[i], [...nodes.get(keys[i]) ?? [], i]);
	}
	return nodes;
}

const stackKey = ({ steps }) => steps.map(step => step.location).join(' ').replace('-1', `-1 ${steps[0].labels}`);

/** Stacks through random nodes: each has most samples of one caller's callees. Returns them with their spots. */
function keepStacks(live, random) {
	const { tree, place, total, spots, spots: { up: parent } } = live.tree, byStack = nodesByStack(live.tree), kept = [];
	const used = [...tree.label.keys()].filter(node => node > 0 && node < tree.count && tree.total[0][node]);
	for (let tries = 5; tries; tries--) {
		const node = tries < 5 ? used[random(used.length)] : 1 + random(tree.count - 1), stack = live.tree.stackThrough(other => other === node), groups = new Map();
		const under = i => live.tree.frameAt(i, other => other === node) >= 0;
		for (let i = 0; i < place.size; i++)
			if (under(i))
				groups.set(parent.data[i], (groups.get(parent.data[i]) ?? 0) + total.data[i]);
		const most = Math.max(0, ...groups.values());
		assert.equal(stack === null, most === 0);
		if (!stack)
			continue;
		assert.equal(stack.nodes[stack.at], node);
		assert.deepEqual(stack.nodes.map(at => tree.label[at]), live.tree.labelsOf(stack).flat());
		const i = byStack.get(stackKey(stack)).find(each => groups.get(parent.data[each]) === most);
		assert(i !== undefined, 'another caller has more samples there');
		kept.push({ stack, node: spots.node.data[i], group: spots.group.data[i], before: pathOf(live.tree.labelsOf(stack), stack.at) });
	}
	return kept;
}

/** Each stack leads to its frames in this version, in which nodes and groups have the same numbers. */
function checkStacks(live, kept) {
	const { tree, place, spots } = live.tree;
	for (const { stack, node, group, before } of kept) {
		const labels = live.tree.labelsOf(stack), path = pathOf(labels, stack.at);
		assert(exists(tree, path));
		assert.equal(nodeAt(tree, labels.flat()), place.data[spots.of(node, group)]);
		moved += String(path) !== String(before);
	}
}

/** The same profile in another epoch: locations have other numbers, and all have names. */
function otherEpoch(page, from) {
	const other = made(page), last = from.places.length - 1, named = from.frames.find(frames => frames);
	for (const key of ['strings', 'rows', 'threads', 'totals', 'comm'])
		other[key] = from[key];
	for (let location = last; location >= 0; location--) {
		other.places.push(from.places[location]);
		other.frames.push(from.frames[location] ?? named);
		other.owner.push(from.owner.at(location));
		other.offset.forEach((half, i) => half.push(from.offset[i].at(location)));
	}
	for (let i = 0; i < from.parent.size; i++) {
		other.parent.push(from.parent.at(i));
		other.location.push(from.parent.at(i) < 0 ? from.location.at(i) : last - from.location.at(i));
	}
	for (let i = 0; i < from.node.size; i++) {
		for (const key of ['node', 'thread', 'samples'])
			other[key].push(from[key].at(i));
		other.isRecounted.push(0);
	}
	other.epoch = from.epoch + 1;
	return other;
}

/** What of the page's view KeptFrames uses, of a graph of the profile's tree or of one with other frames. */
class StandIn {
	constructor(live, state) {
		this.profile = live.profile;
		this.names = new Names(this.profile);
		this.texts = new PathTexts(this.names);
		this.state = { ...readState(''), ...state };
		this.shaped = shapes(this.state) ? new Shaped(this.profile, this.state, this.names, this.texts) : null;
		this.weigh();
	}

	get base() { return this.shaped?.tree ?? this.profile.tree; }
	get centre() { return this.of ?? -1; }
	isCentre(label) { return label === this.of; }

	weigh() {
		this.shaped?.grow();
		weigh(this.base, this.profile, { place: this.shaped?.place });
		this.tree = this.of ? new Sandwich(this.base, this.of, label => label === this.of, this.profile.order).callers.tree
			: this.state.callers ? new Callers(this.base, this.state.zoom).tree : this.base;
	}

	get graph() { return { tree: this.tree, selected: this.selected ?? -1, selectAt: path => { this.path = path; } }; }
}

/** Zoom and selection in a tree without some frames, callers, or a sandwich: they stay where the frames are. */
function checkKept(live, random, update) {
	const { profile } = live, some = () => profile.tree.label[1 + random(profile.tree.count - 1)];
	const view = new StandIn(live, { collapse: !random(2), callers: !random(2) });
	view.state.hide = random(2) ? ['f' + view.texts.functionOf(some())] : [];
	view.shaped = shapes(view.state) ? new Shaped(view.profile, view.state, view.names, view.texts) : null;
	if (!random(4)) {
		view.of = some();
		view.state.callers = false;
	}
	view.weigh();
	const used = [...view.tree.label.keys()].filter(node => node > 0 && node < view.tree.count && view.tree.total[0][node]);
	const node = used.length && used[random(used.length)], path = pathTo(view.tree, node), kept = new KeptFrames(view);
	if (!node)
		return addSamples(live.profile.tree, live.update());
	view.state.zoom = view.of ? [] : path;
	view.selected = node;
	kept.note(live.tree);
	const { steps, at } = kept.selected.stack, ofSteps = steps.flatMap(step => step.labels.map(() => step));
	update(view.of ? ofSteps.slice(0, at).filter(step => step !== ofSteps[at]) : steps);    // the function of a sandwich keeps its name
	Object.assign(view.profile, live.profile);
	view.weigh();
	kept.take(live.tree);
	view.weigh();
	if (!view.path) // it has the name of a function that is hidden, or of one above it
		assert(view.state.hide.length || view.state.collapse);
	for (const now of !view.path ? [] : view.of ? [view.path] : [view.path, view.state.zoom]) {
		const is = exists(view.tree, now) && view.tree.total[0][nodeAt(view.tree, now)] > 0;
		// With recursion folded, a new name can be one that occurs above: the samples of the frame are there then.
		assert(is || view.state.collapse, `${path} has become ${now}, which has no samples`);
		keptPaths[is ? 'found' : 'folded']++;
	}
	shifted += view.path !== undefined && String(view.path) !== String(path);
	weigh(live.profile.tree, live.profile);
}

/** Random changes of a profile: a tree that is updated many times is the tree that is made at once. */
function checkRandom(page, mostFrames) {
	const random = randoms(), from = made(page), live = version(page, from), frames = () =>
		Array.from({ length: 1 + random(mostFrames) }, () => ({ name: random(40), module: random(3), file: random(5), line: random(9), kind: 3,
			flags: random(2) }));
	from.strings = Array.from({ length: 40 }, (_, i) => i ? `name${i}` : '');
	from.rows = [{ pid: 1, inner: 0, comm: 0, fields: [] }];
	from.threads = [{ pid: 1, tid: 1, comm: 1, container: 0, unit: 3 }, { pid: 1, tid: 2, comm: 2, container: 4, unit: 3 }];
	from.totals = page.live.totals.map(() => 0);
	const place = () => {
		from.owner.push(from.places.length % 5);
		from.offset[0].push(from.places.length % 7);
		from.offset[1].push(from.places.length);
		from.places.push(4);
	};
	const grow = nodes => {
		for (let left = nodes; left; left--) {
			const node = from.parent.size, location = from.places.length;
			if (!random(3)) {
				place();
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
	const rename = location => {
		if (location < 0)
			return;
		from.frames[location] = frames();
		from.changed.push(location);
	};
	place();
	from.frames.push(null);
	for (let round = 0; round < 130; round++) {
		grow(round ? random(9) : 1500);
		for (let left = random(5); left; left--) {
			const count = random(from.samples.size);
			from.recount(count, from.samples.data[count] + 1 + random(3));
		}
		const kept = round && round % 10 === 0 ? keepStacks(live, random) : [];
		if (!random(9))
			rename(random(from.places.length));
		for (const { stack } of kept.slice(0, 1))
			rename(stack.steps[random(stack.steps.length)].location);
		if (round % 10 % 3 === 1)
			checkKept(live, random, steps => {
				rename(steps[random(steps.length)]?.location ?? -1);
				live.update();
			});
		else
			addSamples(live.profile.tree, live.update());
		checkStacks(live, kept);
		if (round % 10 && round < 125)
			continue;
		const again = version(page, from, live.labels), recounted = from.takeRecounted();
		addSamples(again.profile.tree, again.update());
		assert.deepEqual(recounted, []);
		checkStacks(again, kept);
		const other = version(page, otherEpoch(page, from), live.labels);
		other.update();
		checkStacks(other, kept);
		assert.deepEqual(lines(live.profile), lines(again.profile));
		checkWeights(live.profile);
	}
}

/** Slices that were copied stay as they were, while others come, are folded, or all are void. */
function checkSlices() {
	const slices = new SliceList(), random = randoms(), rowsOf = ({ rows, tick, count, samples }) =>
		Array.from({ length: rows }, (_, i) => [tick[i], count[i], samples[i]]);
	for (let round = 0; round < 300; round++) {
		const shown = { ...slices.list }, before = rowsOf(shown);
		if (!random(20))
			slices.clear();
		if (!random(4))
			slices.follow([16 * random(50)], 9);
		for (let left = random(90); left; left--)
			slices.add(random(800), random(9), 1 + random(5));
		assert.deepEqual(rowsOf(shown), before);
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

/** Each value of --by, and hidden frames. */
const VIEWS = [['comm', false], ['comm', true], ['pid', false], ['tid', false], ['container', true]];

/** The number of outermost frames. */
const outermostOf = ({ tree }) => [...tree.parent.subarray(1, tree.count)].filter(up => up === 0).length;

checkSlices();
let threadsApart = 0; /* recordings whose threads have frames of their own */
let shownEvents = 0, versions = 0, jitBins = 0, moved = 0, shifted = 0;
const keptPaths = { found: 0, folded: 0 };
for (const recording of recordings) {
	const bytes = run(`${build}/tests/ui/make_deltas`, 'deltas', recording);
	const { deltas, ended } = split(bytes, 1 << 16);
	assert(ended);
	for (const chunk of [1, 4099])
		assert.deepEqual(split(bytes, chunk), { deltas, ended });
	const outermost = {};
	for (const [by, hide] of VIEWS) {
		const page = dataIn(run(`${build}/tests/ui/make_deltas`, 'page', recording, by, ...(hide ? ['hide'] : [])));
		const options = ['--by', by, ...(hide ? ['--kernel=no', '--no-inline', '--merge=all'] : [])];
		const data = dataIn(run(`${build}/jitbpf`, 'report', '-f', 'html', '--no-packages', ...options, recording)), { profile } = data;
		const same = checkSame(page, deltas, profile);
		versions += same.versions;
		if (data.others.length)
			checkEvents(page, deltas, data);
		outermost[by] = Math.max(outermost[by] ?? 0, outermostOf(same.last));
		if (by === 'comm' && !hide)
			checkDamaged(page, deltas);
		if (recording === recordings[0] && by !== 'pid')
			[1, 3].forEach(most => checkRandom(page, most));
	}
	threadsApart += outermost.tid > outermost.comm;
}
assert(threadsApart > 0, 'threads have frames of their own');
assert(jitBins > 0, 'no JIT code by time');
assert(shownEvents > 2 * VIEWS.length, 'a recording has several events with samples');
assert(moved > 100, `only ${moved} stacks have other names`);
assert(keptPaths.folded < keptPaths.found / 20, `${keptPaths.folded} of ${keptPaths.found} paths are folded`);
assert(shifted > 20, `only ${shifted} paths have changed`);
assert(versions > 4 * recordings.length, `only ${versions} versions`);
assert.throws(() => split(Uint8Array.of(255, 255, 255, 255, 0), 5), BadDelta);
console.log('deltas: ok');
