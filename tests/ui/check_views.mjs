// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What the page makes of a profile (user/sink/page/shaped.ts, sandwich.ts, callers.ts, function_sums.ts), compared with stacks that are
// changed one by one; and paths in addresses.
//   node check_views.mjs JITBPF MAKE_PAGE RECORDING...
import assert from 'node:assert';
import { load, randoms, run, textIn } from './page_modules.mjs';

// Colours depend on the scheme.
globalThis.matchMedia = () => ({ matches: false, addEventListener() {} });

const { Callers, FunctionSums, INLINED, KERNEL, KIND_ROWS, Names, PROCESS, PathTexts, Pieces, Sandwich, Shaped, TIERS, Tree, Weights, addSamples, changeColours, changeColour, codeOf, encodeProfile, fragmentOf, kindLabel,
	cutProcesses, mayBeChance, namingOf, noProfile, noSlices, paceOf, pauseAfter, percent, plainKind, readData, readState, runtimesFrom, shortened, shownSamples, weigh, withoutCode } = await load('callers', 'change_colours', 'code_data',
	'colour', 'data', 'encode', 'engines', 'function_sums', 'kinds', 'live', 'names', 'naming', 'noise', 'path_text', 'pieces', 'sandwich', 'search', 'shaped', 'slices', 'state', 'text', 'tree', 'weigh');

const random = randoms();

/** Labels of each node's stack, from the process on, and its samples. */
function stacksOf(tree) {
	const stacks = [];
	for (let i = 1; i < tree.count; i++) {
		const labels = [];
		for (let at = i; at > 0; at = tree.parent[at])
			labels.unshift(tree.label[at]);
		if (tree.self[0][i])
			stacks.push({ labels, samples: tree.self[0][i] });
	}
	return stacks;
}

/** Samples by stack. */
function summed(stacks) {
	const sums = new Map();
	for (const { labels, samples } of stacks)
		sums.set(String(labels), (sums.get(String(labels)) ?? 0) + samples);
	return new Map([...sums].sort());
}

/** Back to the first occurrence of a function that occurs again. */
function folded(labels) {
	const kept = [];
	for (const label of labels) {
		const at = kept.indexOf(label);
		if (at >= 0)
			kept.length = at;
		kept.push(label);
	}
	return kept;
}

const state = part => ({ ...readState(''), ...part });

function checkShape(profile, names, texts, stacks, part) {
	const module = item => item[0] === 'm' && item.slice(1), is = (items, label) => items.some(item =>
		module(item) === false ? texts.functionOf(label) === item.slice(1) : names.rawModule(label) === module(item));
	const { hide, only, nokernel, collapse } = state(part);
	const expected = summed(stacks.filter(({ labels }) => !only.length || labels.some(label => is(only, label)))
		.map(({ labels: code, samples }) => {
			const labels = code.map(label => names.shown(label)), kept = labels.filter(label => !is(hide, label) && !(nokernel && plainKind(names.kind(label)) === KERNEL));
			return { labels: collapse ? folded(kept) : kept, samples };
		}));
	const shaped = new Shaped(profile, state(part), names, texts);
	weigh(shaped.tree, profile, { place: shaped.place });
	const root = shaped.tree.self[0][0];
	assert.deepEqual(summed([...stacksOf(shaped.tree), ...(root ? [{ labels: [], samples: root }] : [])]), expected, JSON.stringify(part));
	assert.equal(shaped.tree.total[0][0], [...expected.values()].reduce((sum, n) => sum + n, 0));
	return expected.size;
}

/** The callers, and the callees, of a function. Recursion: its outermost frame. */
function checkSandwich(profile, texts, stacks, label) {
	const { tree, order } = profile, isIt = other => texts.functionOf(other) === texts.functionOf(label);
	const found = stacks.filter(({ labels }) => labels.some(isIt));
	const below = found.map(({ labels, samples }) => ({ labels: labels.slice(labels.findIndex(isIt) + 1), samples }));
	const { callees, callers: { tree: callers } } = new Sandwich(tree, label, isIt, order), self = callees.self[0][0];
	assert.deepEqual(summed([...stacksOf(callees), ...(self ? [{ labels: [], samples: self }] : [])]), summed(below));
	const above = summed(found.map(({ labels, samples }) => ({ labels: labels.slice(0, labels.findIndex(isIt)).reverse(), samples })));
	const whole = found.reduce((sum, { samples }) => sum + samples, 0), direct = new Map();
	for (const [path, samples] of above)
		direct.set(path.split(',')[0], (direct.get(path.split(',')[0]) ?? 0) + samples);
	assert.equal(callers.total[0][0], whole);
	assert.equal(callees.total[0][0], whole);
	for (let at = callers.firstChild(0); at >= 0; at = callers.nextSibling(at))
		assert.equal(callers.total[0][at], direct.get(String(callers.label[at])));
}

