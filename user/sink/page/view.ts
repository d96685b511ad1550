// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is on the display: state -> weights -> tree -> picture, table, legend.

import { changeColours } from './change_colours';
import { ModuleColours, colourKey, kindColour, shadeOf } from './colour';
import type { Counts, Hidden, Profile } from './data';
import { Graph } from './graph';
import { KeptFrames, type StackFinder } from './kept_frames';
import { showLedger } from './ledger';
import { showLegend } from './legend';
import { Names } from './names';
import { NamingCounts, namingOf } from './naming';
import { PathTexts } from './path_text';
import { Pictures } from './pictures';
import { Pieces } from './pieces';
import { showChips } from './chips';
import { matchLabels, matchedSamples } from './search';
import { LabelSet, Shaped, shapes } from './shaped';
import { EventList } from './event_list';
import { fragmentOf, readState, type State } from './state';
import { FunctionTable } from './table';
import { byId, percent, plural } from './text';
import { ThreadList, chosenThreads } from './threads';
import { rangeOf } from './time_range';
import { Tip } from './tip';
import { follow, type Changes, type Tree } from './tree';
import { Weights, shownSamples, type ShownSamples } from './weigh';

export class View {
	readonly names: Names;
	readonly graph: Graph;
	readonly callees: Graph;        // the lower half of a sandwich
	texts: PathTexts;
	readonly modules: ModuleColours;
	readonly table: FunctionTable;
	readonly tip: Tip;
	readonly threads = new ThreadList(byId<HTMLSelectElement>('threads'));
	readonly events = new EventList(byId<HTMLSelectElement>('event'));
	readonly search = byId<HTMLInputElement>('search');
	state: State = readState('');
	timeChanged: () => void = () => {};     // what the time line shows has changed
	codeChanged: () => void = () => {};     // what the code pane shows has changed
	livesChanged: () => void = () => {};    // what the panel of methods shows has changed
	showEvent: (name: string) => void = () => {};   // another event is chosen; calls refresh()
	others: () => Profile[] = () => [];             // the profile, with the samples of the other events
	pointAgain: () => void = () => {};      // after a change: the described frame may be another one, or have other numbers
	shaped: Shaped | null = null;
	private readonly kept = new KeptFrames(this);
	private sandwich: { text: string; label: number; known: number; labels: LabelSet } | null = null;
	private wanted: string[] = [];          // the path in the address, while some of its frames do not exist yet
	private compares = false;               // the table shows a difference
	private readonly pictures = new Pictures();
	private readonly weights = new Weights();
	private naming: NamingCounts | null = null;     // of a live profile
	private fills: string[] = [];           // by label, for its kind
	private knownPieces: Pieces | null = null;
	private readonly root = document.documentElement;

	constructor(readonly profile: Profile, private readonly live: boolean, choose: (label: number) => void) {
		this.names = new Names(profile);
		this.texts = new PathTexts(this.names);
		this.modules = new ModuleColours(this.names);
		this.graph = new Graph(byId('graph'), this.names);
		this.callees = new Graph(byId('callees'), this.names);
		this.table = new FunctionTable(byId('table'), this.names, choose);
		this.tip = new Tip(this.names);
		this.tip.codeOf = (tree, node) => tree === this.base ? this.pieces.ofNode(tree, node) : this.pieces.ofFunction(tree.label[node]);
		this.table.codeOf = label => this.pieces.ofFunction(label);
	}

	/** True if the page compares two runs or two ranges of time. */
	get difference(): boolean {
		return this.profile.runs.length > 1 || Boolean(this.baseline);
	}

	get baseline(): [number, number] | null {
		return rangeOf(this.state.baseline, this.profile.slices);
	}

	get range(): [number, number] | null {
		return rangeOf(this.state.range, this.profile.slices);
	}

	get listsMethods(): boolean {
		return Boolean(this.state.methods || this.state.method);
	}

	say(text: string): void {
		byId('status').textContent = text;
	}

	/** The tree of frames, of which all views are made. */
	get base(): Tree {
		return this.shaped?.tree ?? this.profile.tree;
	}

