// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What keys, pointer and controls do to the view.

import { dark } from './colour';
import type { Graph } from './graph';
import { listenToKeys, type FrameAct, type Switch } from './keys';
import { FrameMenu, type MenuItem } from './menu';
import { listenToPointer } from './pointer';
import { byId, shortened } from './text';
import { pathTo } from './tree';
import type { View } from './view';

export class Input {
	private pointer = { x: 0, y: 0 };
	private under: Graph;           // the pointer
	private active: Graph;          // what a frame was selected in last
	private readonly menu: FrameMenu;

	constructor(private readonly view: View, private readonly pause: () => void,
		private readonly showCode: (label: number) => void, private readonly leaveMethods: () => void) {
		this.under = this.active = view.graph;
		this.menu = new FrameMenu(() => view.graph.box.focus());
		view.pointAgain = () => this.pointAgain();
	}

	private linesOf(node: number, graph = this.view.graph): string[] {
		const { tip, state } = this.view;
		return tip.lines(graph.tree, node, graph.focus, state.callers || Boolean(state.sandwich && graph === this.view.graph));
	}

	private hover(graph: Graph, node: number, x: number, y: number): void {
		const { tip } = this.view;
		if (node !== graph.hovered || (node >= 0 && byId('tip').hidden)) {
			graph.hovered = node;
			if (node >= 0)
				tip.describe(this.linesOf(node, graph));
			else
				this.describeSelected();
			graph.box.style.cursor = node >= 0 ? 'pointer' : '';
			graph.redraw();
		}
		this.pointer = { x, y };
		this.under = graph;
		if (node >= 0)
			tip.show(this.linesOf(node, graph), x, y);
		else
			tip.hide();
	}

	/** Describe the selected frame with its present numbers, or nothing. */
	private describeSelected(): void {
		const { view, active } = this, graph = view.centre >= 0 ? active : view.graph;
		view.tip.describe(graph.selected >= 0 ? this.linesOf(graph.selected, graph) : []);
	}

	/** Describe the frame under the pointer again, or else the selected one: it may be another one, or have other numbers. */
	private pointAgain(): void {
		const { under: graph, view } = this, { x, y } = this.pointer;
		if (view.tip.ofTime)
			return;
		if (byId('tip').hidden)
			return this.describeSelected();
		const { left, top } = graph.box.getBoundingClientRect();
		graph.hovered = -1;
		this.hover(graph, graph.nodeAt(x - left, y - top), x, y);
	}

	/** The function of a frame becomes the middle of the sandwich. */
	private centre(label: number): void {
		const { view } = this;
		view.change({ sandwich: view.texts.functionOf(label), callers: false, table: false, zoom: [] });
		view.say('Callers above, callees below: ' + view.names.name(label));
	}

	private click(graph: Graph, node: number): void {
		if (!this.view.state.sandwich)
			this.zoom(node);
		else if (graph.tree.label[node])
			this.centre(graph.tree.label[node]);
	}

	/** The frame that keys are for: under the pointer, selected, or zoomed into. */
	private get frame(): { graph: Graph; node: number } | null {
		const { under, active, view } = this, graph = under.hovered > 0 ? under : view.centre >= 0 ? active : view.graph;
		const node = graph.hovered > 0 ? graph.hovered : graph.selected > 0 ? graph.selected : graph.focus;
		return node > 0 || graph.tree.label[0] ? { graph, node } : null;
	}

	private act(act: FrameAct, label: number): void {
		const { view, view: { names, state } } = this, item = act.endsWith('Module') ? 'm' + names.rawModule(label)
			: 'f' + view.texts.functionOf(label);
		const key = act.startsWith('hide') ? 'hide' : 'only';
		if (act === 'code')
			this.showCode(label);
		else if (act === 'sandwich')
			this.centre(label);
		else
			view.change({ [key]: [...state[key].filter(other => other !== item), item], zoom: [],
				...(key === 'hide' && item === 'f' + state.sandwich ? { sandwich: '' } : {}) });
	}

	private frameKey(act: FrameAct | 'menu'): void {
		const { frame } = this;
		if (!frame)
			return this.view.say('Select a frame first');
		const { graph, node } = frame, label = graph.tree.label[node], box = graph.box.getBoundingClientRect();
		if (act === 'menu')
			this.showMenu(label, ...(byId('tip').hidden ? [box.left + 40, box.top + 40] as const : [this.pointer.x, this.pointer.y] as const));
		else if (label)
			this.act(act, label);
	}

	private showMenu(label: number, x: number, y: number): void {
		const { names } = this.view, module = names.module(label), items: MenuItem[] = [
			{ act: 'sandwich', text: 'Sandwich: callers and callees', key: 's' },
			{ act: 'hide', text: 'Leave out this function', key: 'h' },
			{ act: 'only', text: 'Only stacks with this function', key: 'o' },
			{ act: 'code', text: 'Code: source lines and instructions', key: 'a' },
		];
		if (!label)
			return;
		if (module)
			items.push({ act: 'hideModule', text: `Leave out ${shortened(module, 40)}`, key: '' },
				{ act: 'onlyModule', text: `Only stacks with ${shortened(module, 40)}`, key: '' });
		this.view.tip.hide();
		this.menu.show(names.name(label), items, x, y, act => this.act(act, label));
	}