function checkPaths(names, texts) {
	const labels = Array.from({ length: 60 }, () => 1 + random(names.labels - 1));
	for (const path of [labels.slice(0, 5), labels, [...labels, ...labels, ...labels, ...labels, ...labels], []]) {
		const fragment = fragmentOf(state({ search: 'a/b&path=c' }), texts.pathOf(path)), read = readState(fragment);
		assert.deepEqual(texts.labelsOf(read.path), path);
		assert.equal(read.search, 'a/b&path=c');
	}
	const endless = Array.from({ length: 5000 }, () => labels[random(60)]), cut = readState('#path=' + texts.pathOf(endless)).path;
	assert(texts.pathOf(endless).length <= 8000);
	assert.deepEqual(texts.labelsOf(cut), endless.slice(0, cut.length));
	assert.deepEqual(texts.labelsOf(['none~0', texts.textOf(labels[0])]), []);
	assert.deepEqual(readState('#path=%E0%A4%A/x').path, ['', 'x']);
}

/** The shares of code of a shown frame are those of the frames that it stands for. */
function checkPieces(profile, names, texts) {
	const shaped = new Shaped(profile, state({}), names, texts), { tree } = profile, byTier = new Map();
	weigh(shaped.tree, profile, { place: shaped.place });
	for (let i = 1; i < tree.count; i++) {
		const at = shaped.nodeOf(i), sums = byTier.get(at) ?? new Map(), tier = names.tier(tree.label[i]);
		sums.set(tier, (sums.get(tier) ?? 0) + tree.total[0][i]);
		byTier.set(at, sums);
	}
	const pieces = new Pieces(profile, names, shaped, shownSamples(profile, {}, null, false));
	for (const [at, sums] of byTier) {
		const text = pieces.ofNode(shaped.tree, at), whole = shaped.tree.total[0][at];
		assert.equal([...sums.values()].reduce((sum, n) => sum + n, 0), whole);
		if (plainKind(names.kind(shaped.tree.label[at])) === PROCESS)
			assert.equal(text, '');
		else if (sums.size === 1)
			assert.equal(text, TIERS[[...sums.keys()][0]]);
		for (const [tier, samples] of sums.size > 1 ? sums : [])
			assert(text.includes(`${TIERS[tier] || 'main code'} ${percent(samples, whole)}`), `${text}: ${[...sums]}`);
	}
	return [...byTier.values()].filter(sums => sums.size > 1).length;
}

/** Kinds that are added later: those of a page whose data has more than eight, and one that this page does not know. */
function checkKinds() {
	const known = KIND_ROWS.length;
	while (KIND_ROWS.length <= 20)
		KIND_ROWS.push({ ...KIND_ROWS[1], label: `kind ${KIND_ROWS.length}`, suffix: `_[${KIND_ROWS.length}]` });
	const kinds = [PROCESS, 9, 20, INLINED | 9, INLINED | 20, 21], strings = ['all', 'a', 'b', 'c', 'd', 'e'], each = Uint32Array.from(kinds, (_, i) => i);
	const profile = { ...noProfile({}), strings, labels: { rows: 6, name: each, module: new Uint32Array(6), kind: Uint32Array.from(kinds),
		tier: new Uint32Array(6), function: each, plain: each } };
	for (const read of [profile, readData(JSON.stringify(encodeProfile(profile))).profile]) {
		const names = new Names(read);
		assert.deepEqual([...read.labels.kind], kinds);
		assert.deepEqual([1, 2, 3, 4, 5].map(label => names.kindWords(label)),
			['kind 9', 'kind 20', 'inlined kind 9', 'inlined kind 20', 'unknown kind']);
		assert.deepEqual([1, 2, 3, 5].map(label => plainKind(names.kind(label))), [9, 20, 9, 21]);
	}
	assert.equal(new Set(KIND_ROWS.map((_, kind) => kindLabel(kind))).size, 21);
	KIND_ROWS.length = known;
}

