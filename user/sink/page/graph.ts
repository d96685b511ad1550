// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The picture: the visible part of a tree, drawn on a canvas that is as large as the visible area.

import { palette } from './colour';
import type { Names } from './names';
import { shortened } from './text';
import { exists, follow, pathTo, type Tree } from './tree';

export const ROW = 19;
const GAP = 1, PAD = 4, NARROWEST = .5, NAMED = 22, OUTLINED = 8, MOVE_MS = 180;
const FONT = '12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace';
const still = matchMedia('(prefers-reduced-motion: reduce)');

type Range = [from: number, to: number];        // in the tree's units

export class Graph {
	tree!: Tree;
	focus = 0;                      // node that is zoomed into
	selected = -1;
	hovered = -1;
	from = 0;                       // visible range, in the tree's units
	to = 1;
	flipped = false;
	matching: Uint8Array | null = null;     // by label
	fillOf: (node: number) => string = () => '';
	drawn = 0;

	private readonly room: HTMLElement;
	private readonly canvas: HTMLCanvasElement;
	private readonly pen: CanvasRenderingContext2D;
	private width = 0;
	private height = 0;
	private rows = 0;               // height of the whole picture
	private hidden = 0;             // height of its hidden part
	private fromBottom = 0;         // height of the hidden part below
	private letter = 7;
	private frame = 0;
	private scrolled = 0;           // scroll position of the last drawing; reading it for each frame is slow
	private turn = 0;               // number of the latest movement; older movements stop
	private goal: Range | null = null;      // range at the end of the movement
	private found = true;           // the whole path of the focus exists
	private chosen: number[] | null = null;         // path of the selected frame, while it does not exist

	constructor(readonly box: HTMLElement, private readonly names: Names) {
		this.room = box.querySelector('.room')!;
		this.canvas = box.querySelector('canvas')!;
		this.pen = this.canvas.getContext('2d', { alpha: false })!;
		box.addEventListener('scroll', () => {
			if (box.clientHeight === this.height)   // otherwise a resize has caused the event
				this.fromBottom = this.hidden - box.scrollTop;
			this.redraw();
		});
	}

	private aim(tree: Tree, path: number[]): void {
		this.tree = tree;
		this.focus = follow(tree, path);
		this.found = exists(tree, path);
		this.hovered = -1;
	}

	/** Show a tree, zoomed to the node at a path, without animation. */
	show(tree: Tree, path: number[]): void {
		this.aim(tree, path);
		this.selected = -1;
		this.chosen = null;
		this.stay(this.span(this.focus));
		this.makeRoom();
		this.reveal(this.focus);
		this.redraw();
	}

	/**
	 * Call it before samples change. Returns a function that shows a newer version of the tree: the focused frame is
	 * found by its path, and keeps its part of the view. A movement goes on.
	 */
	hold(): (tree: Tree, path: number[]) => void {
		const [left, right] = this.span(this.focus), part = (at: number) => (at - left) / (right - left);
		const view = [part(this.from), part(this.to)], goal = this.goal?.map(part), { tree: before, focus, found } = this;
		const { scrollTop } = this.box;
		return (tree, path) => {
			this.aim(tree, path);
			this.keepSelected(before);
			const span = this.span(this.focus), same = (found && this.found) || before.depth[focus] === tree.depth[this.focus];
			const rangeOf = ([from, to]: number[]): Range => [Math.max(0, span[0] + from * (span[1] - span[0])),
				Math.min(this.span(0)[1], span[0] + to * (span[1] - span[0]))];
			this.stay(same ? rangeOf(view) : span);
			if (same && goal)
				this.moveTo(rangeOf(goal));
			this.makeRoom();
			if (!this.flipped)
				this.box.scrollTop = scrollTop;
			this.redraw();
		};
	}

	/** Select a frame by its path in the next version of the tree that has it. */
	selectAt(path: number[]): void {
		this.selected = -1;
		this.chosen = path;
	}

	/** Find the selected frame again, in a newer version of the tree that was shown before. */
	private keepSelected(before: Tree): void {
		const { tree } = this, path = this.selected < 0 ? this.chosen : tree === before ? null : pathTo(before, this.selected);
		if (path)
			this.selected = exists(tree, path) ? follow(tree, path) : -1;
		this.chosen = this.selected < 0 ? path : null;
	}

