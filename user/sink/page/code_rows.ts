// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A list of code: rows with samples, of which one is current. Arrow keys and clicks move it.

import { element, number, percent } from './text';

export interface CodeRow {
	samples: number;
	total?: number;                 // with what it calls; in a heading: there are such columns
	mark: string;                   // line or offset
	text: string;
	faint?: boolean;
	heading?: boolean;              // names the file of the rows behind it
	gap?: boolean;                  // rows are left out before it
}

/** A share of the samples as a strength: small ones are visible, too. */
const heat = (share: number) => share ? Math.round(15 + 85 * Math.sqrt(Math.min(1, share))) : 0;

export class CodeRows {
	current = -1;
	private rows: CodeRow[] = [];
	private elements: HTMLElement[] = [];

	constructor(readonly box: HTMLElement, private readonly moved: (row: number) => void, private readonly entered: (row: number) => void) {
		box.tabIndex = 0;
		box.role = 'listbox';
		box.addEventListener('keydown', event => {
			if (event.ctrlKey || event.metaKey || event.altKey || !this.key(event.key))
				return;
			event.preventDefault();
			event.stopPropagation();
		});
		box.addEventListener('click', event => {
			const row = this.elements.findIndex(e => e.contains(event.target as Node));
			if (row >= 0 && !this.rows[row].heading)
				this.choose(row, false);
		});
	}

	show(rows: CodeRow[], whole: number): void {
		this.rows = rows;
		this.current = -1;
		this.elements = rows.map((row, i) => this.element(row, i, whole));
		this.box.replaceChildren(...this.elements);
		this.box.removeAttribute('aria-activedescendant');
	}

	private element(row: CodeRow, index: number, whole: number): HTMLElement {
		const { samples, mark, text } = row, e = element('div');
		e.className = row.heading ? 'file' : 'row' + (row.faint ? ' faint' : '') + (row.gap ? ' gap' : '');
		if (row.heading) {
			e.classList.toggle('counted', row.total !== undefined);
			if (row.total !== undefined)
				e.append(element('span', 'self', 'count'), element('span', '', 'share'), element('span', 'total', 'count'), element('span', '', 'share'));
			e.append(element('span', text));
			e.title = text;
			return e;
		}
		e.id = `${this.box.id}-${index}`;
		e.role = 'option';
		e.ariaSelected = 'false';
		e.append(...this.counts(samples, whole), ...(row.total === undefined ? [] : this.counts(row.total, whole)),
			element('span', mark, 'mark'), element('code', text));
		if (samples)
			e.title = `${number(samples)} of ${number(whole)}, ${percent(samples, whole)}`;
		return e;
	}

	private counts(samples: number, whole: number): HTMLElement[] {
		const count = element('span', samples ? number(samples) : '', 'count');
		if (samples)
			count.style.setProperty('--heat', heat(samples / (whole || samples)) + '%');
		return [count, element('span', samples ? percent(samples, whole) : '', 'share')];
	}

	/** Mark rows that belong to the current one of another list, and show the first. */
	link(isLinked: (row: number) => boolean, show: number): void {
		this.elements.forEach((e, i) => e.classList.toggle('linked', !this.rows[i].heading && isLinked(i)));
		this.reveal(show);
	}

	reveal(row: number): void {
		const e = this.elements[row], { box } = this;
		if (!e || !box.clientHeight)
			return;
		const top = e.offsetTop, bottom = top + e.offsetHeight;
		if (top < box.scrollTop || bottom > box.scrollTop + box.clientHeight)
			box.scrollTop = Math.max(0, top - box.clientHeight / 3);
	}

	/** Make a row the current one. quiet: do not call moved(). */
	choose(row: number, quiet: boolean): void {
		this.elements[this.current]?.classList.remove('current');
		if (this.elements[this.current])
			this.elements[this.current].ariaSelected = 'false';
		this.current = row;
		const e = this.elements[row];
		if (!e)
			return this.box.removeAttribute('aria-activedescendant');
		e.classList.add('current');
		e.ariaSelected = 'true';
		this.box.setAttribute('aria-activedescendant', e.id);
		this.reveal(row);
		if (!quiet)
			this.moved(row);
	}

	/** The next row from `row` on that is no heading of a file. */
	private next(row: number, step: number): number {
		const { rows } = this;
		let at = Math.max(0, Math.min(rows.length - 1, row));
		while (rows[at]?.heading)
			at += step;
		return at >= 0 && at < rows.length ? at : this.current;
	}

	/** The row that follows the current one in the order of samples, or totals; the row with most of them after the last one. */
	hottest(): number {
		const weight = (row: number) => this.rows[row].total ?? this.rows[row].samples;
		const order = this.rows.map((_, i) => i).filter(i => !this.rows[i].heading && weight(i)).sort((a, b) => weight(b) - weight(a) || a - b);
		return order[(order.indexOf(this.current) + 1) % (order.length || 1)] ?? this.next(0, 1);
	}

	private key(key: string): boolean {
		const { current, rows, box } = this, page = Math.max(1, Math.floor(box.clientHeight / 20) - 1);
		const steps: Record<string, number> = { ArrowUp: -1, ArrowDown: 1, PageUp: -page, PageDown: page, Home: -Infinity, End: Infinity };
		if (!rows.length)
			return false;
		if (key in steps)
			this.choose(this.next(current + steps[key], steps[key] < 0 && key !== 'Home' ? -1 : key === 'End' ? -1 : 1), false);
		else if (key === 'h')
			this.choose(this.hottest(), false);
		else if (key === 'Enter')
			this.entered(current);
		else
			return false;
		return true;
	}
}
