// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The panel of the lane of JIT code: methods that were loaded or ended in a range of time, and the lives of one of them.

import { generationIndex } from './code_data';
import { generationText, lengthOf, livesOf, methodText, methodsIn, type Lives, type Method } from './lives';
import type { LiveMethods } from './live_methods';
import { patch } from './patch';
import { byId, bytes, element, number, plural, shortened, visible } from './text';
import { rangeOf, type Range } from './time_range';
import type { View } from './view';

const ROWS = 200;
const NAME = 300;                       // letters
const RECORDED = 'Methods are in pages of recordings only: jitbpf report -o x.html RECORDING';
const ASKING = 'The methods are on their way.';
const SILENT = 'jitbpf has not answered yet, and is asked again.';
const ENDED = 'The run has ended, and this page has no methods of this time. Its recording has them: jitbpf report -o x.html RECORDING';
const OLD = 'These methods are of a recording that was closed meanwhile. Times of the present one count from its own start.';
const ENDS = 'Ends of code: unloads, code that newer code replaced, and exits of processes. The lane counts unloads only.';
const OWN = 'In the instructions of this code itself, in the whole profile, whatever is selected.';

/** The places of a table's rows, by their keys. */
interface Places { of: string; ranks: Map<string, number> }

const noPlaces = (): Places => ({ of: '', ranks: new Map() });