	/** Zoom into a node of the current tree. */
	zoom(node: number): void {
		this.focus = node;
		this.found = true;
		this.makeRoom();
		this.reveal(node);
		this.moveTo(this.span(node));
	}

	get isWhole(): boolean {
		return this.focus === 0 && this.from === 0 && this.to === this.span(0)[1];
	}

	span(node: number): Range {
		const { tree } = this, left = tree.left(node);
		return [left, left + (tree.width(node) || 1)];
	}

	/** Show another range. A range that exceeds the tree is moved, and keeps its width. */
	look(from: number, to: number): void {
		const whole = this.span(0)[1], wide = Math.min(whole, Math.max(to - from, whole * 1e-9));
		const left = Math.max(0, Math.min(from, whole - wide));
		this.stay([left, left + wide]);
		this.redraw();
	}

	/** Zoom in (factor below 1) or out, around a position on the screen. */
	scale(factor: number, x = this.width / 2): void {
		const at = this.from + (this.to - this.from) * x / this.width;
		this.look(at - (at - this.from) * factor, at + (this.to - at) * factor);
	}

	pan(pixels: number): void {
		const units = pixels * (this.to - this.from) / this.width;
		this.look(this.from + units, this.to + units);
	}

	fit(): void {
		const ratio = devicePixelRatio || 1, { canvas, pen } = this;
		this.width = this.box.clientWidth;
		this.height = this.box.clientHeight;
		canvas.width = Math.round(this.width * ratio);
		canvas.height = Math.round(this.height * ratio);
		canvas.style.width = this.width + 'px';
		canvas.style.height = this.height + 'px';
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
		pen.font = FONT;
		pen.textBaseline = 'middle';
		pen.direction = 'ltr';
		this.letter = pen.measureText('0').width;
		this.makeRoom();
	}

	/** Set the scroll height to the depth of the visible part. */
	makeRoom(): void {
		const { tree, focus } = this, least = (tree.width(focus) || 1) * NARROWEST / this.width;
		let deepest = tree.depth[focus];
		tree.walk((node, _, wide) => {
			if (wide < least)
				return false;
			deepest = Math.max(deepest, tree.depth[node]);
			return true;
		}, focus);
		this.rows = Math.max(this.height, (deepest + 2) * ROW);
		this.hidden = this.rows - this.height;
		this.room.style.height = this.hidden + 'px';
		if (this.flipped)       // the visible part keeps its position
			this.box.scrollTop = this.hidden - this.fromBottom;
	}

	private top(depth: number): number {
		return (this.flipped ? this.rows - (depth + 1) * ROW : depth * ROW) - this.scrolled;
	}

	reveal(node: number): void {
		this.scrolled = this.box.scrollTop;
		const y = this.top(this.tree.depth[node]);
		if (y < 0 || y + ROW > this.height)
			this.box.scrollTop += y - this.height / 3;
	}

	nodeAt(x: number, y: number): number {
		const { tree } = this, at = this.from + x * (this.to - this.from) / this.width;
		const fromTop = y + this.box.scrollTop, row = Math.floor((this.flipped ? this.rows - fromTop : fromTop) / ROW);
		let found = -1;
		tree.walk((node, left, wide) => {
			if (found >= 0 || at < left || at >= left + wide)
				return false;
			if (tree.depth[node] === row)
				found = node;
			return tree.depth[node] < row;
		});
		return found;
	}

	/** The next visible node in a direction, or the node itself. */
	neighbour(node: number, key: string): number {
		const { tree } = this, units = (this.to - this.from) / this.width, up = tree.parent[node];
		if (key === (this.flipped ? 'ArrowDown' : 'ArrowUp'))
			return Math.max(0, up);
		let best = node, widest = 0;
		if (key === 'ArrowUp' || key === 'ArrowDown') {
			for (let child = tree.firstChild(node); child >= 0; child = tree.nextSibling(child))
				if (tree.width(child) > widest) {
					best = child;
					widest = tree.width(child);
				}
			return best;
		}
		if (!node)
			return node;
		if (key === 'ArrowRight') {
			let next = tree.nextSibling(node);
			while (next >= 0 && tree.width(next) < units)
				next = tree.nextSibling(next);
			return next < 0 ? node : next;
		}
		for (let child = tree.firstChild(up); child !== node; child = tree.nextSibling(child))
			if (tree.width(child) >= units)
				best = child;
		return best;
	}

