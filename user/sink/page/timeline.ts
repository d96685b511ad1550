// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The time line: a strip with samples per interval and, on demand, heat maps with a column per second: of all, and of the
// processes with most samples. A range that is selected there is what graph, table, callers and search are of; a second
// range is the baseline of a difference.

import { LANE, codeWords, drawLane, nearestBin } from './code_lane';
import { dark } from './colour';
import { ProcessMaps } from './process_maps';
import { byId, plural } from './text';
import { chosenThreads, processText } from './threads';
import { showAxis } from './time_axis';
import { CELLS, FEW_CELLS, TickSums, binsOf, type Bins, type HeatMap } from './time_bins';
import { rangeWords, samplesIn, textOf, wholeTicks, type Range } from './time_range';
import type { View } from './view';

const STRIP = 24, AXIS = 12, CELL = 3, GAP = 4, OTHERS = 15;      // heights
const MAP = STRIP + AXIS + GAP;         // top of the first heat map
const CLICK = 3;                        // pixels; a shorter movement is a click
const NEAR = 8;                         // pixels from a click on the lane to what has a bin there
const STEPS = 50;                       // of the arrow keys

export class TimeLine {
	private readonly box = byId('strip');
	private readonly axis = this.box.querySelector<HTMLElement>('.axis')!;
	private readonly canvas: HTMLCanvasElement;
	private readonly pen: CanvasRenderingContext2D;
	private bins: Bins | null = null;
	private readonly sums = new TickSums();
	private readonly processes: ProcessMaps;
	private width = 0;
	private dragged: Range | null = null;
	private asBaseline = false;     // the dragged range becomes the baseline

	/** openMethods: of a range of time, as a text. */
	constructor(private readonly view: View, private readonly openMethods: (range: string) => void) {
		this.canvas = this.box.querySelector('canvas')!;
		this.pen = this.canvas.getContext('2d')!;
		this.processes = new ProcessMaps(view);
		view.timeChanged = () => this.refresh();
	}

	/** The heat maps are shown. */
	private get open(): boolean {
		return this.view.state.unfolded;
	}

	/** Top of a heat map: 0 is that of all, the next ones are those of processes. */
	private topOf(map: number): number {
		return map ? MAP + CELL * CELLS + GAP + (map - 1) * (CELL * FEW_CELLS + GAP) : MAP;
	}

	/** Top of the lane of JIT code, below the heat maps. */
	private get laneTop(): number {
		return this.topOf(this.processes.shown.length + 1) + (this.processes.hasOthers ? OTHERS : 0);
	}

	private get height(): number {
		return this.open ? this.laneTop + (this.view.profile.code.rows ? LANE : -GAP) : STRIP + AXIS;
	}

	/** The height of a range: folded, it leaves the axis alone. */
	private get framed(): number {
		return this.open ? this.height : STRIP;
	}

	/** The profile, the chosen threads or the selected ranges have changed. */
	private refresh(): void {
		const { profile, range, baseline } = this.view;
		byId('time').hidden = !profile.slices.rows;
		if (!profile.slices.rows)
			return;
		this.bins = null;
		this.processes.update(this.open);
		this.fit();
		this.draw();
		this.showLabels();
		byId('baseline').ariaPressed = String(Boolean(baseline));
		byId<HTMLButtonElement>('baseline').disabled = !range && !baseline;
		byId<HTMLButtonElement>('all-time').disabled = !range && !baseline;
		byId('range').textContent = this.words();
	}

	/** The selected range or ranges, in words. */
	private words(): string {
		const { view } = this, { profile, range, baseline } = view, chosen = chosenThreads(profile, view.state.threads);
		const { ticks } = this.made(), words = (part: Range) =>
			`${rangeWords(part, profile.slices, ticks)}, ${plural(samplesIn(profile, chosen, part), 'sample')}`;
		if (!baseline)
			return range ? words(range) : '';
		return `before: ${words(baseline)} → after: ${range ? words(range) : 'all of the time'}`;
	}

	private made(): Bins {
		const { profile, state: { threads } } = this.view;
		if (!this.bins) {
			const chosen = chosenThreads(profile, threads);
			this.sums.follow(profile, chosen ? { key: threads, parts: 1, of: chosen } : this.processes.split);
			this.bins = binsOf(profile, this.sums, this.width, Boolean(chosen), this.open);
		}
		return this.bins;
	}