	/** A label of the function of the sandwich, or -1. */
	get centre(): number {
		const { state, names } = this;
		if (!state.sandwich || this.sandwich?.text !== state.sandwich)
			this.sandwich = { text: state.sandwich, label: -1, known: 0, labels: new LabelSet(['f' + state.sandwich], false, names, this.texts) };
		for (const { sandwich } = this; state.sandwich && sandwich.label < 0 && sandwich.known < names.labels; sandwich.known++)
			if (sandwich.labels.has(sandwich.known))
				sandwich.label = sandwich.known;
		return this.sandwich.label;
	}

	isCentre(label: number): boolean {
		return this.centre >= 0 && this.sandwich!.labels.has(label);
	}

	private merge(merged: boolean): void {
		const { names } = this;
		if (names.merged !== merged) {
			names.merged = merged;
			this.texts = new PathTexts(names);
			this.sandwich = null;
			this.fills = [];
		}
	}

	private reshape(): void {
		const { state, names, profile } = this;
		this.merge(!state.exact);
		// The code of a live profile may get twins at any time.
		this.shaped = shapes(state) || (names.merged && (this.live || names.hasTwins)) ? new Shaped(profile, state, names, this.texts) : null;
	}

	/**
	 * What is shown, but with the code of a function apart: for formats that have lines or addresses of code. In a
	 * difference, the samples of the second side.
	 */
	exactSamples(byTime: boolean): { tree: Tree; samples: ShownSamples } {
		const { profile, state, names } = this, shaped = shapes(state) ? new Shaped(profile, state, names, this.texts, false) : null;
		return { tree: shaped?.tree ?? profile.tree, samples: shownSamples(profile, { ...this.rules, place: shaped?.place }, this.range, byTime) };
	}

	/** What the code of the shown functions is. */
	get pieces(): Pieces {
		const { profile, names, shaped, rules, range } = this;
		return this.knownPieces ??= new Pieces(profile, names, shaped, shownSamples(profile, { chosen: rules.chosen }, range, false));
	}

	private get rules() {
		return { chosen: chosenThreads(this.profile, this.state.threads), place: this.shaped?.place };
	}

	/**
	 * Update the samples of the base. `more`: the only samples that were added to the profile; null: others may have
	 * changed. Returns the only samples that were added to the base, or null.
	 */
	private reweigh(more: Counts | null = null): Changes | null {
		const { base, profile, state, range, baseline, difference } = this, ranges = baseline ? [baseline, range] : range ? [range] : null;
		this.knownPieces = null;
		const changes = this.weights.count(base, profile, this.rules, ranges, more);
		base.scales = difference ? base.total.map(total => state.absolute ? 1 : total[0] ? 1 / total[0] : 0) : [1];
		if (difference !== this.compares) {
			this.compares = difference;
			this.table.sortAnew();
			byId('absolute').hidden = !difference;
		}
		return changes;
	}

	private colours(tree: Tree): (i: number) => string {
		const { names } = this;
		if (this.difference)
			return changeColours(tree, this.state.absolute);
		if (this.state.modules) {
			const fills: string[] = [];     // by label
			return i => fills[tree.label[i]] ??= this.modules.colour(tree.label[i]);
		}
		return i => {
			const label = tree.label[i];
			return this.fills[label] ??= kindColour(colourKey(names.kind(label)), shadeOf(names.name(label)));
		};
	}

	/** Show the base's trees; the sandwich has two. `changes`: the only samples that were added to the base, or null. */
	private showGraph(show: (tree: Tree, path: number[]) => void, showCallees: (tree: Tree, path: number[]) => void,
		changes: Changes | null = null): void {
		const { state, graph, callees, base, centre, pictures } = this, { callers, zoom, sandwich } = state;
		pictures.update({ base, callers, zoom, sandwich, centre, isCentre: label => this.isCentre(label), order: this.profile.order }, changes);
		if (pictures.callees) {
			callees.fillOf = this.colours(pictures.callees);
			showCallees(pictures.callees, []);
		}
		graph.flipped = centre >= 0 || state.flipped;
		graph.fillOf = this.colours(pictures.tree);
		show(pictures.tree, centre >= 0 ? [] : zoom);
	}

	private showAnew(): void {
		this.showGraph((tree, path) => this.graph.show(tree, path), (tree, path) => this.callees.show(tree, path));
	}

