// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Connects the parts of the page: state -> weights -> tree -> picture and table.

import { callersOf } from './callers';
import { LEGEND, changeColour, colourKey, dark, kindColour, shadeOf } from './colour';
import { noProfile, readData, type Profile } from './data';
import { Graph } from './graph';
import { listenToKeys } from './keys';
import { showLedger } from './ledger';
import { LiveProfile } from './live';
import { Names } from './names';
import { listenToPointer } from './pointer';
import { matchLabels, matchedSamples } from './search';
import { fragmentOf, readState, type State } from './state';
import { FunctionTable } from './table';
import { byId, element, percent, plural, swatch } from './text';
import { chosenThreads, fillThreads } from './threads';
import { Tip } from './tip';
import { follow, layOut, pathTo, treeOf, weigh, type Tree } from './tree';

const root = document.documentElement;
const fault = (message: string) => {
	root.dataset.error = message;
	byId('problem').textContent = 'This page has a fault: ' + message;
	byId('problem').hidden = false;
};
addEventListener('error', event => fault(event.message));
addEventListener('unhandledrejection', event => fault(String(event.reason)));

const data = readData(byId('profile').textContent!);
const live = data.live && new LiveProfile(data.live, data.words, refresh);
const profile = data.live ? noProfile(data.words) : data.profile;
byId('profile').remove();
const difference = profile.runs.length > 1;
const names = new Names(profile);
let base = makeTree();
const graph = new Graph(byId('graph'), byId('room'), names);
const table = new FunctionTable(byId('table'), names, difference, showInGraph);
const tip = new Tip(names);
const search = byId<HTMLInputElement>('search');
let state: State = readState('');
let scales: number[] = [1];
let pointer = { x: 0, y: 0 };
let largest = 1;        // the largest change of a frame

const say = (text: string) => { byId('status').textContent = text; };

// ---- from the state to the display ---------------------------------------------------------------

function makeTree(): Tree {
	return treeOf(profile.nodes.label, profile.nodes.source, profile.nodes.depth, Math.max(1, profile.runs.length));
}

function reweigh(): void {
	weigh(base, profile, chosenThreads(profile, state.threads));
	if (difference)
		scales = base.total.map(total => state.absolute ? 1 : total[0] ? 1 / total[0] : 0);
	layOut(base, scales);
}

const changeOf = (tree: Tree, i: number) => tree.total[1][i] * scales[1] - tree.total[0][i] * scales[0];

function colours(tree: Tree): (i: number) => string {
	if (difference) {
		largest = 0;
		for (let i = 1; i < tree.count; i++)
			largest = Math.max(largest, Math.abs(changeOf(tree, i)));
		return i => changeColour(largest ? changeOf(tree, i) / largest : 0);
	}
	const fills: string[] = [];     // by label
	return i => {
		const label = tree.label[i];
		return fills[label] ??= kindColour(colourKey(names.kind(label)), shadeOf(names.name(label)));
	};
}

/** The tree to be drawn. */
function shownTree(): Tree {
	let tree = base;
	if (state.callers) {
		tree = callersOf(base, scales, state.zoom);
		layOut(tree, scales);
	}
	graph.flipped = state.flipped;
	graph.fillOf = colours(tree);
	return tree;
}

function showTree(): void {
	graph.show(shownTree(), state.zoom);
}

function showLegend(): void {
	if (difference) {
		const ramp = [-1, -.6, -.3, -.1, 0, .1, .3, .6, 1].map(change => {
			const part = element('i');
			part.style.background = changeColour(change);
			return part;
		});
		byId('legend').replaceChildren(element('span', '', '', 'shrunk ', element('span', '', 'ramp', ...ramp), ' grown'));
		return;
	}
	const samples: Record<string, number> = {}, self = base.self[0];
	for (let i = 0; i < base.count; i++)
		if (self[i]) {
			const key = colourKey(names.kind(base.label[i]));
			samples[key] = (samples[key] ?? 0) + self[i];
		}
	byId('legend').title = 'Share of the samples whose innermost frame is of the kind';
	byId('legend').replaceChildren(...LEGEND.filter(key => samples[key] || key !== 'interpreted').map(key =>
		element('span', '', '', swatch(kindColour(key, 1)), `${key} ${percent(samples[key] ?? 0, base.total[0][0])}`)));
}

