// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// All functions in a table, also for screen readers.

import type { Hidden } from './data';
import { FunctionSums, type FunctionRow } from './function_sums';
import { PROCESS } from './kinds';
import type { Names } from './names';
import { countsMayBeChance, mayBeChance } from './noise';
import { element, number, percent, plural, signed } from './text';
import type { Changes, Tree } from './tree';

const STEP = 200;               // rows that are added at a time

interface Column {
	heading: string;
	title?: string;
	value: (row: FunctionRow) => number | string;
	text: (row: FunctionRow) => string;
	className?: string;
	words?: boolean;        // text; sorted ascending first
}

export class FunctionTable {
	codeOf: (label: number) => string = () => '';  // see pieces.ts
	hidden: Hidden | null = null;   // of a tree with all samples
	private sorted = 1;             // number of the column
	private downward = true;
	private limit = STEP;
	private rows: FunctionRow[] = [];
	private sums: FunctionSums | null = null;
	private whole: number[] = [];
	private matching: Uint8Array | null = null;
	private absolute = false;       // changes of numbers instead of shares

	constructor(private readonly box: HTMLElement, private readonly names: Names,
		private readonly choose: (label: number) => void) {}

	/** Sort by the number of self samples or, in a difference, by their change. */
	sortAnew(): void {
		this.sorted = 1;
		this.downward = true;
	}

	/**
	 * Show a newer version of the tree. `changes`: the only samples that were added; null: others may have changed.
	 * Position, focus and number of rows stay.
	 */
	refresh(tree: Tree, under: number, matching: Uint8Array | null, changes: Changes | null): void {
		const { scrollTop, limit } = { scrollTop: this.box.scrollTop, limit: this.limit };
		const focused = this.box.contains(document.activeElement) ? (document.activeElement as HTMLElement).dataset.row : undefined;
		this.take(tree, under, matching, changes);
		this.limit = limit;
		this.render();
		this.box.scrollTop = scrollTop;
		if (focused !== undefined)
			(this.box.querySelector<HTMLElement>(`[data-row="${focused}"]`) ?? this.box).focus({ preventScroll: true });
	}

	private take(tree: Tree, under: number, matching: Uint8Array | null, changes: Changes | null): void {
		if (changes && this.sums?.tree === tree && this.sums.under === under)
			this.sums.add(changes);
		else {
			this.sums = new FunctionSums(tree, under, label => this.names.functionOf(label));
			if (this.hidden && !under)
				this.sums.addHidden(this.hidden);
		}
		this.rows = [...this.sums.rows.values()].filter(row => row.total.some(n => n) && this.names.kind(row.label) !== PROCESS);
		this.whole = tree.total.map(total => total[under]);
		this.matching = matching;
	}

	show(tree: Tree, under: number, matching: Uint8Array | null, absolute: boolean): void {
		this.absolute = absolute;
		this.take(tree, under, matching, null);
		this.limit = STEP;
		this.render();
	}

	private counts(heading: string, of: 'self' | 'total'): Column[] {
		const share = (row: FunctionRow, side: number) => this.shareOf(row[of], side);
		const sides = this.whole.length > 1 ? [' before', ' after'] : [''];
		return sides.flatMap((side, n): Column[] => [
			{ heading: heading + side, value: row => row[of][n], text: row => number(row[of][n]) },
			{ heading: '%', title: `Share of the samples${side}: ${heading.toLowerCase()}`, value: row => share(row, n),
				text: row => percent(row[of][n], this.whole[n]) },
		]);
	}

	private shareOf(counts: number[], side: number): number {
		return this.whole[side] ? counts[side] / this.whole[side] : 0;
	}

	/** A change that may be chance has a mark. */
	private mark(counts: number[]): string {
		return (this.absolute ? countsMayBeChance(counts) : mayBeChance(counts, this.whole)) ? '~' : '\u2007';
	}