/** Sort rows so that known ones keep their places, and new ones follow. `of` identifies the table. */
function placed<T>(items: T[], keyOf: (item: T) => string, places: Places, of: string): T[] {
	if (places.of !== of)
		Object.assign(places, { of, ranks: new Map() });
	const { ranks } = places, keys = new Map(items.map(item => [item, keyOf(item)])), rank = (item: T) => ranks.get(keys.get(item)!) ?? Infinity;
	const result = [...items].sort((a, b) => rank(a) === rank(b) ? 0 : rank(a) - rank(b));
	for (const key of result.map(item => keys.get(item)!))
		if (!ranks.has(key))
			ranks.set(key, ranks.size);
	return result;
}

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
	private readonly sort = element('button', 'Sort');
	private readonly renew = element('button', 'Present recording');
	private shown = '';                     // key of the shown table
	private drawn: Lives | null = null;     // the lives that the table shows,
	private old = false;                    // and whether they are of a closed recording
	private known: Range = [0, Infinity];
	private methods = noPlaces();           // rows stay where they are while a live page is refreshed
	private lives = noPlaces();
	private actions: (() => void)[] = [];   // of the buttons of the table
	private from = -1;                      // row of the method that was opened
	private focusNext = -1;                 // row that gets the focus when it comes

	constructor(private readonly view: View, private readonly live: LiveMethods | null) {
		const { box, sort, renew } = this, close = element('button', 'Close ✕');
		sort.id = 'lives-sort';
		sort.title = 'Methods with most samples come first, as of now';
		sort.addEventListener('click', () => this.sortAgain());
		renew.id = 'lives-renew';
		renew.addEventListener('click', () => {
			this.forget();
			live?.renew();
		});
		sort.hidden = renew.hidden = true;
		close.id = 'lives-close';
		close.title = 'Back to the graph (Escape)';
		close.addEventListener('click', () => this.close());
		this.back.id = 'lives-back';
		this.back.addEventListener('click', () => this.leave());
		this.title.dir = this.scroll.dir = 'ltr';
		box.append(element('div', '', 'head', this.back, this.title, this.facts, sort, renew, close), this.note, this.scroll);
		this.scroll.addEventListener('click', ({ target }) => {
			const button = target instanceof Element && target.closest('button');
			if (button)
				this.actions[Number(button.dataset.action)]?.();
		});
		box.addEventListener('keydown', event => {
			if (!this.key(event))
				return;
			event.stopPropagation();
			event.preventDefault();
		});
		view.livesChanged = () => this.refresh();
		if (live)
			live.changed = () => this.refresh();
	}

	/** Open the panel for a range of time, given as a text. */
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

	/** Move the focus to a row; on a live page, the row may appear later. */
	private focus(index = 0): void {
		const button = this.buttons[Math.max(0, index)];
		this.focusNext = button ? -1 : Math.max(0, index);
		(button ?? byId('lives-close')).focus();
	}

	private focusLate(): void {
		if (this.focusNext < 0 || !this.buttons.length)
			return;
		if (document.activeElement === byId('lives-close')) {
			this.focus(this.focusNext);
			this.view.say(`${this.title.textContent}: ${this.facts.textContent}`);
		}
		this.focusNext = -1;
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

	/** The range of the list: the selected one, else that of the address. */
	private get range(): Range {
		const { view } = this, { slices } = view.profile;
		if (slices.rows)                // a recording that begins has none
			this.known = view.range ?? rangeOf(view.state.methods, slices) ?? [0, Infinity];
		return this.known;
	}

	private refresh(): void {
		const { view, box, live } = this, { state } = view;
		box.hidden = !(state.methods || state.method) || Boolean(state.code);
		byId('main').classList.toggle('with-lives', !box.hidden);
		if (box.hidden) {
			this.shown = '';
			if (!view.listsMethods) {
				this.forget();
				live?.stop();
			}
			return;
		}
		live?.want(this.range, state.method);
		const lives = live ? live.lives : view.profile.lives, subject = `${state.method} ${this.range}`;
		const key = `${subject} ${lives ? '' : this.reason}`, same = this.shown === key, old = Boolean(live?.isOld);
		if (same && this.drawn === lives && this.old === old)
			return;
		this.shown = key;
		this.drawn = lives;
		this.old = old;
		this.actions = [];
		this.back.hidden = !state.method || !state.methods;
		this.sort.hidden = true;
		this.renew.hidden = !old;
		if (!lives)
			this.show('Methods', '', [this.reason], false);
		else if (state.method)
			this.showLives(lives, livesOf(lives, state.method), same);
		else
			this.showMethods(lives, same);
		this.focusLate();
	}

	/** Why there are no methods. */
	private get reason(): string {
		const { live } = this;
		return !live ? RECORDED : !live.silent ? ASKING : live.ended ? ENDED : SILENT;
	}

	private forget(): void {
		this.methods = noPlaces();
		this.lives = noPlaces();
	}

	private sortAgain(): void {
		this.methods = noPlaces();
		this.drawn = null;
		this.refresh();
		this.focus();
	}

	/** same: the table is a newer version of the one that is shown. */
	private show(title: string, facts: string, notes: string[], same: boolean, ...table: HTMLElement[]): void {
		this.title.textContent = this.title.title = title;
		this.facts.textContent = facts;
		this.facts.title = facts;
		this.note.replaceChildren(...(this.old ? [OLD, ...notes] : notes).map(text => element('p', text)));
		this.note.hidden = !this.note.childElementCount;
		const [old] = this.scroll.children;
		if (same && old && table.length)
			return patch(old, table[0]);
		this.scroll.replaceChildren(...table);
		this.scroll.scrollTop = 0;
	}

	/** A button of the table. Its action has a number, since the table can be made anew while it is shown. */
	private button(text: string, title: string, action: () => void): HTMLButtonElement {
		const button = element('button', text);
		button.title = title;
		button.dataset.action = String(this.actions.push(action) - 1);
		return button;
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
		return `${nameOf(lives.strings[lives.comm[row]])} ${lives.pid[row]}`;
	}

	/** Notes on lives that are missing in the table. */
	private missing({ leftOut, forgotten }: Lives): string[] {
		const notes: string[] = [];
		if (leftOut.lives)
			notes.push(`${plural(leftOut.lives, 'load')} (${bytes(leftOut.bytes)}), those with the fewest samples, are left out: the table has no room for them.`);
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
		return [[...new Set(known)].join(' – '), live ? 'still live' : '', before ? 'from before the run' : ''].filter(Boolean).join(', ');
	}

	private showMethods(lives: Lives, same: boolean): void {
		const { view, range: [from, to] } = this, { strings } = lives, ns = view.profile.slices.tickNs, sorted = methodsIn(lives, from * ns, to * ns);
		const keyOf = ({ rows: [row] }: Method) => [lives.name, lives.module, lives.comm].map(column => strings[column[row]]).join('\n') + lives.pid[row];
		const methods = this.live ? placed(sorted, keyOf, this.methods, String(this.range)) : sorted, rest = methods.slice(ROWS);
		this.sort.hidden = methods.every((method, i) => method === sorted[i]);
		const sum = (key: 'loads' | 'ends' | 'bytes' | 'samples', of = methods) => of.reduce((total, method) => total + method[key], 0);
		const rows = methods.slice(0, ROWS).map((method, i): Cell[] => {
			const row = method.rows[0], name = strings[lives.name[row]], text = methodText(lives, row);
			return [this.button(nameOf(name), visible(name), () => this.openMethod(text, i)), number(method.samples), number(method.loads), number(method.ends), bytes(method.bytes), this.lifeWords(lives, method),
				this.processOf(lives, row), nameOf(strings[lives.module[row]])];
		});
		this.show(`Methods, ${this.rangeWords}`,
			`${plural(methods.length, 'method')}, ${plural(sum('loads'), 'load')}, ${plural(sum('ends'), 'end')}, ${bytes(sum('bytes'))}`,
			[...(methods.length ? [] : ['No JIT code was loaded or ended in this time.']), ...this.missing(lives)], same,
			...(methods.length ? [this.table('Methods that were loaded or ended', [['Method', ''], ['Samples', OWN], ['Loads', ''], ['Ends', ENDS],
				['Size', 'Of all code that was loaded or ended in this time'], ['Lived', ''], ['Process', ''], ['Module', '']], rows,
			rest.length ? `and ${number(rest.length)} more, ${bytes(sum('bytes', rest))}` : '', ENDS)] : []));
	}

	private get rangeWords(): string {
		const [from, to] = this.range, { tickNs } = this.view.profile.slices, seconds = (ticks: number) => String(Math.round(ticks * tickNs / 1e6) / 1e3);
		return !from && to === Infinity ? 'all of the time' : `${seconds(from)} – ${to === Infinity ? 'the end' : seconds(to) + ' s'}`;
	}

	private openMethod(method: string, index: number): void {
		this.from = index;
		this.view.change({ method });
		this.focus();
		this.view.say(`${this.title.textContent}: ${this.facts.textContent}`);
	}

	// ---- lives of a method ---------------------------------------------------------------------------

	/** The way to the code of a life, or null: the page does not have it. */
	private codeButton(lives: Lives, row: number): HTMLElement | null {
		const { view } = this, { functions } = view.profile, { strings } = lives, name = strings[lives.name[row]], module = strings[lives.module[row]];
		const generation = generationText(lives, row), found = functions?.list.find(each => each.name === name && each.module === module);
		if (this.live ? !lives.samples[row] || this.live.isOld : !found || generationIndex(found, generation) < 0)
			return null;
		return this.button('Code', 'Source lines and instructions of this code', () => {
			view.change({ code: view.state.method, generation });
			byId('code-machine').focus();
		});
	}

	private showLives(lives: Lives, rows: number[], same: boolean): void {
		const { view } = this, { profile: { functions }, state } = view, { strings } = lives, first = rows[0];
		if (first === undefined)
			return this.show('No such method', '', ['The page has no method of this name.', ...this.missing(lives)], false);
		const all = rows.length > ROWS ? [...rows].sort((a, b) => lives.samples[b] - lives.samples[a] || a - b) : rows;
		const shown = (this.live ? placed(all, row => String(lives.number?.[row]), this.lives, state.method) : all).slice(0, ROWS)
			.sort((a, b) => lives.loaded[a] - lives.loaded[b] || a - b), kept = new Set(shown);
		const sum = (of: number[], key: 'bytes' | 'samples') => of.reduce((total, row) => total + lives[key][row], 0);
		const rest = rows.filter(row => !kept.has(row));
		const cells = shown.map((row): Cell[] => [lives.loaded[row] ? moment(lives.loaded[row]) : 'before the run', this.codeButton(lives, row) ?? '',
			lives.ended[row] ? moment(lives.ended[row]) : 'still live', lengthOf(lives, row) === null ? '' : duration(lengthOf(lives, row)!),
			bytes(lives.bytes[row]), number(lives.samples[row]), this.processOf(lives, row)]);
		const codeless = this.live ? '' : !functions ? "'jitbpf report --code' makes a page with the code, too."
			: cells.some(row => row[1] === '') ? 'Code is embedded for lives with samples only.' : '';
		this.show(visible(strings[lives.name[first]]), `${nameOf(strings[lives.module[first]])} · ${rows.length === 1 ? '1 life' : number(rows.length) + ' lives'}, ` +
			`${plural(sum(rows, 'samples'), 'sample')}, ${bytes(sum(rows, 'bytes'))}`,
		[codeless, ...this.missing(lives)].filter(Boolean), same,
		this.table('Lives of ' + state.method, [['Loaded', 'Since the start of the run'], ['', ''], ['Ended', ENDS], ['Lived', ''], ['Size', ''], ['Samples', OWN],
			['Process', '']], cells, rest.length ? `and ${number(rest.length)} more with fewer samples, ${bytes(sum(rest, 'bytes'))}` : ''));
	}
}