/** Static functions of one name: as far as their files differ, and each with its own place in an address. */
function checkSameNames() {
	const strings = ['', 'all', 'p', 'f', '/s/x/i.c', '/s/y/i.c', '/s/a.c', 'g'], labels = { rows: 7, name: Uint32Array.of(1, 3, 3, 3, 3, 7, 3),
		module: Uint32Array.of(0, 2, 2, 2, 2, 2, 2), kind: Uint32Array.of(PROCESS, 2, 2, 2, 2, 2, INLINED | 2), tier: Uint32Array.of(0, 0, 0, 0, 0, 0, 10),
		function: Uint32Array.of(0, 1, 2, 3, 4, 5, 2), plain: Uint32Array.of(1, 3, 3, 3, 3, 7, 3), file: Uint32Array.of(0, 4, 5, 6, 0, 6, 5) };
	const names = new Names({ strings, labels }), texts = new PathTexts(names);
	assert.deepEqual([1, 2, 3, 4, 5, 6].map(label => names.name(label)), ['f of x/i.c', 'f of y/i.c', 'f of s/a.c', 'f', 'g', 'f of y/i.c']);
	assert.deepEqual([1, 2, 3, 4, 5, 6].map(label => texts.labelOf(texts.textOf(label))), [1, 2, 3, 4, 5, 2]);
	assert.equal(new Set([1, 2, 3, 4, 5, 6].map(label => texts.functionOf(label))).size, 5);
	const list = [1, 2].map(file => ({ name: 'f', module: 'p', kind: 'native', file: strings[3 + file], samples: file, more: 0, generations: [] }));
	assert.equal(codeOf({ list }, names, [2, 6]).samples, 2);
	names.merged = false;
	assert.equal(names.name(1), 'f');
}

/** A function in three pieces, the first of which is cold, and code of others. */
function checkCode() {
	const strings = ['all', 'p', 'main', 'f.cold', 'f', 'g'], labels = { rows: 7, name: Uint32Array.of(0, 1, 2, 3, 4, 4, 5), module: new Uint32Array(7),
		kind: Uint32Array.of(PROCESS, PROCESS, 2, 2, 2, INLINED | 2, INLINED | 2), tier: Uint32Array.of(0, 0, 0, 9, 0, 10, 10), function: Uint32Array.of(0, 1, 2, 3, 3, 3, 6),
		plain: Uint32Array.of(0, 1, 2, 4, 4, 4, 5) };
	const order = (a, b) => a - b, tree = new Tree(1, order), node = [];
	for (let i = 0; i < 200; i++)
		node.push(Array.from({ length: 1 + random(6) }, () => 2 + random(5)).reduce((at, label) => tree.child(at, label), tree.child(0, 1)));
	const profile = { tree, order, strings, labels, runs: [{}], slices: noSlices(), counts: { rows: 200, node, group: new Uint32Array(200),
		samples: Float64Array.from(node, () => 1 + random(9)) } };
	const names = new Names(profile), texts = new PathTexts(names);
	weigh(tree, profile);
	for (const collapse of [false, true])
		checkShape(profile, names, texts, stacksOf(tree), { collapse, hide: collapse ? ['f' + texts.functionOf(4)] : [] });
	assert(checkPieces(profile, names, texts) > 0);
	assert.deepEqual([3, 4, 5, 6].map(label => `${names.name(label)} ${names.kindWords(label)}`), ['f native', 'f native', 'f native', 'g inlined native']);
	const pieces = new Pieces(profile, names, null, shownSamples(profile, {}, null, false)), self = label => node.reduce((sum, at, i) =>
		sum + (tree.label[at] === label ? profile.counts.samples[i] : 0), 0);
	const [cold, main, inlined] = [3, 4, 5].map(self), whole = cold + main + inlined;
	assert.deepEqual(pieces.ofFunction(4).split(', ').sort(), [`cold ${percent(cold, whole)}`, `inlined ${percent(inlined, whole)}`,
		`main code ${percent(main, whole)}`]);
	assert.equal(pieces.ofFunction(6), 'inlined');
	assert.equal(pieces.ofFunction(2), '');
	const found = codeOf({ list: ['f', 'g', 'f.cold'].map((name, i) => ({ name, module: 'all', samples: 1 + i, more: 0, generations: [{ samples: 1 + i }] })) },
		names, [3, 4, 5]);
	assert.deepEqual([found.samples, found.generations], [4, [{ samples: 1, name: 'f' }, { samples: 3, name: 'f.cold' }]]);
}