	private change(heading: string, of: 'self' | 'total'): Column {
		const change = (row: FunctionRow) => this.absolute ? row[of][1] - row[of][0]
			: 100 * (this.shareOf(row[of], 1) - this.shareOf(row[of], 0));
		return {
			heading: `${heading} ${this.absolute ? 'change' : 'points'}`,
			title: `Change of ${heading.toLowerCase()}${this.absolute ? '' : ', as a share of all samples'}; ` +
				'~: within the random error',
			value: row => Math.abs(change(row)),
			text: row => signed(change(row), this.absolute ? number(Math.abs(change(row))) : Math.abs(change(row)).toFixed(2)) +
				this.mark(row[of]),
			className: 'change',
		};
	}

	private columns(): Column[] {
		const { names } = this;
		return [
			{ heading: 'Function', value: row => names.functionName(row.label), text: row => names.functionName(row.label), className: 'name',
				words: true },
			// Changes are in front: narrow screens do not show all columns.
			...(this.whole.length > 1 ? [this.change('Self', 'self'), this.change('Total', 'total')] : []),
			...this.counts('Self', 'self'), ...this.counts('Total', 'total'),
			{ heading: 'Kind', value: row => names.functionKindWords(row.label), text: row => names.functionKindWords(row.label),
				className: 'text', words: true },
			{ heading: 'Code', title: 'How its code was made, by self samples: interpreted, optimized, inlined, a cold part', value: row => this.codeOf(row.label),
				text: row => this.codeOf(row.label), className: 'text', words: true },
			{ heading: 'Module', value: row => names.module(row.label), text: row => names.module(row.label),
				className: 'text', words: true },
		];
	}

	private sort(rows: FunctionRow[], { value }: Column): void {
		const sign = this.downward ? -1 : 1;
		rows.sort((a, b) => {
			const va = value(a), vb = value(b);
			return (va < vb ? -sign : va > vb ? sign : 0) || a.label - b.label;
		});
	}

	private heading(column: Column, index: number): HTMLElement {
		const button = element('button', column.heading + (index === this.sorted ? this.downward ? ' ▾' : ' ▴' : ''));
		const th = element('th', '', column.className, button);
		th.scope = 'col';
		button.dataset.row = 'heading' + index;
		button.title = column.title ?? `Sort by ${column.heading.toLowerCase()}`;
		if (index === this.sorted)
			th.ariaSort = this.downward ? 'descending' : 'ascending';
		button.addEventListener('click', () => {
			this.downward = index === this.sorted ? !this.downward : !column.words;
			this.sorted = index;
			this.render();
			this.box.querySelectorAll<HTMLElement>('thead button')[index].focus();
		});
		return th;
	}

	private row(row: FunctionRow, columns: Column[]): HTMLElement {
		const button = element('button', columns[0].text(row)), th = element('th', '', 'name', button);
		th.scope = 'row';
		button.dataset.row = String(row.label);
		button.title = `${columns[0].text(row)}: show in the flame graph`;
		button.addEventListener('click', () => this.choose(row.label));
		return element('tr', '', '', th, ...columns.slice(1).map(column => {
			const text = column.text(row), changes = column.className === 'change' && /[1-9]/.test(text);
			return element('td', text, changes ? text.startsWith('+') ? 'grown' : 'shrunk' : column.className);
		}));
	}

	private render(): void {
		const { matching } = this, columns = this.columns();
		const rows = matching ? this.rows.filter(row => matching[row.label]) : this.rows;
		this.sort(rows, columns[this.sorted]);
		const shown = rows.slice(0, this.limit);
		const caption = element('caption', `${plural(rows.length, 'function')}${matching ? ' that match' : ''}, ` +
			`of ${this.whole.map(n => plural(n, 'sample')).join(' before and ')}${this.whole.length > 1 ? ' after' : ''}`);
		const table = element('table', '', '', caption,
			element('thead', '', '', element('tr', '', '', ...columns.map((c, i) => this.heading(c, i)))),
			element('tbody', '', '', ...shown.map(row => this.row(row, columns))));
		this.box.replaceChildren(table);
		if (shown.length < rows.length) {
			const more = element('button', `Show ${number(Math.min(STEP, rows.length - shown.length))} more`, 'more');
			more.addEventListener('click', () => {
				this.limit += STEP;
				this.render();
				this.box.querySelectorAll<HTMLElement>('tbody button')[this.limit - STEP].focus();
			});
			this.box.append(more);
		}
	}
}