	private fit(): void {
		const ratio = devicePixelRatio || 1, { canvas, pen, height } = this;
		this.box.style.height = height + 'px';
		if (this.width !== this.box.clientWidth)
			this.bins = null;
		this.width = this.box.clientWidth;
		const wide = Math.round(this.width * ratio), high = Math.round(height * ratio);
		if (canvas.width !== wide || canvas.height !== high) {  // a change empties it
			canvas.width = wide;
			canvas.height = high;
		}
		pen.setTransform(ratio, 0, 0, ratio, 0, 0);
	}

	// ---- the picture -------------------------------------------------------------------------------

	private draw(): void {
		const style = getComputedStyle(document.documentElement), colour = (name: string) => style.getPropertyValue('--' + name);
		const { pen, width, height } = this, bins = this.made();
		pen.clearRect(0, 0, width, height);
		this.drawBars(bins.all, bins.most, colour('line'));
		this.drawBars(bins.chosen, bins.most, colour('bar'));
		bins.maps.forEach((map, i) => this.drawCells(map, this.topOf(i), width * bins.seconds * this.perSecond / bins.ticks, colour('cell')));
		if (this.open && this.view.profile.code.rows)
			drawLane(pen, this.view.profile.code, this.laneTop, width, tick => this.xOf(tick),
				{ live: colour('resolved'), line: colour('line') });
		const { range, baseline } = this.view, [before, after] = this.asBaseline ? [this.dragged ?? baseline, range]
			: [baseline, this.dragged ?? range];
		this.drawRanges([before, after].filter(part => part !== null), colour('page'));
		if (before)
			this.drawEdges(before, colour('accent'), after ? 'before' : 'baseline');
		showAxis(this.axis, bins.ticks / this.perSecond, width);
		if (after)
			this.drawEdges(after, before ? colour('lost') : colour('ink'), before ? 'after' : '');
	}

	private drawBars(samples: Float64Array, most: number, colour: string): void {
		const { pen, width } = this, wide = width / samples.length, gap = wide >= 4 ? 1 : 0;
		pen.fillStyle = colour;
		for (let i = 0; i < samples.length; i++) {
			const high = samples[i] ? Math.max(1, (STRIP - 2) * samples[i] / (most || 1)) : 0, x = Math.round(i * wide);
			pen.fillRect(x, STRIP - high, Math.max(1, Math.round((i + 1) * wide) - x - gap), high);
		}
	}

	/**
	 * The rows of a column of Bins.seconds are the parts of a second, from its beginning down. Each map has the whole range
	 * of strengths, so that a process with few samples is as visible as one with many.
	 */
	private drawCells({ cells, rows, most }: HeatMap, top: number, wide: number, colour: string): void {
		const { pen, width } = this;
		pen.fillStyle = colour;
		pen.globalAlpha = .04;
		pen.fillRect(0, top, width, CELL * rows);
		for (let i = 0; i < cells.length; i++) {
			if (!cells[i])
				continue;
			pen.globalAlpha = .12 + .88 * Math.sqrt(cells[i] / most);
			pen.fillRect(Math.floor(i / rows) * wide, top + i % rows * CELL, Math.max(1, wide - (wide > 4 ? 1 : 0)), CELL - (wide > 4 ? .5 : 0));
		}
		pen.globalAlpha = 1;
	}

	private get perSecond(): number {
		return 1e9 / this.view.profile.slices.tickNs;
	}

	private xOf(tick: number): number {
		return Math.min(1, tick / this.made().ticks) * this.width;
	}

	/** Fade the parts of the picture that are in none of the ranges. */
	private drawRanges(ranges: Range[], colour: string): void {
		const { pen, width, framed: height } = this;
		if (!ranges.length)
			return;
		let x = 0;
		pen.fillStyle = colour;
		pen.globalAlpha = .65;
		for (const [from, to] of [...ranges].sort((a, b) => a[0] - b[0])) {
			pen.fillRect(x, 0, Math.max(0, this.xOf(from) - x), height);
			x = Math.max(x, this.xOf(to));
		}
		pen.fillRect(x, 0, width - x, height);
		pen.globalAlpha = 1;
	}