function checkPage(page, choices) {
	const { profile } = readData(textIn(page)), names = new Names(profile), texts = new PathTexts(names);
	weigh(profile.tree, profile);
	const stacks = stacksOf(profile.tree), some = () => {
		const { labels } = stacks[random(stacks.length)];
		return labels[random(labels.length)];
	};
	const check = () => checkShape(profile, names, texts, stacks, { hide: items(), only: items(), nokernel: random(2) === 1, collapse: random(2) === 1 });
	const item = () => random(3) ? 'f' + texts.functionOf(some()) : 'm' + names.rawModule(some());
	const items = () => random(2) ? Array.from({ length: 1 + random(3) }, item) : [];
	for (let i = 0; i < choices; i++) {
		check();
		names.merged = false;
		check();
		checkSandwich(profile, texts, stacks, some());
		names.merged = true;
	}
	checkPieces(profile, names, texts);
	names.merged = false;
	checkPaths(names, texts);
}

/** Recursion through another function, and a frame that is added later. */
function checkFolding() {
	const profile = { tree: new Tree(1, (a, b) => a - b), order: (a, b) => a - b, strings: ['', 'a', 'b', 'c'], runs: [{}],
		labels: { rows: 4, name: Uint32Array.of(0, 1, 2, 3), module: new Uint32Array(4), kind: Uint32Array.of(5, 3, 3, 3), tier: new Uint32Array(4),
			function: Uint32Array.of(0, 1, 2, 3), plain: Uint32Array.of(0, 1, 2, 3) } };
	const names = new Names(profile), shaped = new Shaped(profile, state({ collapse: true }), names, new PathTexts(names));
	const add = (...labels) => addSamples(shaped.tree, { rows: 1, node: [labels.reduce((at, label) => profile.tree.child(at, label), 0)],
		group: Uint32Array.of(0), samples: Float64Array.of(1) }, { place: shaped.place });
	const grow = (...labels) => { labels.reduce((at, label) => profile.tree.child(at, label), 0); shaped.grow(); add(...labels); };
	grow(1, 2, 1, 3);
	grow(1, 3);
	grow(1, 2, 2);
	grow(1, 2, 1);
	assert.deepEqual([...summed(stacksOf(shaped.tree))], [['1', 1], ['1,2', 1], ['1,3', 2]]);
}

/** Samples of each node, by its path, and by side. */
function totals(tree, visit = () => true) {
	const found = new Map();
	for (let i = 0; i < tree.count; i++) {
		const path = [];
		for (let at = i; at > 0; at = tree.parent[at])
			path.unshift(tree.label[at]);
		if (tree.total.some(total => total[i]) && visit(i, path))
			found.set(String(path), tree.total.map(total => total[i]));
	}
	return found;
}

/** What callers must be, of stacks with samples by side: all of each stack, upwards. */
function upward(stacks) {
	const found = new Map();
	for (const { labels, samples } of stacks)
		for (let depth = 0; depth <= labels.length; depth++) {
			const path = String(labels.slice(labels.length - depth).reverse()), sums = found.get(path) ?? samples.map(() => 0);
			found.set(path, sums.map((sum, side) => sum + samples[side]));
		}
	return found;
}

/** Each node has the samples of its stacks, and no node that is wide enough lacks its callers. */
function checkUpward({ tree }, stacks, zoom) {
	const expected = upward(stacks), found = totals(tree);
	const wide = (path, least) => expected.get(path).reduce((sum, n, side) => sum + n * tree.scales[side], 0) >= least * (1 + 1e-9);
	const width = path => (expected.get(path) ?? []).reduce((sum, n, side) => sum + n * tree.scales[side], 0);
	for (const [path, samples] of found)
		assert.deepEqual(samples, expected.get(path), path);
	for (const path of expected.keys()) {
		const up = path.split(',').slice(0, -1).join(','), below = zoom !== '' && (up === zoom || up.startsWith(zoom + ','));
		if (path && (!up || wide(up, width(below ? zoom : '') / 8192)) && width(path))
			assert(found.has(path), `${path} is missing`);
	}
	let at = tree.firstChild(0);
	for (let next = at < 0 ? at : tree.nextSibling(at); next >= 0; [at, next] = [next, tree.nextSibling(next)])
		assert(tree.width(at) >= tree.width(next), 'the widest callers are first');
}

