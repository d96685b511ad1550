// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is on the display: state -> weights -> tree -> picture, table, legend.

import { callersOf } from './callers';
import { changeColour, colourKey, kindColour, shadeOf } from './colour';
import type { Profile } from './data';
import { Graph } from './graph';
import { showLedger } from './ledger';
import { showLegend } from './legend';
import { Names } from './names';
import { matchLabels, matchedSamples } from './search';
import { fragmentOf, readState, type State } from './state';
import { FunctionTable } from './table';
import { byId, percent, plural } from './text';
import { chosenThreads, fillThreads } from './threads';
import { rangeOf, weighRanges } from './time_range';
import { Tip } from './tip';
import { follow, layOut, treeOf, weigh, type Tree } from './tree';

export class View {
	readonly names: Names;
	readonly graph: Graph;
	readonly table: FunctionTable;
	readonly tip: Tip;
	readonly search = byId<HTMLInputElement>('search');
	base: Tree;
	state: State = readState('');
	scales: number[] = [1];
	timeChanged: () => void = () => {};     // what the time line shows has changed
	pointAgain: () => void = () => {};      // after a refresh: what the pointer is at may be another frame
	private readonly root = document.documentElement;

	constructor(readonly profile: Profile, private readonly live: boolean, choose: (label: number) => void) {
		this.names = new Names(profile);
		this.base = this.makeTree();
		this.graph = new Graph(byId('graph'), byId('room'), this.names);
		this.table = new FunctionTable(byId('table'), this.names, choose);
		this.table.compare(this.difference);
		this.tip = new Tip(this.names);
	}

	/** Of two runs, or of two ranges of time. */
	get difference(): boolean {
		return this.profile.runs.length > 1 || Boolean(this.baseline);
	}

	get baseline(): [number, number] | null {
		return rangeOf(this.state.baseline, this.profile.slices);
	}

	get range(): [number, number] | null {
		return rangeOf(this.state.range, this.profile.slices);
	}

	say(text: string): void {
		byId('status').textContent = text;
	}

	private makeTree(): Tree {
		const { nodes } = this.profile;
		return treeOf(nodes.label, nodes.source, nodes.depth, this.difference ? 2 : 1);
	}

	private reweigh(): void {
		const { base, profile, state } = this;
		const chosen = chosenThreads(profile, state.threads), { range, baseline } = this;
		if (range || baseline)
			weighRanges(base, profile, chosen, baseline ? [baseline, range] : [range]);
		else
			weigh(base, profile, chosen);
		this.scales = this.difference ? base.total.map(total => state.absolute ? 1 : total[0] ? 1 / total[0] : 0) : [1];
		layOut(base, this.scales);
	}

	private colours(tree: Tree): (i: number) => string {
		const { names, scales } = this;
		if (this.difference) {
			const changeOf = (i: number) => tree.total[1][i] * scales[1] - tree.total[0][i] * scales[0];
			let largest = 0;
			for (let i = 1; i < tree.count; i++)
				largest = Math.max(largest, Math.abs(changeOf(i)));
			return i => changeColour(largest ? changeOf(i) / largest : 0);
		}
		const fills: string[] = [];     // by label
		return i => {
			const label = tree.label[i];
			return fills[label] ??= kindColour(colourKey(names.kind(label)), shadeOf(names.name(label)));
		};
	}

	/** The tree to be drawn. */
	private shownTree(): Tree {
		const { state, graph } = this;
		let tree = this.base;
		if (state.callers) {
			tree = callersOf(tree, this.scales, state.zoom);
			layOut(tree, this.scales);
		}
		graph.flipped = state.flipped;
		graph.fillOf = this.colours(tree);
		return tree;
	}

	private showMatches(): void {
		const { graph, state, base } = this;
		let matching: Uint8Array | null;
		try {
			matching = matchLabels(state.search, this.names, this.profile.labels.rows);
		} catch {
			this.search.ariaInvalid = 'true';
			byId('matched').textContent = 'not a regular expression';
			return;
		}
		this.search.ariaInvalid = 'false';
		graph.matching = matching;
		byId('matched').textContent = !matching ? '' : 'matched ' + matchedSamples(base, matching).map((samples, side) =>
			`${percent(samples, base.total[side][0])}, ${plural(samples, 'sample')}`).join(' → ');
		graph.redraw();
	}

	/** The node that the table is of. */
	private get under(): number {
		return this.state.callers ? 0 : follow(this.base, this.state.zoom);
	}

	private showTable(): void {
		if (this.state.table)
			this.table.show(this.base, this.under, this.graph.matching, this.state.absolute);
	}