	private select(graph: Graph, node: number): void {
		const lines = this.linesOf(node, graph);
		this.active = graph;
		graph.selected = node;
		graph.reveal(node);
		graph.redraw();
		this.view.tip.describe(lines);
		this.view.say(lines.join(', '));
	}

	private zoom(node: number): void {
		const { graph, tip, state } = this.view;
		const path = pathTo(graph.tree, node), same = String(path) === String(state.zoom);
		this.view.change({ zoom: path });
		if (same)       // the view was moved since
			graph.zoom(graph.focus);
		graph.selected = graph.focus;
		tip.describe(this.linesOf(graph.focus));
		this.view.say('Zoomed to ' + this.linesOf(graph.focus).join(', '));
		byId<HTMLButtonElement>('reset').disabled = graph.focus === 0;
	}

	private reset(): void {
		this.view.change({ zoom: [] });
		this.view.graph.zoom(0);
		byId<HTMLButtonElement>('reset').disabled = true;
		this.view.say('Everything is shown');
	}

	private toggle(what: Switch): void {
		const { view } = this, { state } = view;
		if ((what === 'absolute' && !view.difference) || (what === 'modules' && view.difference))
			return;
		// Positions in the two trees do not correspond.
		view.change(what === 'callers' ? { callers: !state.callers, table: false, sandwich: '', zoom: [] } : { [what]: !state[what] });
		if (what === 'table' && view.state.table) {
			byId('table').focus();
			view.say(document.querySelector('#table caption')!.textContent!);
		} else if (what === 'table') {
			view.graph.box.focus();
		}
	}

	private escape(): void {
		const { view } = this, typing = document.activeElement === view.search;
		const open = document.querySelector<HTMLDetailsElement>('.drop[open]');
		if (open) {
			open.open = false;
			return open.querySelector('summary')!.focus();
		}
		if (view.state.code) {
			view.change({ code: '', generation: '' });
			(view.listsMethods ? byId('lives-close') : view.state.table ? byId('table') : view.graph.box).focus();
		} else if (view.listsMethods)
			this.leaveMethods();
		else if (view.state.search)
			view.change({ search: '' }, 'replace');
		else if (!view.graph.isWhole)
			this.reset();
		else if (view.range || view.baseline)
			view.change({ range: '', baseline: '' });
		else if (view.state.sandwich)
			view.change({ sandwich: '' });
		if (typing)
			(view.state.table ? byId('table') : view.graph.box).focus();
		view.tip.hide();
	}

	listen(): void {
		const { view } = this, { graph, search, tip } = view, moved = () => view.showReset();
		const help = () => byId<HTMLDialogElement>('help').showModal();
		const clicked = (id: string, act: () => void) => byId(id).addEventListener('click', act);
		const toggle = (what: Switch) => this.toggle(what);
		for (const one of [graph, view.callees]) {
			listenToPointer(one, { hover: (node, x, y) => this.hover(one, node, x, y), click: node => this.click(one, node), moved });
			one.box.addEventListener('contextmenu', event => {
				const { left, top } = one.box.getBoundingClientRect(), node = one.nodeAt(event.clientX - left, event.clientY - top);
				if (node < 0 || !one.tree.label[node])
					return;
				event.preventDefault();
				this.showMenu(one.tree.label[node], event.clientX, event.clientY);
			});
			one.box.addEventListener('scroll', () => tip.hide());
		}
		listenToKeys([graph, view.callees], { select: (one, node) => this.select(one, node), zoom: (one, node) => this.click(one, node),
			pause: this.pause, moved, toggle, help, escape: () => this.escape(), search: () => search.focus(), frame: act => this.frameKey(act) });
		clicked('graph-view', () => view.change({ callers: false, table: false, sandwich: '', zoom: view.state.callers ? [] : view.state.zoom }));
		clicked('callers-view', () => view.change({ callers: true, table: false, sandwich: '', zoom: view.state.callers ? view.state.zoom : [] }));
		clicked('table-view', () => view.state.table || toggle('table'));
		for (const key of ['flipped', 'absolute', 'nokernel', 'collapse', 'exact', 'modules'] as const)
			clicked(key, () => toggle(key));
		clicked('reset', () => this.reset());
		clicked('help-button', help);
		search.addEventListener('input', () => view.change({ search: search.value }, 'replace'));
		byId('threads').addEventListener('change', () =>
			view.change({ threads: byId<HTMLSelectElement>('threads').value }));
		byId('event').addEventListener('change', () => view.change({ event: byId<HTMLSelectElement>('event').value }));
		for (const event of ['popstate', 'hashchange'])
			addEventListener(event, () => view.follow());
		dark.addEventListener('change', () => view.recolour());
		new ResizeObserver(() => requestAnimationFrame(() => {
			for (const one of view.state.table ? [] : view.centre >= 0 ? [graph, view.callees] : [graph]) {
				one.fit();
				one.draw();
			}
		})).observe(graph.box);
	}
}