/** Pictures that follow random changes are those that are made at once: callers, a sandwich, functions. */
function checkFollowing(sides, steps) {
	const order = (a, b) => a - b, tree = new Tree(sides, order), isIt = label => label % 7 === 3, labels = 4 + random(30), most = random(2) ? 5000 : 3;
	const change = (node, side, samples) => {
		const changes = { size: node.length, node: Int32Array.from(node), side: Uint8Array.from(side), samples: Float64Array.from(samples) };
		tree.add(changes);
		tree.scales = sides > 1 ? tree.total.map(total => total[0] ? 1 / total[0] : 0) : [1];
		return changes;
	};
	const grow = () => {
		const node = [], side = [], samples = [];
		for (let left = 1 + random(30); left; left--) {
			let at = 0;
			for (let depth = 1 + random(12); depth; depth--)
				at = tree.child(at, 1 + random(labels));
			node.push(at);
			side.push(random(sides));
			samples.push(1 + random(most));
			const other = 1 + random(tree.count - 1), part = Math.floor(tree.self[0][other] / 2);
			if (!random(3) && part && !node.includes(other)) {      // as when code gets a name
				node.push(other, at);
				side.push(0, 0);
				samples.push(-part, part);
			}
		}
		return change(node, side, samples);
	};
	grow();
	const stacks = () => Array.from({ length: tree.count - 1 }, (_, i) => i + 1).filter(node => tree.self.some(self => self[node])).map(node => {
		const path = [];
		for (let at = node; at > 0; at = tree.parent[at])
			path.unshift(tree.label[at]);
		return { labels: path, samples: tree.self.map(self => self[node]) };
	});
	const zoom = random(2) ? stacks()[0].labels.slice(-2).reverse() : [], callers = new Callers(tree, zoom), sandwich = new Sandwich(tree, 3, isIt, order);
	const under = random(2) ? tree.firstChild(0) : 0, ofFunction = 1 + random(3);
	const functionOf = label => label && Math.max(1, label - label % ofFunction);
	const sums = new FunctionSums(tree, under, functionOf);
	for (; steps; steps--) {
		const changes = grow(), all = stacks();
		for (const picture of [callers, sandwich, sums])
			picture.add(changes);
		checkUpward(callers, all, String(zoom));
		const centred = all.filter(stack => stack.labels.some(isIt));
		checkUpward(sandwich.callers, centred.map(({ labels: path, samples }) => ({ labels: path.slice(0, path.findIndex(isIt)), samples })), '');
		const again = new Sandwich(tree, 3, isIt, order);
		assert.deepEqual(new Map([...totals(sandwich.callees)].sort()), new Map([...totals(again.callees)].sort()));
		const rows = of => [...of.rows.values()].filter(row => row.total.some(n => n)).sort((a, b) => a.label - b.label);
		assert.deepEqual(rows(sums), rows(new FunctionSums(tree, under, functionOf)));
		checkFunctions(tree, under, functionOf, rows(sums));
		checkHidden(sums, functionOf);
		if (sides > 1)
			checkColours(tree);
	}
}

/** What the tree lacks is added to the totals of functions, and to nothing else. */
function checkHidden(sums, functionOf) {
	const label = 5, before = structuredClone(sums.rows.get(functionOf(label))), hidden = { rows: 1, label: Uint32Array.of(label), side: Uint32Array.of(0) };
	sums.addHidden({ ...hidden, samples: Float64Array.of(7) });
	const after = sums.rows.get(functionOf(label));
	assert.equal(after.total[0], (before?.total[0] ?? 0) + 7);
	assert.equal(after.self[0], before?.self[0] ?? 0);
	sums.addHidden({ ...hidden, samples: Float64Array.of(-7) });
}