	redraw(): void {
		this.frame ||= requestAnimationFrame(() => this.draw());
	}

	draw(): void {
		const { tree, pen, width, height, from, to } = this, scale = width / (to - from);
		const strips: number[] = [];    // by depth: end of the strip drawn for frames that are too narrow
		cancelAnimationFrame(this.frame);
		this.scrolled = this.box.scrollTop;
		this.frame = this.drawn = 0;
		pen.fillStyle = palette().page;
		pen.fillRect(0, 0, width, height);
		const above = new Set<number>();
		for (let at = tree.parent[this.focus]; at >= 0; at = tree.parent[at])
			above.add(at);
		tree.walk((node, left, wide) => {
			const x = (left - from) * scale, w = wide * scale, depth = tree.depth[node];
			const y = this.top(depth), inView = x + w > 0 && x < width && y > -ROW && y < height;
			if (w < NARROWEST && inView && w > 0 && x >= (strips[depth] ?? 0)) {
				strips[depth] = Math.floor(x) + 1;
				pen.fillStyle = palette().strip;
				pen.fillRect(Math.floor(x), y, 1, ROW - GAP);
			}
			if (w < NARROWEST || x + w <= 0 || x >= width || (!this.flipped && y > height))
				return false;
			if (inView)
				this.drawFrame(node, x, w, y, above.has(node));
			return true;
		});
		if (!tree.width(0)) {
			pen.fillStyle = palette().ink;
			pen.fillText('No samples.', 2 * PAD, ROW);
		}
		document.documentElement.dataset.drawn = String(this.drawn);
	}

	private drawFrame(i: number, x: number, w: number, y: number, above: boolean): void {
		const { pen, tree, matching } = this, x0 = Math.max(-2, x), x1 = Math.min(this.width + 2, x + w);
		const wide = Math.max(NARROWEST, x1 - x0 - (x1 - x0 > 3 ? GAP : 0)), matches = matching?.[tree.label[i]];
		const faded = matching && !matches ? .3 : above ? .6 : 1;

		this.drawn++;
		pen.globalAlpha = faded;
		pen.fillStyle = this.fillOf(i);
		pen.fillRect(x0, y, wide, ROW - GAP);
		if (w > NAMED) {
			pen.fillStyle = palette().ink;
			this.drawName(this.names.name(tree.label[i]), Math.max(0, x0), Math.min(this.width, x1), y);
		}
		pen.globalAlpha = 1;
		if (i === this.selected || i === this.hovered || (matches && w > OUTLINED)) {
			pen.strokeStyle = palette().ink;
			pen.lineWidth = i === this.selected ? 2 : matches ? 1.5 : 1;
			pen.strokeRect(x0 + 1, y + 1, Math.max(1, wide - 2), ROW - GAP - 2);
		}
	}

	private drawName(name: string, x: number, end: number, y: number): void {
		const room = Math.floor((end - x - 2 * PAD) / this.letter);
		if (room < 2)
			return;
		const text = shortened(name, room);
		// Some letters are wider than the font's own.
		this.pen.fillText(text, x + PAD, y + ROW / 2, end - x - 2 * PAD);
	}

	/** Show a range, and end a movement. */
	private stay([from, to]: Range): void {
		this.turn++;
		this.goal = null;
		this.from = from;
		this.to = to;
	}

	private moveTo(goal: Range): void {
		const { from, to } = this, start = performance.now(), mine = ++this.turn;
		const step = (now: number) => {
			const t = still.matches ? 1 : Math.min(1, Math.max(0, (now - start) / MOVE_MS)), eased = 1 - (1 - t) ** 3;
			if (mine !== this.turn)
				return;
			this.from = t === 1 ? goal[0] : from + (goal[0] - from) * eased;
			this.to = t === 1 ? goal[1] : to + (goal[1] - to) * eased;
			this.draw();
			if (t < 1)
				requestAnimationFrame(step);
			else
				this.goal = null;
		};
		this.goal = goal;
		requestAnimationFrame(step);
	}
}