	private showMatches(): void {
		const { graph, callees, state, base } = this;
		let matching: Uint8Array | null;
		try {
			matching = matchLabels(state.search, this.names, this.profile.labels.rows);
		} catch {
			this.search.ariaInvalid = 'true';
			byId('matched').textContent = 'not a regular expression';
			return;
		}
		this.search.ariaInvalid = 'false';
		graph.matching = callees.matching = matching;
		byId('matched').textContent = !matching ? '' : 'matched ' + matchedSamples(base, matching).map((samples, side) =>
			`${percent(samples, base.total[side][0])}, ${plural(samples, 'sample')}`).join(' → ');
		graph.redraw();
		if (this.centre >= 0)
			callees.redraw();
	}

	/** The node whose functions the table lists. */
	private get under(): number {
		return this.state.callers ? 0 : follow(this.base, this.state.zoom);
	}

	/** Returns what the table adds to functions: only all samples together have it. */
	private get hidden(): Hidden | null {
		const { hidden, counts } = this.profile, shown = this.base.total.reduce((sum, total) => sum + total[0], 0);
		return hidden && this.names.merged && shown === counts.samples.reduce((sum, samples) => sum + samples, 0) ? hidden : null;
	}

	private showTable(): void {
		this.table.hidden = this.hidden;
		if (this.state.table)
			this.table.show(this.base, this.under, this.graph.matching, this.state.absolute);
	}

	private showControls(): void {
		const { state, search } = this, pressed = (id: string, on: boolean) => { byId(id).ariaPressed = String(on); };
		pressed('graph-view', !state.callers && !state.table && !state.sandwich);
		pressed('callers-view', state.callers && !state.table && !state.sandwich);
		pressed('table-view', state.table);
		for (const key of ['flipped', 'absolute', 'nokernel', 'collapse', 'exact', 'modules'] as const)
			pressed(key, state[key]);
		showChips(this);
		byId('callees').hidden = state.table || this.centre < 0;
		byId('main').classList.toggle('sandwich', this.centre >= 0 && !state.table);
		byId('graph').hidden = state.table;
		byId('table').hidden = !state.table;
		this.threads.choose(state.threads);
		if (search.value !== state.search)
			search.value = state.search;
		this.showReset();
	}

	showReset(): void {
		byId<HTMLButtonElement>('reset').disabled = this.graph.isWhole;
	}

	/** Change the state, and update everything that depends on it. */
	change(part: Partial<State>, history: 'push' | 'replace' | 'keep' = 'push'): void {
		const old = this.state, state = this.state = { ...old, ...part };
		const changed = (...keys: (keyof State)[]) => keys.some(key => key in part && String(part[key]) !== String(old[key]));
		if (changed('zoom')) {
			this.wanted = [];
			this.kept.dropZoom();
		}
		this.tip.hide();
		byId('graph').hidden = state.table;
		byId('callees').hidden = state.table || this.centre < 0;
		byId('main').classList.toggle('sandwich', this.centre >= 0 && !state.table);
		if (changed('nokernel', 'collapse', 'exact', 'hide', 'only'))
			this.reshape();
		const other = changed('threads', 'absolute', 'range', 'baseline', 'nokernel', 'collapse', 'exact', 'hide', 'only');
		if (other)
			this.reweigh();
		if (other || changed('callers', 'flipped', 'modules', 'sandwich') || (state.callers && changed('zoom')))
			this.showAnew();
		else if (changed('zoom'))
			this.graph.zoom(follow(this.base, state.zoom));
		if (other || changed('modules'))
			showLegend(this);
		if (other || changed('search'))
			this.showMatches();
		if (other || changed('zoom', 'search', 'table', 'callers'))
			this.showTable();
		this.showControls();
		if (changed('threads', 'absolute', 'range', 'baseline', 'unfolded'))
			this.timeChanged();
		if (other || changed('code', 'generation'))
			this.codeChanged();
		if (changed('methods', 'method', 'range', 'code'))
			this.livesChanged();
		if (changed('event'))
			this.showEvent(state.event);
		this.pointAgain();
		if (history !== 'keep')
			this.remember(history);
	}