/** The sums of functions, which have several labels, are those of all nodes. A stack counts once in a total. */
function checkFunctions(tree, under, functionOf, rows) {
	const expected = new Map();
	for (let node = 0; node < tree.count; node++) {
		const path = [];
		for (let at = node; at >= 0; at = at === under ? -1 : tree.parent[at])
			path.push(at);
		if (path[path.length - 1] !== under)
			continue;
		const functions = path.map(at => functionOf(tree.label[at]));
		for (const label of new Set(functions)) {
			const row = expected.get(label) ?? { label, self: tree.self.map(() => 0), total: tree.self.map(() => 0) };
			expected.set(label, row);
			tree.self.forEach((self, side) => {
				row.total[side] += self[node];
				row.self[side] += label === functions[0] ? self[node] : 0;
			});
		}
	}
	assert.deepEqual(rows, [...expected.values()].filter(row => row.total.some(n => n)).sort((a, b) => a.label - b.label));
}

/** The colours of a difference do not depend on the nodes that are not looked at. */
function checkColours(tree) {
	const [before, after] = tree.total, whole = [before[0], after[0]], changes = [0];
	for (let i = 1; i < tree.count; i++)
		changes.push(mayBeChance([before[i], after[i]], whole) ? 0 : after[i] * tree.scales[1] - before[i] * tree.scales[0]);
	const largest = Math.max(...changes.map(Math.abs)), colour = changeColours(tree, false);
	for (let i = 1; i < tree.count; i++)
		assert.equal(colour(i), changeColour(largest ? changes[i] / largest : 0));
}

/** Ranges of time follow slices that are added, and begin anew where samples have moved. */
function checkRanges() {
	const tree = new Tree(1, (a, b) => a - b), nodes = Array.from({ length: 6 }, (_, i) => tree.child(i > 2 ? 1 : 0, 1 + i)), rows = 60;
	const counts = { rows, node: Int32Array.from({ length: rows }, (_, i) => nodes[i % 6]), group: new Uint32Array(rows), samples: new Float64Array(rows) };
	const slices = { ...noSlices(), version: 1, tick: new Uint32Array(4000), count: new Uint32Array(4000), samples: new Uint32Array(4000) };
	const profile = { runs: [{}], tree, counts, slices }, weights = new Weights(), other = new Tree(1, (a, b) => a - b);
	nodes.forEach((_, i) => other.child(i > 2 ? 1 : 0, 1 + i));
	let anew = 0;
	for (let step = 0, tick = 0; step < 80; step++) {
		const ranges = step < 40 ? [[5, Infinity]] : [[5, 20], [20, Infinity]], more = { rows: 0, node: [], group: [], samples: [] };
		for (let left = random(20); left; left--) {
			const count = random(rows), at = slices.rows++;
			slices.tick[at] = tick + random(3);
			slices.count[at] = count;
			slices.samples[at] = 1 + random(4);
			counts.samples[count] += slices.samples[at];
			more.rows = more.samples.push(slices.samples[at]);
			more.node.push(counts.node[count]);
			more.group.push(0);
		}
		tick += random(3);
		if (!random(6)) {
			const count = random(rows), from = counts.node[count];
			counts.node[count] = nodes[random(6)];
			more.rows = more.samples.push(-counts.samples[count], counts.samples[count]);
			more.node.push(from, counts.node[count]);
			more.group.push(0, 0);
		}
		slices.version += Number(!random(8));
		anew += Number(!weights.count(tree, profile, {}, ranges, { ...more, samples: Float64Array.from(more.samples) }));
		weigh(other, profile, {}, ranges);
		assert.deepEqual(tree.total.map(total => [...total.subarray(0, tree.count)]), other.total.map(total => [...total.subarray(0, tree.count)]));
	}
	assert(anew > 2 && anew < 60, `${anew} times anew`);
}

