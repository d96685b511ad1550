// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The panel of the lane of JIT code: methods that were loaded or ended in a range of time, and the lives of one of them.

import { generationIndex } from './code_data';
import { generationText, lengthOf, livesOf, methodText, methodsIn, type Lives, type Method } from './lives';
import { byId, bytes, element, number, plural, shortened, visible } from './text';
import { rangeOf, type Range } from './time_range';
import type { View } from './view';

const ROWS = 200;
const NAME = 300;                       // letters
const RECORDED = 'Methods are in pages of recordings only: jitbpf report -o x.html RECORDING';
const ENDS = 'Ends of code: unloads, code that newer code replaced, and exits of processes. The lane counts unloads only.';
const OWN = 'In the instructions of this code itself, in the whole profile, whatever is selected.';

type Column = [heading: string, title: string];
type Cell = string | HTMLElement;

const nameOf = (text: string) => shortened(visible(text), NAME);
const duration = (ns: number) => ns < 1e6 ? `${(ns / 1e3).toFixed(0)} µs` : ns < 1e9 ? `${(ns / 1e6).toFixed(1)} ms` : `${(ns / 1e9).toFixed(2)} s`;
const moment = (time: number) => `${((time - 1) / 1e9).toFixed(3)} s`;

export class LivesPane {
	private readonly box = byId('lives');
	private readonly title = element('h2');
	private readonly facts = element('span', '', 'facts');
	private readonly back = element('button', '‹ Methods');
	private readonly note = element('div', '', 'note');
	private readonly scroll = element('div', '', 'scroll');
	private shown = '';                     // what the table is of
	private from = -1;                      // row of the method that was opened

	constructor(private readonly view: View) {
		const { box } = this, close = element('button', 'Close ✕');
		close.id = 'lives-close';
		close.title = 'Back to the graph (Escape)';
		close.addEventListener('click', () => this.close());
		this.back.id = 'lives-back';
		this.back.addEventListener('click', () => this.leave());
		this.title.dir = this.scroll.dir = 'ltr';
		box.append(element('div', '', 'head', this.back, this.title, this.facts, close), this.note, this.scroll);
		box.addEventListener('keydown', event => {
			if (!this.key(event))
				return;
			event.stopPropagation();
			event.preventDefault();
		});
		view.livesChanged = () => this.refresh();
	}

	/** Open it for a range of time, as a text. */
	open(methods: string): void {
		this.from = -1;
		this.view.change({ methods, method: '', code: '', generation: '' });
		this.focus();
		this.view.say(`${this.title.textContent}: ${this.facts.textContent || this.note.textContent}`);
	}

	close(): void {
		this.view.change({ methods: '', method: '' });
		byId('strip').focus();
		this.view.say('The methods are closed');
	}

	/** From the lives of a method back to the methods. */
	private leave(): void {
		this.view.change({ method: '' });
		this.focus(this.from);
	}

	private get buttons(): HTMLButtonElement[] {
		return [...this.scroll.querySelectorAll('button')];
	}

	private focus(index = 0): void {
		(this.buttons[Math.max(0, index)] ?? byId('lives-close')).focus();
	}

