// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Keyboard shortcuts for everything that the mouse can do.

import type { Graph } from './graph';

export type Switch = 'callers' | 'table' | 'flipped' | 'absolute' | 'nokernel' | 'collapse' | 'exact' | 'modules';
/** What can be done with a frame. */
export type FrameAct = 'code' | 'sandwich' | 'hide' | 'only' | 'hideModule' | 'onlyModule';

export interface KeyActions {
	select(graph: Graph, node: number): void;
	zoom(graph: Graph, node: number): void;
	moved(): void;
	escape(): void;
	search(): void;
	help(): void;
	pause(): void;
	toggle(what: Switch): void;
	frame(act: FrameAct | 'menu'): void;
}

/** Keys on the graph. */
function graphKey(graph: Graph, actions: KeyActions, event: KeyboardEvent): boolean {
	const { key } = event;
	if (event.shiftKey && (key === 'ArrowLeft' || key === 'ArrowRight')) {
		graph.pan((key === 'ArrowLeft' ? -1 : 1) * graph.box.clientWidth / 8);
		actions.moved();
	} else if (key.startsWith('Arrow')) {
		actions.select(graph, graph.selected < 0 ? graph.focus : graph.neighbour(graph.selected, key));
	} else if (key === 'Home') {
		actions.select(graph, graph.focus);
	} else if ((key === 'Enter' || key === ' ') && graph.selected >= 0) {
		actions.zoom(graph, graph.selected);
	} else if (key === '+' || key === '=' || key === '-') {
		graph.scale(key === '-' ? 1.4 : 1 / 1.4);
		actions.moved();
	} else {
		return false;
	}
	return true;
}

/** Keys anywhere except in input fields. */
function pageKey(graph: Graph, actions: KeyActions, key: string): boolean {
	const toggles = { i: 'callers', t: 'table', f: 'flipped', n: 'absolute', k: 'nokernel', r: 'collapse', e: 'exact', c: 'modules' } as const;
	const frames = { a: 'code', s: 'sandwich', h: 'hide', o: 'only', m: 'menu' } as const;
	if (key in toggles)
		actions.toggle(toggles[key as keyof typeof toggles]);
	else if (key in frames)
		actions.frame(frames[key as keyof typeof frames]);
	else if (key === 'Backspace')
		actions.zoom(graph, Math.max(0, graph.tree.parent[graph.focus]));
	else if (key === '/')
		actions.search();
	else if (key === '?')
		actions.help();
	else if (key === 'p')
		actions.pause();
	else
		return false;
	return true;
}

/** graphs: the first is in all views. */
export function listenToKeys(graphs: Graph[], actions: KeyActions): void {
	document.addEventListener('keydown', event => {
		const { target, key } = event;
		if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]'))
			return;
		const graph = graphs.find(one => one.box === target), field = target instanceof HTMLInputElement || target instanceof HTMLSelectElement;
		if (key === 'Escape')
			actions.escape();
		else if (field || !((graph && graphKey(graph, actions, event)) || pageKey(graphs[0], actions, key)))
			return;
		event.preventDefault();
	});
}