	private drawEdges([from, to]: Range, colour: string, name: string): void {
		const { pen, framed: height } = this, left = this.xOf(from), right = Math.max(left + 2, this.xOf(to));
		pen.strokeStyle = pen.fillStyle = colour;
		pen.lineWidth = 2;
		pen.strokeRect(left + 1, 1, right - left - 2, height - 2);
		pen.font = '11px system-ui, sans-serif';
		pen.textBaseline = 'top';
		if (!name)
			return;
		const wide = pen.measureText(name).width + 6, x = Math.max(0, Math.min(this.width - wide, left));
		pen.fillRect(x, 0, wide, 13);
		pen.fillStyle = dark.matches ? '#16181a' : '#fff';
		pen.fillText(name, x + 3, 1);
	}

	// ---- selection ---------------------------------------------------------------------------------

	/** The number of the heat map at a place; -1: none. */
	private mapAt(y: number): number {
		return this.made().maps.findIndex(({ rows }, i) => y >= this.topOf(i) && y < this.topOf(i) + CELL * rows);
	}

	/** The ticks at a place: of a column of the strip, or of a cell of a heat map. */
	private ticksAt(x: number, y: number): Range {
		const { ticks, all, seconds, maps } = this.made(), { perSecond, width } = this, at = Math.max(0, Math.min(width - 1, x)) / width;
		const map = this.mapAt(y);
		if (map < 0) {
			const column = Math.floor(at * all.length), scale = ticks / all.length;
			return [Math.floor(column * scale), Math.max(Math.floor(column * scale) + 1, Math.floor((column + 1) * scale))];
		}
		const column = Math.floor(at * ticks / perSecond / seconds), first = column * seconds * perSecond;
		const part = perSecond / maps[map].rows, begin = Math.floor(first + Math.floor((y - this.topOf(map)) / CELL) * part);
		return seconds > 1 ? [first, first + seconds * perSecond] : [begin, begin + Math.max(1, Math.round(part))];
	}

	private isLane(y: number): boolean {
		return this.open && this.view.profile.code.rows > 0 && y >= this.laneTop;
	}

	/** The range, as a text, whose methods a click on the lane lists: the selected one, or the bin at that place. Empty: none. */
	private laneText(x: number): string {
		const { view } = this, { code, slices } = view.profile, bin = nearestBin(code, x, NEAR, tick => this.xOf(tick));
		return view.range ? view.state.range : bin ? textOf(bin, slices) : '';
	}

	private openLane(x: number): void {
		const { view } = this, text = this.laneText(x), none = 'No JIT code was loaded or ended here';
		if (text)
			return this.openMethods(text);
		view.tip.describe([none, 'Enter lists all methods'], true);
		view.say(none);
	}

	/** Select a range. The last one of a live profile goes on to the end, whenever that is. */
	private choose(range: Range, baseline: boolean): void {
		const { view } = this, { slices } = view.profile, { ticks } = this.made();
		const [from, to] = wholeTicks(Math.max(0, range[0]), Math.min(ticks, range[1]), slices);
		const text = textOf([from, to >= ticks ? Infinity : to], slices);
		view.change(baseline ? { baseline: text } : { range: text });
		view.say(this.words());
	}

	private clear(): void {
		this.view.change({ range: '', baseline: '' });
		this.view.say('All of the time is shown');
	}

	/** Make the range the baseline, or remove the baseline. */
	private compare(): void {
		const { view } = this, { state } = view;
		view.change(state.baseline ? { baseline: '' } : { baseline: state.range, range: '' });
		view.say(this.words());
	}

	/** The arrow keys move the range, or its end with Shift. */
	private move(forward: boolean, end: boolean): void {
		const { ticks } = this.made(), step = Math.max(1, Math.round(ticks / STEPS)), by = forward ? step : -step;
		const old = this.view.range, [from, to] = old ? [old[0], Math.min(old[1], ticks)] : [0, 0];
		if (!old)
			this.choose(forward ? [0, step] : [ticks - step, ticks], false);
		else if (end)
			this.choose([from, Math.max(from + 1, Math.min(ticks, to + by))], false);
		else
			this.choose([Math.max(0, Math.min(ticks - (to - from), from + by)), Math.max(to - from, Math.min(ticks, to + by))], false);
	}

	private key(event: KeyboardEvent): boolean {
		const { view } = this, { key } = event;
		if (event.ctrlKey || event.metaKey || event.altKey)
			return false;
		if (key === 'ArrowLeft' || key === 'ArrowRight')
			this.move(key === 'ArrowRight', event.shiftKey);
		else if (key === 'Enter' && view.profile.code.rows)
			this.openMethods(view.range ? view.state.range : '0-');
		else if (key === 'b' && (view.range || view.baseline))
			this.compare();
		else if ((key === 'Escape' || key === 'Delete') && (view.range || view.baseline))
			this.clear();
		else
			return false;
		return true;
	}