	private key({ key, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
		if (ctrlKey || metaKey || altKey)
			return false;
		const { buttons } = this, at = buttons.indexOf(document.activeElement as HTMLButtonElement);
		if (key === 'Escape')
			this.escape();
		else if ((key === 'ArrowDown' || key === 'ArrowUp') && buttons.length)
			buttons[Math.max(0, Math.min(buttons.length - 1, at + (key === 'ArrowDown' ? 1 : -1)))].focus();
		else
			return false;
		return true;
	}

	escape(): void {
		if (this.view.state.method && this.view.state.methods)
			this.leave();
		else
			this.close();
	}

	/** A selected range wins over the one of the address. */
	private get range(): Range {
		const { view } = this;
		return view.range ?? rangeOf(view.state.methods, view.profile.slices) ?? [0, Infinity];
	}

	private refresh(): void {
		const { view, box } = this, { state, profile } = view, { lives } = profile;
		box.hidden = !(state.methods || state.method) || Boolean(state.code);
		byId('main').classList.toggle('with-lives', !box.hidden);
		if (box.hidden) {
			this.shown = '';
			return;
		}
		const key = `${state.method} ${this.range} ${lives?.rows}`;
		if (this.shown === key)
			return;
		this.shown = key;
		this.back.hidden = !state.method || !state.methods;
		if (!lives)
			return this.show('Methods', '', [RECORDED]);
		if (state.method)
			this.showLives(lives, livesOf(profile, lives, state.method));
		else
			this.showMethods(lives);
	}

	private show(title: string, facts: string, notes: string[], ...table: HTMLElement[]): void {
		this.title.textContent = this.title.title = title;
		this.facts.textContent = facts;
		this.facts.title = facts;
		this.note.replaceChildren(...notes.map(text => element('p', text)));
		this.note.hidden = !notes.length;
		this.scroll.replaceChildren(...table);
		this.scroll.scrollTop = 0;
	}

	private table(label: string, columns: Column[], rows: Cell[][], ...more: string[]): HTMLElement {
		const headings = columns.map(([text, title]) => Object.assign(element('th', text), { scope: 'col', title }));
		const body = rows.map(cells => element('tr', '', '', ...cells.map((cell, i) =>
			i ? element('td', '', '', cell) : Object.assign(element('th', '', 'name', cell), { scope: 'row' }))));
		const table = element('table', '', '', element('thead', '', '', element('tr', '', '', ...headings)), element('tbody', '', '', ...body));
		table.ariaLabel = label;
		return element('div', '', '', table, ...more.filter(Boolean).map(text => element('p', text, 'more')));
	}

	private processOf(lives: Lives, row: number): string {
		return `${nameOf(this.view.profile.strings[lives.comm[row]])} ${lives.pid[row]}`;
	}

	/** What is missing in any table here. */
	private missing({ leftOut, forgotten }: Lives): string[] {
		const notes: string[] = [];
		if (leftOut.lives)
			notes.push(`${plural(leftOut.lives, 'load')} (${bytes(leftOut.bytes)}), the smallest ones without samples, are left out: the page has no room for them.`);
		if (forgotten.lives)
			notes.push(`${plural(forgotten.lives, 'load')} (${bytes(forgotten.bytes)}) were forgotten while the profile was made, for want of memory.`);
		return notes;
	}

	// ---- methods -------------------------------------------------------------------------------------

	/** How long the lives of a method are: the shortest and the longest one. */
	private lifeWords(lives: Lives, { rows }: Method): string {
		const lengths = rows.map(row => lengthOf(lives, row)).filter(ns => ns !== null).sort((a, b) => a - b);
		const live = rows.some(row => !lives.ended[row]), before = rows.some(row => lives.ended[row] && !lives.loaded[row]);
		const known = lengths.length ? [duration(lengths[0]), ...(lengths.length > 1 ? [duration(lengths[lengths.length - 1])] : [])] : [];
		return [[...new Set(known)].join(' – '), live ? 'still there' : '', before ? 'from before the run' : ''].filter(Boolean).join(', ');
	}

	private showMethods(lives: Lives): void {
		const { view, range: [from, to] } = this, { profile: { slices, strings } } = view, ns = slices.tickNs;
		const methods = methodsIn(lives, from * ns, to * ns), rest = methods.slice(ROWS);
		const sum = (key: 'loads' | 'ends' | 'bytes' | 'samples', of = methods) => of.reduce((total, method) => total + method[key], 0);
		const rows = methods.slice(0, ROWS).map((method, i): Cell[] => {
			const row = method.rows[0], button = element('button', nameOf(strings[lives.name[row]]));
			button.title = visible(strings[lives.name[row]]);
			button.addEventListener('click', () => this.openMethod(row, i));
			return [button, number(method.samples), number(method.loads), number(method.ends), bytes(method.bytes), this.lifeWords(lives, method),
				this.processOf(lives, row), nameOf(strings[lives.module[row]])];
		});
		this.show(`Methods, ${this.rangeWords}`,
			`${plural(methods.length, 'method')}, ${plural(sum('loads'), 'load')}, ${plural(sum('ends'), 'end')}, ${bytes(sum('bytes'))}`,
			[...(methods.length ? [] : ['No JIT code was loaded or ended in this time.']), ...this.missing(lives)],
			...(methods.length ? [this.table('Methods that were loaded or ended', [['Method', ''], ['Samples', OWN], ['Loads', ''], ['Ends', ENDS],
				['Size', 'Of all code that was loaded or ended in this time'], ['Lived', ''], ['Process', ''], ['Module', '']], rows,
			rest.length ? `and ${number(rest.length)} more, ${bytes(sum('bytes', rest))}` : '', ENDS)] : []));
	}

	private get rangeWords(): string {
		const [from, to] = this.range, { tickNs } = this.view.profile.slices, seconds = (ticks: number) => String(Math.round(ticks * tickNs / 1e6) / 1e3);
		return !from && to === Infinity ? 'all of the time' : `${seconds(from)} – ${to === Infinity ? 'the end' : seconds(to) + ' s'}`;
	}

	private openMethod(row: number, index: number): void {
		this.from = index;
		this.view.change({ method: methodText(this.view.profile, this.view.profile.lives!, row) });
		this.focus();
		this.view.say(`${this.title.textContent}: ${this.facts.textContent}`);
	}

	// ---- lives of a method ---------------------------------------------------------------------------

	/** The way to the code of a life, or null: the page does not have it. */
	private codeButton(lives: Lives, row: number): HTMLElement | null {
		const { view } = this, { profile: { functions, strings } } = view, name = strings[lives.name[row]], module = strings[lives.module[row]];
		const generation = generationText(lives, row), found = functions?.list.find(each => each.name === name && each.module === module);
		if (!found || generationIndex(found, generation) < 0)
			return null;
		const button = element('button', 'Code');
		button.title = 'Source lines and instructions of this code';
		button.addEventListener('click', () => {
			view.change({ code: view.state.method, generation });
			byId('code-machine').focus();
		});
		return button;
	}

	private showLives(lives: Lives, rows: number[]): void {
		const { view } = this, { profile: { strings, functions }, state } = view, first = rows[0];
		if (first === undefined)
			return this.show('No such method', '', ['The page has no method of this name.', ...this.missing(lives)]);
		const shown = rows.length > ROWS ? [...rows].sort((a, b) => lives.samples[b] - lives.samples[a] || a - b).slice(0, ROWS)
			.sort((a, b) => lives.loaded[a] - lives.loaded[b] || a - b) : rows, kept = new Set(shown);
		const sum = (of: number[], key: 'bytes' | 'samples') => of.reduce((total, row) => total + lives[key][row], 0);
		const rest = rows.filter(row => !kept.has(row));
		const cells = shown.map((row): Cell[] => [lives.loaded[row] ? moment(lives.loaded[row]) : 'before the run', this.codeButton(lives, row) ?? '',
			lives.ended[row] ? moment(lives.ended[row]) : 'still there', lengthOf(lives, row) === null ? '' : duration(lengthOf(lives, row)!),
			bytes(lives.bytes[row]), number(lives.samples[row]), this.processOf(lives, row)]);
		const unlinked = functions && cells.some(row => row[1] === '');
		this.show(visible(strings[lives.name[first]]), `${nameOf(strings[lives.module[first]])} · ${rows.length === 1 ? '1 life' : number(rows.length) + ' lives'}, ` +
			`${plural(sum(rows, 'samples'), 'sample')}, ${bytes(sum(rows, 'bytes'))}`,
		[...(unlinked ? ['Code is embedded for lives with samples only.'] : !functions ? ["'jitbpf report --code' makes a page with the code, too."] : []),
			...this.missing(lives)],
		this.table('Lives of ' + state.method, [['Loaded', 'Since the start of the run'], ['', ''], ['Ended', ENDS], ['Lived', ''], ['Size', ''], ['Samples', OWN],
			['Process', '']], cells, rest.length ? `and ${number(rest.length)} more with fewer samples, ${bytes(sum(rest, 'bytes'))}` : ''));
	}
}