function showMatches(): void {
	let matching: Uint8Array | null;
	try {
		matching = matchLabels(state.search, names, profile.labels.rows);
	} catch {
		search.ariaInvalid = 'true';
		byId('matched').textContent = 'not a regular expression';
		return;
	}
	search.ariaInvalid = 'false';
	graph.matching = matching;
	byId('matched').textContent = !matching ? '' : 'matched ' + matchedSamples(base, matching).map((samples, side) =>
		`${percent(samples, base.total[side][0])}, ${plural(samples, 'sample')}`).join(' → ');
	graph.redraw();
}

function showTable(): void {
	if (state.table)
		table.show(base, state.callers ? 0 : follow(base, state.zoom), graph.matching, state.absolute);
}

function showControls(): void {
	const pressed = (id: string, on: boolean) => { byId(id).ariaPressed = String(on); };
	pressed('graph-view', !state.callers && !state.table);
	pressed('callers-view', state.callers && !state.table);
	pressed('table-view', state.table);
	pressed('flip', state.flipped);
	pressed('absolute', state.absolute);
	byId('graph').hidden = state.table;
	byId('table').hidden = !state.table;
	byId<HTMLSelectElement>('threads').value = state.threads;
	if (search.value !== state.search)
		search.value = state.search;
	showReset();
}

const showReset = () => { byId<HTMLButtonElement>('reset').disabled = graph.isWhole; };

/** Change the state, and update everything that depends on it. */
function change(part: Partial<State>, history: 'push' | 'replace' | 'keep' = 'push'): void {
	const changed = (...keys: (keyof State)[]) => keys.some(key => key in part && String(part[key]) !== String(old[key]));
	const old = state;
	state = { ...state, ...part };
	tip.hide();
	byId('graph').hidden = state.table;
	if (changed('threads', 'absolute'))
		reweigh();
	if (changed('threads', 'absolute', 'callers', 'flipped') || (state.callers && changed('zoom')))
		showTree();
	else if (changed('zoom'))
		graph.zoom(follow(base, state.zoom));
	if (changed('threads'))
		showLegend();
	if (changed('threads', 'search'))
		showMatches();
	if (changed('threads', 'absolute', 'zoom', 'search', 'table', 'callers'))
		showTable();
	showControls();
	// Labels of a live profile have other numbers after a reload: its zoom is in the history only.
	const fragment = fragmentOf(live ? { ...state, zoom: [] } : state);
	if (history !== 'keep' && (fragment !== location.hash || (live && changed('zoom'))))
		window.history[history === 'push' ? 'pushState' : 'replaceState'](
			live ? { loaded: performance.timeOrigin, zoom: state.zoom } : null, '', fragment || '#');
}

/** Show a newer version of the profile. What a person looks at stays. */
function refresh(newer: Profile): void {
	const first = !profile.runs.length;
	Object.assign(profile, newer);
	base = makeTree();
	reweigh();
	if (first)
		graph.show(shownTree(), state.zoom);
	else
		graph.refresh(shownTree(), state.zoom);
	if (document.activeElement !== byId('threads'))         // its list may be open
		fillThreads(byId<HTMLSelectElement>('threads'), profile);
	if (first)
		change(linked(), 'keep');
	showLedger(profile.runs, profile.words);
	showLegend();
	showMatches();
	if (state.table)
		table.refresh(base, state.callers ? 0 : follow(base, state.zoom), graph.matching);
	showReset();
	pointAgain();
	root.dataset.refreshes = String(Number(root.dataset.refreshes ?? 0) + 1);
	root.dataset.ready = String(base.count);
}

/** The state in the address, as far as it applies to this profile. */
function linked(): State {
	const wanted = readState(location.hash), { options } = byId<HTMLSelectElement>('threads');
	const { loaded, zoom } = history.state ?? {};
	if (live)
		wanted.zoom = loaded === performance.timeOrigin ? zoom : [];
	return { ...wanted, threads: [...options].some(o => o.value === wanted.threads) ? wanted.threads : '' };
}

// ---- from input to the state ---------------------------------------------------------------------

const linesOf = (node: number) => tip.lines(graph.tree, node, graph.focus, state.callers);

function hover(node: number, x: number, y: number): void {
	if (node !== graph.hovered) {
		graph.hovered = node;
		tip.describe(node >= 0 ? linesOf(node) : graph.selected >= 0 ? linesOf(graph.selected) : []);
		graph.box.style.cursor = node >= 0 ? 'pointer' : '';
		graph.redraw();
	}
	pointer = { x, y };
	if (node >= 0)
		tip.show(linesOf(node), x, y);
	else
		tip.hide();
}