	/**
	 * Write the state into the address. Labels of a live profile have other numbers after a reload, so the address has
	 * their texts.
	 */
	private remember(history: 'push' | 'replace'): void {
		const { state } = this, fragment = fragmentOf(state, !this.live ? null
			: this.wanted.length ? this.wanted.map(encodeURIComponent).join('/') : this.texts.pathOf(state.zoom));
		if (fragment !== location.hash)
			window.history[history === 'push' ? 'pushState' : 'replaceState'](null, '', fragment || '#');
	}

	/** Follow the path of the address as far as it exists by now. */
	private findWanted(): void {
		const zoom = this.texts.labelsOf(this.wanted);
		this.kept.dropZoom();
		this.state = { ...this.state, zoom };
		if (zoom.length === this.wanted.length)
			this.wanted = [];
	}

	/** Called before names or the version of the profile change. */
	hold(finder: StackFinder): void {
		this.kept.note(finder);
	}

	/** Show a newer version of the profile, in which samples have been added. Zoom and selection stay. */
	refresh(newer: Profile, more: Counts, finder: StackFinder): void {
		const { profile, graph, root } = this, first = !profile.runs.length, same = newer.tree === profile.tree;
		const show = graph.hold(), showCallees = this.callees.hold();
		Object.assign(profile, newer);
		if (same) {
			this.shaped?.grow();
			this.naming!.add(more);
		} else {
			this.reshape();
			this.naming = new NamingCounts(profile);
			this.threads.clear();
		}
		const changes = this.reweigh(same ? more : null);
		if (!first && this.kept.take(finder)) {
			this.showControls();
			this.remember('replace');
		}
		this.threads.refresh(profile, same ? more : profile.counts);
		if (first) {
			graph.tree = this.callees.tree = this.base;
			this.link();
		} else if (this.wanted.length)
			this.findWanted();
		if (first)
			this.showAnew();
		else
			this.showGraph(show, showCallees, changes);
		this.events.refresh(profile);
		showLedger(profile.runs, profile.words, this.naming!.naming(profile.runs[0]));
		showLegend(this);
		this.showMatches();
		if (this.state.table)
			this.table.refresh(this.base, this.under, graph.matching, changes);
		this.showReset();
		this.pointAgain();
		this.timeChanged();
		this.codeChanged();
		this.livesChanged();
		root.dataset.refreshes = String(Number(root.dataset.refreshes ?? 0) + 1);
		root.dataset.ready = String(this.base.count);
	}

	/** The state in the address, as far as it applies to this profile. */
	private linked(): State {
		const wanted = readState(location.hash), exact = wanted.exact || (this.profile.exact && location.hash.length < 2);
		this.merge(!exact);
		const zoom = wanted.path.length ? this.texts.labelsOf(wanted.path) : wanted.zoom;
		return { ...wanted, exact, zoom, threads: this.live || this.threads.has(wanted.threads) ? wanted.threads : '' };
	}

	/** Take the state from the address. */
	private link(): void {
		this.change(this.linked(), 'keep');
		this.wanted = this.live ? readState(location.hash).path : [];
	}

	/** Take the state again after the address has changed. */
	follow(): void {
		this.link();
		if (this.wanted.length)
			this.findWanted();
	}

	/** Choose all colours anew: they depend on the colour scheme. */
	recolour(): void {
		const { graph, callees, pictures } = this;
		this.fills = [];
		graph.fillOf = this.colours(graph.tree);
		if (pictures.callees) {         // else that graph has a tree of before, maybe of one side
			callees.fillOf = this.colours(pictures.callees);
			callees.redraw();
		}
		showLegend(this);
		graph.redraw();
	}

	start(): void {
		const { profile, graph, root } = this;
		byId('threads').hidden = profile.runs.length > 1;
		this.events.refresh(profile);
		if (!this.live)
			showLedger(profile.runs, profile.words, profile.runs.length > 1 ? null : namingOf(profile));
		if (profile.runs.length < 2)
			this.threads.refresh(profile, profile.counts);
		this.state = this.linked();
		this.reshape();
		this.reweigh();
		showLegend(this);
		graph.tree = this.callees.tree = this.base;
		this.showControls();
		graph.fit();
		this.callees.fit();
		this.showAnew();
		this.showMatches();
		this.showTable();
		this.showControls();
		this.timeChanged();
		this.codeChanged();
		this.livesChanged();
		graph.draw();
		if (!this.live)
			root.dataset.ready = String(this.base.count);
	}
}
