// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Mouse and touch on the graph: hover, click, drag, wheel.

import type { Graph } from './graph';

const DRAG = 4;         // pixels; a longer movement is not a click

export interface PointerActions {
	hover(node: number, x: number, y: number): void;
	click(node: number): void;
	moved(): void;
}

export function listenToPointer(graph: Graph, actions: PointerActions): void {
	const { box } = graph, canvas = box.querySelector('canvas')!;
	let last: { x: number; y: number } | null = null, dragging = false;
	const nodeAt = (event: PointerEvent | MouseEvent) => {
		const { left, top } = canvas.getBoundingClientRect();
		return graph.nodeAt(event.clientX - left, event.clientY - top);
	};

	canvas.addEventListener('pointerdown', event => {
		if (event.button === 0 && event.isPrimary)
			last = { x: event.clientX, y: event.clientY };
		dragging = false;
	});
	canvas.addEventListener('pointermove', event => {
		if (!last) {
			actions.hover(nodeAt(event), event.clientX, event.clientY);
			return;
		}
		const x = last.x - event.clientX, y = last.y - event.clientY;
		if (!dragging && Math.hypot(x, y) < DRAG)
			return;
		if (!dragging)
			canvas.setPointerCapture(event.pointerId);
		dragging = true;
		last = { x: event.clientX, y: event.clientY };
		actions.hover(-1, 0, 0);
		graph.pan(x);
		if (event.pointerType === 'mouse')
			box.scrollTop += y;
		actions.moved();
	});
	for (const end of ['pointerup', 'pointercancel'])
		canvas.addEventListener(end, () => { last = null; });
	canvas.addEventListener('pointerleave', () => actions.hover(-1, 0, 0));
	canvas.addEventListener('click', event => {
		const node = nodeAt(event);
		if (!dragging && node >= 0)
			actions.click(node);
	});
	canvas.addEventListener('wheel', event => {
		if (event.ctrlKey || event.metaKey)
			graph.scale(Math.exp(event.deltaY / 300), event.clientX - canvas.getBoundingClientRect().left);
		else if (event.deltaX || event.shiftKey)
			graph.pan(event.deltaX || event.deltaY);
		else
			return;
		actions.hover(-1, 0, 0);
		actions.moved();
		event.preventDefault();
	}, { passive: false });
}