/** The frame under the pointer may be another one, or have other numbers. */
function pointAgain(): void {
	if (byId('tip').hidden)
		return;
	graph.hovered = -1;
	hover(graph.nodeAt(pointer.x - graph.box.getBoundingClientRect().left, pointer.y - graph.box.getBoundingClientRect().top),
		pointer.x, pointer.y);
}

function select(node: number): void {
	graph.selected = node;
	graph.reveal(node);
	graph.redraw();
	tip.describe(linesOf(node));
	say(linesOf(node).join(', '));
}

function zoom(node: number): void {
	const path = pathTo(graph.tree, node), same = String(path) === String(state.zoom);
	change({ zoom: path });
	if (same)       // the view was moved since
		graph.zoom(graph.focus);
	graph.selected = graph.focus;
	tip.describe(linesOf(graph.focus));
	say('Zoomed to ' + linesOf(graph.focus).join(', '));
	byId<HTMLButtonElement>('reset').disabled = graph.focus === 0;
}

function reset(): void {
	change({ zoom: [] });
	graph.zoom(0);
	byId<HTMLButtonElement>('reset').disabled = true;
	say('Everything is shown');
}

function showInGraph(label: number): void {
	const exact = '^' + names.raw(label).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') + '$';
	change({ table: false, search: exact });
	graph.box.focus();
	say(byId('matched').textContent!);
}

function toggle(what: 'callers' | 'table' | 'flipped' | 'absolute'): void {
	if (what === 'absolute' && !difference)
		return;
	// Positions in the two trees do not correspond.
	change(what === 'callers' ? { callers: !state.callers, table: false, zoom: [] } : { [what]: !state[what] });
	if (what === 'table' && state.table) {
		byId('table').focus();
		say(document.querySelector('#table caption')!.textContent!);
	} else if (what === 'table') {
		graph.box.focus();
	}
}

function escape(): void {
	const typing = document.activeElement === search;
	if (state.search)
		change({ search: '' }, 'replace');
	else if (!graph.isWhole)
		reset();
	if (typing)
		(state.table ? byId('table') : graph.box).focus();
	tip.hide();
}

function listen(): void {
	listenToPointer(graph, { hover, click: zoom, moved: showReset });
	listenToKeys(graph, { select, zoom, pause: () => live?.toggle(), moved: showReset, escape, toggle,
		search: () => search.focus(), help: () => byId<HTMLDialogElement>('help').showModal() });
	byId('graph-view').addEventListener('click', () =>
		change({ callers: false, table: false, zoom: state.callers ? [] : state.zoom }));
	byId('callers-view').addEventListener('click', () =>
		change({ callers: true, table: false, zoom: state.callers ? state.zoom : [] }));
	byId('table-view').addEventListener('click', () => state.table || toggle('table'));
	byId('absolute').addEventListener('click', () => toggle('absolute'));
	byId('flip').addEventListener('click', () => toggle('flipped'));
	byId('reset').addEventListener('click', reset);
	byId('help-button').addEventListener('click', () => byId<HTMLDialogElement>('help').showModal());
	search.addEventListener('input', () => change({ search: search.value }, 'replace'));
	byId('threads').addEventListener('change', () => change({ threads: byId<HTMLSelectElement>('threads').value }));
	graph.box.addEventListener('scroll', () => tip.hide());
	for (const moved of ['popstate', 'hashchange'])
		addEventListener(moved, () => change(linked(), 'keep'));
	dark.addEventListener('change', () => { graph.fillOf = colours(graph.tree); showLegend(); graph.redraw(); });
	new ResizeObserver(() => requestAnimationFrame(() => { if (!state.table) { graph.fit(); graph.draw(); } })).observe(graph.box);
}

function start(): void {
	byId('absolute').hidden = !difference;
	byId('threads').hidden = difference;
	if (!live)
		showLedger(profile.runs, profile.words);
	if (!difference)
		fillThreads(byId<HTMLSelectElement>('threads'), profile);
	state = linked();
	reweigh();
	showLegend();
	graph.tree = base;
	graph.fit();
	showTree();
	showMatches();
	showTable();
	showControls();
	listen();
	graph.draw();
	if (live)
		live.start();
	else
		root.dataset.ready = String(base.count);
	// After the first paint; `make bench` measures this.
	requestAnimationFrame(() => setTimeout(() => performance.mark('shown')));
}

start();