	private showControls(): void {
		const { state, search } = this, pressed = (id: string, on: boolean) => { byId(id).ariaPressed = String(on); };
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
		this.showReset();
	}

	showReset(): void {
		byId<HTMLButtonElement>('reset').disabled = this.graph.isWhole;
	}

	/** Change the state, and update everything that depends on it. */
	change(part: Partial<State>, history: 'push' | 'replace' | 'keep' = 'push'): void {
		const old = this.state, state = this.state = { ...old, ...part };
		const changed = (...keys: (keyof State)[]) => keys.some(key => key in part && String(part[key]) !== String(old[key]));
		const weights = changed('threads', 'absolute', 'range', 'baseline');
		this.tip.hide();
		byId('graph').hidden = state.table;
		if (this.difference !== this.base.total.length > 1)
			this.compare(this.makeTree());
		if (weights)
			this.reweigh();
		if (weights || changed('callers', 'flipped') || (state.callers && changed('zoom')))
			this.graph.show(this.shownTree(), state.zoom);
		else if (changed('zoom'))
			this.graph.zoom(follow(this.base, state.zoom));
		if (weights)
			showLegend(this);
		if (weights || changed('search'))
			this.showMatches();
		if (weights || changed('zoom', 'search', 'table', 'callers'))
			this.showTable();
		this.showControls();
		if (weights)
			this.timeChanged();
		if (history !== 'keep')
			this.remember(changed('zoom'), history);
	}

	/** Another tree, which may be the first one of a difference, or the first one of no difference. */
	private compare(tree: Tree): void {
		if (tree.total.length !== this.base.total.length) {
			this.table.compare(this.difference);
			byId('absolute').hidden = !this.difference;
		}
		this.base = tree;
	}

	/** Labels of a live profile have other numbers after a reload: its zoom is in the history only. */
	private remember(zoomed: boolean, history: 'push' | 'replace'): void {
		const { live, state } = this, fragment = fragmentOf(live ? { ...state, zoom: [] } : state);
		if (fragment !== location.hash || (live && zoomed))
			window.history[history === 'push' ? 'pushState' : 'replaceState'](
				live ? { loaded: performance.timeOrigin, zoom: state.zoom } : null, '', fragment || '#');
	}

	/** Show a newer version of the profile. What a person looks at stays. */
	refresh(newer: Profile): void {
		const { profile, graph, root } = this, first = !profile.runs.length;
		Object.assign(profile, newer);
		this.compare(this.makeTree());
		this.reweigh();
		if (first)
			graph.show(this.shownTree(), this.state.zoom);
		else
			graph.refresh(this.shownTree(), this.state.zoom);
		if (document.activeElement !== byId('threads'))         // its list may be open
			fillThreads(byId<HTMLSelectElement>('threads'), profile);
		if (first)
			this.change(this.linked(), 'keep');
		showLedger(profile.runs, profile.words);
		showLegend(this);
		this.showMatches();
		if (this.state.table)
			this.table.refresh(this.base, this.under, graph.matching);
		this.showReset();
		this.pointAgain();
		this.timeChanged();
		root.dataset.refreshes = String(Number(root.dataset.refreshes ?? 0) + 1);
		root.dataset.ready = String(this.base.count);
	}

	/** The state in the address, as far as it applies to this profile. */
	linked(): State {
		const wanted = readState(location.hash), { options } = byId<HTMLSelectElement>('threads');
		const { loaded, zoom } = history.state ?? {};
		if (this.live)
			wanted.zoom = loaded === performance.timeOrigin ? zoom : [];
		return { ...wanted, threads: [...options].some(o => o.value === wanted.threads) ? wanted.threads : '' };
	}

	/** The colours depend on the scheme. */
	recolour(): void {
		this.graph.fillOf = this.colours(this.graph.tree);
		showLegend(this);
		this.graph.redraw();
	}

	start(): void {
		const { profile, graph, root } = this;
		const two = profile.runs.length > 1;
		byId('absolute').hidden = !two;
		byId('threads').hidden = two;
		if (!this.live)
			showLedger(profile.runs, profile.words);
		if (!two)
			fillThreads(byId<HTMLSelectElement>('threads'), profile);
		this.state = this.linked();
		this.compare(this.makeTree());
		this.reweigh();
		showLegend(this);
		graph.tree = this.base;
		graph.fit();
		graph.show(this.shownTree(), this.state.zoom);
		this.showMatches();
		this.showTable();
		this.showControls();
		this.timeChanged();
		graph.draw();
		if (!this.live)
			root.dataset.ready = String(this.base.count);
	}
}
