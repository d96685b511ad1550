// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The description of a frame: in the line below the graph, beside the pointer, and for screen readers.

import type { Names } from './names';
import { mayBeChance } from './noise';
import { byId, element, number, percent, plural, signed } from './text';
import type { Tree } from './tree';

export class Tip {
	codeOf: (tree: Tree, node: number) => string = () => '';       // see pieces.ts
	ofTime = false;                 // what is described is a place on the time line
	private readonly detail = byId('detail');
	private readonly box = byId('tip');

	constructor(private readonly names: Names) {}

	/** The lines with the samples of a frame. */
	private counts(tree: Tree, node: number, focus: number, callers: boolean): string[] {
		if (tree.total.length > 1)
			return this.change(tree, node, callers);
		const total = tree.total[0], self = tree.self[0];
		return [`${plural(total[node], 'sample')}, ${percent(total[node], total[0])}` +
			(focus && total[node] <= total[focus] ? `, ${percent(total[node], total[focus])} of what is in view` : '') +
			(callers ? '' : ` · self ${number(self[node])}, ${percent(self[node], total[0])}`)];
	}

	private change(tree: Tree, node: number, callers: boolean): string[] {
		const line = (what: string, [before, after]: Float64Array[]) => {
			const [wholeBefore, wholeAfter] = tree.total.map(total => total[0]);
			const points = 100 * ((wholeAfter && after[node] / wholeAfter) - (wholeBefore && before[node] / wholeBefore));
			const more = after[node] - before[node];
			return `${what}before ${number(before[node])}, ${percent(before[node], wholeBefore)}` +
				` · after ${number(after[node])}, ${percent(after[node], wholeAfter)}` +
				` · ${signed(points, Math.abs(points).toFixed(2))} points, ${signed(more, number(Math.abs(more)))}` +
				(mayBeChance([before[node], after[node]], [wholeBefore, wholeAfter]) ? ' · ~ within the random error' : '');
		};
		return [line('', tree.total), ...(callers ? [] : [line('self: ', tree.self)])];
	}

	lines(tree: Tree, node: number, focus: number, callers: boolean): string[] {
		const label = tree.label[node];
		return [this.names.name(label), this.names.kindLine(label), this.codeOf(tree, node), this.names.source(tree.sourceOf(node)),
			...this.counts(tree, node, focus, callers)].filter(Boolean);
	}

	/**
	 * Describe a frame, or a part of the time line (ofTime), below the graph. Each part is isolated (bdi): right-to-left
	 * text in a name does not move its neighbours.
	 */
	describe(lines: string[], ofTime = false): void {
		this.ofTime = ofTime;
		this.detail.replaceChildren(...lines.flatMap((line, i) => [...(i ? [' · '] : []), element('bdi', line)]));
	}

	show([name, ...lines]: string[], x: number, y: number): void {
		const { box } = this;
		box.replaceChildren(element('strong', name), ...lines.map(line => element('div', line)));
		box.hidden = false;
		box.style.left = Math.max(8, Math.min(x + 14, innerWidth - box.offsetWidth - 8)) + 'px';
		box.style.top = (y + 20 + box.offsetHeight < innerHeight ? y + 20 : Math.max(8, y - 12 - box.offsetHeight)) + 'px';
	}

	hide(): void {
		this.box.hidden = true;
	}
}
