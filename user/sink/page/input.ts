// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What keys, pointer and controls do to the view.

import { dark } from './colour';
import { listenToKeys } from './keys';
import { listenToPointer } from './pointer';
import { byId } from './text';
import { pathTo } from './tree';
import type { View } from './view';

export class Input {
	private pointer = { x: 0, y: 0 };

	constructor(private readonly view: View, private readonly pause: () => void) {
		view.pointAgain = () => this.pointAgain();
	}

	private linesOf(node: number): string[] {
		const { tip, graph, state } = this.view;
		return tip.lines(graph.tree, node, graph.focus, state.callers);
	}

	private hover(node: number, x: number, y: number): void {
		const { graph, tip } = this.view;
		if (node !== graph.hovered) {
			graph.hovered = node;
			tip.describe(node >= 0 ? this.linesOf(node) : graph.selected >= 0 ? this.linesOf(graph.selected) : []);
			graph.box.style.cursor = node >= 0 ? 'pointer' : '';
			graph.redraw();
		}
		this.pointer = { x, y };
		if (node >= 0)
			tip.show(this.linesOf(node), x, y);
		else
			tip.hide();
	}

	/** The frame under the pointer may be another one, or have other numbers. */
	private pointAgain(): void {
		const { graph } = this.view, { x, y } = this.pointer;
		if (byId('tip').hidden)
			return;
		const { left, top } = graph.box.getBoundingClientRect();
		graph.hovered = -1;
		this.hover(graph.nodeAt(x - left, y - top), x, y);
	}

	private select(node: number): void {
		const { graph, tip } = this.view;
		graph.selected = node;
		graph.reveal(node);
		graph.redraw();
		tip.describe(this.linesOf(node));
		this.view.say(this.linesOf(node).join(', '));
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

	private toggle(what: 'callers' | 'table' | 'flipped' | 'absolute'): void {
		const { view } = this, { state } = view;
		if (what === 'absolute' && !view.difference)
			return;
		// Positions in the two trees do not correspond.
		view.change(what === 'callers' ? { callers: !state.callers, table: false, zoom: [] } : { [what]: !state[what] });
		if (what === 'table' && view.state.table) {
			byId('table').focus();
			view.say(document.querySelector('#table caption')!.textContent!);
		} else if (what === 'table') {
			view.graph.box.focus();
		}
	}

	private escape(): void {
		const { view } = this, typing = document.activeElement === view.search;
		if (view.state.search)
			view.change({ search: '' }, 'replace');
		else if (!view.graph.isWhole)
			this.reset();
		else if (view.range || view.baseline)
			view.change({ range: '', baseline: '' });
		if (typing)
			(view.state.table ? byId('table') : view.graph.box).focus();
		view.tip.hide();
	}

	listen(): void {
		const { view } = this, { graph, search, tip } = view, moved = () => view.showReset();
		const help = () => byId<HTMLDialogElement>('help').showModal();
		const clicked = (id: string, act: () => void) => byId(id).addEventListener('click', act);
		const zoom = (node: number) => this.zoom(node), toggle: Input['toggle'] = what => this.toggle(what);
		listenToPointer(graph, { hover: (node, x, y) => this.hover(node, x, y), click: zoom, moved });
		listenToKeys(graph, { select: node => this.select(node), zoom, pause: this.pause, moved, toggle, help,
			escape: () => this.escape(), search: () => search.focus() });
		clicked('graph-view', () => view.change({ callers: false, table: false, zoom: view.state.callers ? [] : view.state.zoom }));
		clicked('callers-view', () => view.change({ callers: true, table: false, zoom: view.state.callers ? view.state.zoom : [] }));
		clicked('table-view', () => view.state.table || toggle('table'));
		clicked('absolute', () => toggle('absolute'));
		clicked('flip', () => toggle('flipped'));
		clicked('reset', () => this.reset());
		clicked('help-button', help);
		search.addEventListener('input', () => view.change({ search: search.value }, 'replace'));
		byId('threads').addEventListener('change', () =>
			view.change({ threads: byId<HTMLSelectElement>('threads').value }));
		graph.box.addEventListener('scroll', () => tip.hide());
		for (const event of ['popstate', 'hashchange'])
			addEventListener(event, () => view.change(view.linked(), 'keep'));
		dark.addEventListener('change', () => view.recolour());
		new ResizeObserver(() => requestAnimationFrame(() => {
			if (!view.state.table) {
				graph.fit();
				graph.draw();
			}
		})).observe(graph.box);
	}
}