	private unfold(): void {
		this.view.change({ unfolded: !this.open }, 'replace');
	}

	/** What the rows below the strip are. */
	private showLabels(): void {
		const { open, view } = this, { seconds } = this.made(), [map, ...lanes] = this.box.querySelectorAll<HTMLElement>('.label');
		byId('unfold').ariaExpanded = String(open);
		map.hidden = !open;
		map.textContent = seconds > 1 ? `each ${seconds} s` : 'per second';
		lanes.forEach((label, i) => {
			label.hidden = !open || !view.profile.code.rows;
			label.style.top = `${this.laneTop + 1 + 25 * i}px`;
		});
		this.processes.place(this.topOf(1), CELL * FEW_CELLS, GAP);
	}

	private describe(x: number, y: number): void {
		const { profile } = this.view, range = this.ticksAt(x, y), { ticks } = this.made(), map = this.mapAt(y);
		if (map > 0)
			return this.describeProcess(map, range);
		const chosen = chosenThreads(profile, this.view.state.threads);
		this.view.tip.describe([rangeWords(range, profile.slices, ticks), plural(samplesIn(profile, chosen, range), 'sample'),
			...codeWords(profile.code, range), ...(this.isLane(y) && this.laneText(x) ? ['click: the methods'] : [])], true);
	}

	/** Describe a cell of the heat map of a process. */
	private describeProcess(map: number, range: Range): void {
		const { profile, tip } = this.view, { ticks, maps } = this.made(), { name, pid } = this.processes.shown[map - 1];
		tip.describe([processText(name, pid), rangeWords(range, profile.slices, ticks),
			plural(samplesIn(profile, chosenThreads(profile, String(pid)), range), 'sample'),
			`strongest colour: ${plural(Math.max(1, Math.round(maps[map].most)), 'sample')} in a cell`], true);
	}

	private listenToPointer(): void {
		const { box, view } = this;
		let start: { x: number; range: Range } | null = null;
		const at = (event: PointerEvent): [number, number] => {
			const { left, top } = box.getBoundingClientRect();
			return [event.clientX - left, event.clientY - top];
		};
		box.addEventListener('pointerdown', event => {
			if (event.button !== 0 || !event.isPrimary)
				return;
			start = { x: event.clientX, range: this.ticksAt(...at(event)) };
			this.asBaseline = event.shiftKey;
			box.setPointerCapture(event.pointerId);
		});
		box.addEventListener('pointermove', event => {
			const range = this.ticksAt(...at(event));
			if (start && (this.dragged || Math.abs(event.clientX - start.x) >= CLICK)) {
				this.dragged = [Math.min(start.range[0], range[0]), Math.max(start.range[1], range[1])];
				this.draw();
			}
			this.describe(...at(event));
		});
		box.addEventListener('pointerup', event => {
			const range = this.dragged, clicked = Boolean(start), [x, y] = at(event);
			start = this.dragged = null;
			if (range)
				this.choose(range, this.asBaseline);
			else if (clicked && !this.asBaseline && this.isLane(y))
				this.openLane(x);
			else if (!this.asBaseline && (view.range || view.baseline))
				this.clear();
			this.asBaseline = false;
		});
		box.addEventListener('pointercancel', () => {
			start = this.dragged = null;
			this.asBaseline = false;
			this.draw();
		});
		box.addEventListener('pointerleave', () => {
			view.tip.describe([]);
			view.pointAgain();
		});
	}

	listen(): void {
		this.listenToPointer();
		this.box.addEventListener('keydown', event => {
			if (!this.key(event))
				return;
			event.preventDefault();
			event.stopPropagation();
		});
		byId('unfold').addEventListener('click', () => this.unfold());
		byId('baseline').addEventListener('click', () => this.compare());
		byId('all-time').addEventListener('click', () => this.clear());
		dark.addEventListener('change', () => byId('time').hidden || this.draw());
		new ResizeObserver(() => requestAnimationFrame(() => {
			if (byId('time').hidden || this.width === this.box.clientWidth)
				return;
			this.fit();
			this.draw();
		})).observe(this.box);
	}
}