/** Samples in code without a name have the advice for the runtimes of their process, whatever its name is. */
function checkAdvice() {
	const { words: { engines, symbols } } = readData(textIn(run(jitbpf, 'report', '-f', 'html', recordings[0]))).profile;
	const strings = ['', 'all', 'web', 'java', 'thing', '[unknown]', '[libx.so]', '/libx.so'], tree = new Tree(1, (a, b) => a - b);
	const labels = { rows: 7, name: Uint32Array.of(1, 2, 3, 4, 5, 6, 6), module: Uint32Array.of(0, 0, 0, 0, 0, 7, 7),
		kind: Uint32Array.of(PROCESS, PROCESS, PROCESS, PROCESS, 0, 2, 3) };
	const at = (...path) => path.reduce((node, label) => tree.child(node, label), 0);
	const node = [at(1, 4), at(2, 6, 4), at(3, 4), at(3, 5), at(2, 6)];
	const ran = (comm, code_unknown, ...names) => ({ comm, samples: { code_unknown }, runtimes: names.map(name => ({ name })) });
	const processes = [ran('web', 0, 'Java'), ran('web', 5, 'PHP'), ran('java', 4, 'CPython', 'Node.js'), { comm: 'thing', samples: { code_unknown: 3 } }];
	const profile = next => ({ tree, strings, labels, words: { engines, symbols },
		runs: [{ processes, unnamed: next && [{ file: '/libx.so', samples: 2, next }] }],
		counts: { rows: 5, node, group: new Uint32Array(5), samples: Float64Array.of(5, 4, 3, 2, 1) } });
	const { named, samples, missing } = namingOf(profile());
	assert.deepEqual([named, samples], [1, 15]);
	assert.deepEqual(missing.map(one => [one.samples, one.module]),
		[[5, '[unknown] of web'], [4, '[unknown] of java'], [3, '[unknown] of thing'], [2, '/libx.so']]);
	for (const [i, words] of [/^PHP: .*jitbpf env/, /^V8: .*--perf-prof/, /^many engines .*jitbpf env/, /dbgsym/].entries())
		assert.match(missing[i].advice, words);
	assert.equal(namingOf(profile('apt install libx-dbgsym')).missing[3].advice, 'apt install libx-dbgsym');
	const process = (name, taken, code_unknown, methods) => ({ comm: 'php', samples: { taken, code_unknown }, jit: { methods },
		...(name ? { runtimes: [{ name: 'CPython' }, { name, version: '8.2' }] } : {}) });
	const idle = withoutCode(engines, [process('PHP', 9, 0, 0), process('PHP', 8, 0, 1), process('PHP', 7, 2, 0),
		process('PHP', 0, 0, 0), process('', 5, 0, 0), process('PHP', 4, 0, 0), process('PHP', 3, 0, 0)], 2);
	assert.deepEqual(idle.map(one => one.samples), [9, 4]);
	assert.match(idle[0].advice, /opcache\.jit/);
	const cut = (name, cut_unpublished, methods) => ({ ...process(name, 30, 0, methods), samples: { taken: 30, code_unknown: 0, cut_unpublished } });
	assert.deepEqual(withoutCode(engines, [cut('PHP', 3, 0)], 2), [], 'it runs JIT code');
	const advised = cutProcesses(engines, [cut('PHP', 3, 0), cut('PHP', 9, 1), cut('', 0, 0), cut('PHP', 20, 0), cut('', 2, 0)], 2);
	assert.deepEqual(advised.map(one => one.samples), [20, 3]);
	assert.match(advised[0].advice, /^PHP: .*jitbpf env/);
	/* Numbers of a live page's rows: PHP 8.2 with the second status, Node.js 20.11.0, Java. */
	const numbers = [['PHP', 8, 2], ['Node.js', 20, 11, 0], ['Java']].map(([name, ...parts]) =>
		1 + engines.findIndex(engine => engine.runtime === name) + 256 * parts.length +
		parts.reduce((sum, part, i) => sum + part * 2 ** (16 + 12 * i), 0));
	numbers[0] += 2 * 1024;
	assert.deepEqual(runtimesFrom(engines, ['shown', 'starting'], [...numbers, 0, 255]),
		[{ name: 'PHP', version: '8.2', functions: 'starting' }, { name: 'Node.js', version: '20.11.0' }, { name: 'Java' }]);
}

const [jitbpf, makePage, ...recordings] = process.argv.slice(2);
checkFolding();
checkCode();
checkSameNames();
checkKinds();
checkAdvice();
for (let i = 0; i < 24; i++)
	checkFollowing(1 + i % 2, 12);
checkRanges();
for (const recording of recordings)
	checkPage(run(jitbpf, 'report', '-f', 'html', recording), 12);
checkPage(run(makePage, 'html', '3000'), 25);
assert.equal(shortened('std::vector<int, std::allocator<int>>::push_back', 24), 'std::vector<int…ush_back');
assert.equal(shortened('short', 5), 'short');
assert.equal(shortened('longer', 5), 'long…');
for (const [took, pause, pace] of [[0, 450, ''], [30, 600, ''], [100, 950, ''], [250, 1250, ''], [600, 3000, ', every 3 s']]) {
	assert.equal(pauseAfter(took), pause);
	assert.equal(paceOf(pause), pace);
}
console.log('views: ok');
