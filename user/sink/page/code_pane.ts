// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The code pane: source lines beside machine code of a function, with their samples, by generation.

import { codeOf, generationIndex, generationWeight, instructionsOf, linesOf, type Annotation, type CodeFunction, type Frame, type Functions, type Generation, type Instruction,
	type Line } from './code_data';
import { CodeRows, type CodeRow } from './code_rows';
import { INLINED, KIND_ROWS, PROCESS, UNKNOWN, plainKind } from './kinds';
import { byId, bytes, element, number, percent, plural, visible } from './text';
import type { LiveCode } from './live_code_pane';
import type { View } from './view';

const COMMAND = 'jitbpf report --code -o page.html RECORDING';
const LONGEST = 400;            // letters of a file's name
const CALLERS = 12;             // functions that another one is inlined into

const fileName = (path: string) => visible(path.split('/').pop() || path).slice(0, LONGEST);
const placeOf = ({ file, line }: Frame) => file ? `${fileName(file)}${line ? ':' + line : ''}` : '';
const seconds = (ns: number) => (ns / 1e9).toFixed(ns < 1e10 ? 2 : 1) + ' s';

/** "0.07 s – 0.27 s". */
function lifeOf({ loaded_ns: loaded, ended_ns: ended, before_run: before, live }: Generation): string {
	const from = before ? 'before the run' : loaded === undefined ? '' : seconds(loaded);
	return from && `${from} – ${live ? 'the end' : ended === undefined ? '?' : seconds(ended)}`;
}

/** What tells a generation apart from others of its function. */
const nameOf = ({ name, total }: Generation) => visible((total === undefined ? name : name && fileName(name)) ?? '').slice(0, LONGEST);

const sizeOf = ({ bytes: size }: Generation) => size === undefined ? '' : bytes(size);

export class CodePane {
	private readonly box = byId('code');
	private readonly title = element('h2');
	private readonly facts = element('span', '', 'facts');
	private readonly tabs = element('div');
	private readonly note = element('div', '', 'note');
	private readonly sides = element('span', '', 'choice');
	private readonly source: CodeRows;
	private readonly machine: CodeRows;
	private readonly chain = element('div', '', 'chain');
	private instructions: Instruction[] = [];
	private lines: (Line | null)[] = [];    // by row; null: a row of a file
	private line = '';                      // key of the current line
	private shown = '';                     // function and generation that the lists show
	private drawn: Annotation | undefined;  // the version of the code that the lists show

	private wanted = { text: '', merged: true, known: 0, labels: [] as number[] };

	constructor(private readonly view: View, private readonly live: LiveCode | null) {
		const { box } = this, close = element('button', 'Close ✕'), source = element('div', '', 'source'), machine = element('div', '', 'machine');
		source.id = 'code-source';
		source.ariaLabel = 'Source lines with samples';
		machine.id = 'code-machine';
		machine.ariaLabel = 'Instructions with samples';
		this.source = new CodeRows(source, row => this.chooseLine(row), () => this.machine.box.focus());
		this.machine = new CodeRows(machine, row => this.chooseInstruction(row), row => this.jump(row));
		this.tabs.role = 'tablist';
		this.tabs.className = 'tabs';
		this.tabs.ariaLabel = 'Generations of the machine code';
		this.chain.setAttribute('aria-live', 'polite');
		this.title.dir = this.facts.dir = source.dir = machine.dir = this.chain.dir = 'ltr';
		close.id = 'code-close';
		close.title = 'Back to the graph (Escape)';
		close.addEventListener('click', () => this.close());
		for (const [side, text] of [['source', 'Source'], ['machine', 'Machine code']]) {
			const button = element('button', text);
			button.addEventListener('click', () => this.turn(side));
			button.dataset.side = side;
			this.sides.append(button);
		}
		box.append(element('div', '', 'head', this.title, this.facts, this.sides, close), this.tabs, this.note,
			element('div', '', 'lists', source, machine), this.chain);
		box.addEventListener('keydown', event => {
			if (event.key !== 'Escape')
				return;
			this.close();
			event.stopPropagation();
			event.preventDefault();
		});
		view.codeChanged = () => this.refresh();
		if (live)
			live.changed = () => this.refresh();
		this.turn('machine');
	}

	/** Open the pane for a function. */
	open(label: number): void {
		this.view.change({ code: this.view.texts.functionOf(label), generation: '' });
		if (!this.box.hidden)
			(this.instructions.length ? this.machine.box : this.lines.length ? this.source.box : byId('code-close')).focus();
		this.view.say(`Code of ${this.view.names.name(label)}`);
	}

	close(): void {
		const { view } = this;
		view.change({ code: '', generation: '' });
		(view.listsMethods ? byId('lives-close') : view.state.table ? byId('table') : view.graph.box).focus();
		view.say('The code is closed');
	}

	/** In a narrow window, one of the lists is shown. */
	private turn(side: string): void {
		this.box.dataset.side = side;
		for (const button of this.sides.querySelectorAll('button'))
			button.ariaPressed = String(button.dataset.side === side);
	}

	// ---- which function ----------------------------------------------------------------------------

	/** Labels of the function or of a part of its code: as a frame of its own first, and the very code that was asked for. */
	private labels(): number[] {
		const { names, texts, state } = this.view;
		if (this.wanted.text !== state.code || this.wanted.merged !== names.merged)
			this.wanted = { text: state.code, merged: names.merged, known: 1, labels: [] };
		const { wanted } = this;
		for (; wanted.known < names.labels; wanted.known++)
			if (texts.functionOf(wanted.known) === state.code || texts.codeOf(wanted.known) === state.code)
				wanted.labels.push(wanted.known);
		const isOther = (label: number) => Number(texts.codeOf(label) !== state.code);
		return [...wanted.labels].sort((a, b) => (names.ownKind(a) & INLINED) - (names.ownKind(b) & INLINED) || isOther(a) - isOther(b));
	}

	/** Functions that labels are inlined into, those with most samples first. */
	private enclosing(labels: number[]): number[] {
		const { profile: { tree }, names, pieces } = this.view, samples = new Map<number, number>();
		for (let i = 1; i < tree.count; i++) {
			if (!pieces.total[i] || !labels.includes(tree.label[i]))
				continue;
			let at = i;
			while (at > 0 && names.ownKind(tree.label[at]) & INLINED)
				at = tree.parent[at];
			if (at > 0 && names.ownKind(tree.label[at]) !== PROCESS)
				samples.set(tree.label[at], (samples.get(tree.label[at]) ?? 0) + pieces.total[i]);
		}
		return [...samples.keys()].sort((a, b) => samples.get(b)! - samples.get(a)!);
	}

	/** The name of the function, or of the part of its code. */
	private titleOf(label: number | undefined, found: CodeFunction | undefined): string {
		const { names, texts, state } = this.view;
		if (label === undefined)
			return found ? visible(found.name) : 'No such function';
		return texts.functionOf(label) === state.code ? names.name(label) : visible(names.raw(label));
	}

	/** Why there is no code of a function of the profile. */
	private reason(label: number): string {
		const { profile, names } = this.view, { functions } = this, kind = names.kind(label);
		if (profile.runs.length > 1)
			return 'A page of a difference has no code. Open the pages of the two recordings.';
		if (kind === PROCESS || plainKind(kind) === UNKNOWN)
			return 'This frame is no function of which the code is known.';
		if (this.live?.state === 'asking')
			return 'The code is on its way.';
		const shown = this.hasOwn(label) || KIND_ROWS[plainKind(kind)]?.unknown || this.isHidden(label);
		if (this.live && shown)
			return 'The server has no code of this function now.';
		if (!functions && !this.live && profile.events.length)
			return `This page has no code with samples of ${profile.event}. 'jitbpf annotate -e ${profile.event}' shows it in the terminal.`;
		if (!functions && !this.live)
			return `This page has no code. Make one that has it, with source lines: ${COMMAND}`;
		if (functions && shown)
			return `No code here: the page has that of the ${functions.list.length} functions with most samples; ` +
				`${plural(functions.left_out, 'function')} with fewer samples are left out. 'jitbpf annotate' shows it in the terminal.`;
		return 'No sample was taken in this function itself, only in what it calls.';
	}

	private hasOwn(label: number): boolean {
		const { profile: { tree }, pieces: { self } } = this.view;
		return self.some((samples, node) => samples && tree.label[node] === label);
	}

	/** Whether no stack has the label: it is of JIT code that ran for a function of a runtime. */
	private isHidden(label: number): boolean {
		const { tree } = this.view.profile;
		return !tree.label.subarray(0, tree.count).includes(label);
	}

	private get functions(): Functions | null {
		return this.live ? this.live.functions : this.view.profile.functions;
	}

	private refresh(): void {
		const { view, box } = this, { state, names } = view;
		box.hidden = !state.code;
		byId('main').classList.toggle('with-code', Boolean(state.code));
		if (!state.code) {
			this.shown = '';
			this.live?.want('', [], '');
			return;
		}
		const labels = this.labels(), own = labels.filter(label => !(names.ownKind(label) & INLINED)), label = own[0] ?? labels[0];
		this.live?.want(state.code, own, state.generation);
		const { functions } = this, found = (functions && codeOf(functions, names, labels, state.code)) ?? undefined;
		this.title.textContent = this.titleOf(label, found);
		this.title.title = this.title.textContent;
		if (found)
			return this.showFunction(found);
		this.clear();
		if (label === undefined)
			this.say('The profile has no function of this name.');
		else if (own.length)
			this.say(this.reason(label));
		else
			this.sayInlined(labels);
	}

	private clear(): void {
		this.shown = '';
		this.instructions = [];
		this.lines = [];
		this.facts.textContent = '';
		this.tabs.hidden = this.sides.hidden = true;
		this.source.show([], 0);
		this.machine.show([], 0);
		this.source.box.hidden = this.machine.box.hidden = true;
		this.chain.replaceChildren();
	}

	private say(...parts: (string | Node)[]): void {
		this.note.replaceChildren(...parts);
		this.note.hidden = !parts.length;
	}

	private sayInlined(labels: number[]): void {
		const { names } = this.view, into = this.enclosing(labels);
		this.say('All calls are inlined: the code is a part of that of its callers. ', ...into.slice(0, CALLERS).map(label => {
			const button = element('button', names.name(label).slice(0, LONGEST));
			button.addEventListener('click', () => this.open(label));
			return button;
		}));
	}

	// ---- a function ----------------------------------------------------------------------------------

	private showFunction(found: CodeFunction): void {
		const { view, functions } = this, { generations } = found;
		const most = generations.reduce((best, g, i) => generationWeight(g) > generationWeight(generations[best]) ? i : best, 0);
		const hottest = found.shown && !view.state.generation ? found.shown - 1 : most;
		const wanted = generationIndex(found, view.state.generation), chosen = wanted < 0 ? hottest : wanted, generation = generations[chosen];
		const key = `${view.state.code} ${generation.address ?? generation.name ?? ''} ${generation.loaded_ns ?? chosen}`, same = this.shown === key;
		const own = generations.some(({ total }) => total !== undefined) ? generation.samples : found.samples;
		this.facts.textContent = [`${found.kind}${found.module ? ' · ' + visible(found.module) : ''}`,
			...(generation.total === undefined ? [`${plural(own, 'sample')} in its own instructions, ${percent(own, functions!.total)}`]
				: [`${plural(generation.total, 'sample')} with what it calls, ${percent(generation.total, functions!.total)}`,
					`${number(generation.samples)} in itself, ${percent(generation.samples, functions!.total)}`]),
			...(generations.length > 1 ? [] : [generation.tier ?? '', sizeOf(generation), lifeOf(generation)]),
			generation.code?.address ? `at ${generation.code.address} in the file` : ''].filter(Boolean).join(' · ');
		this.facts.title = this.facts.textContent;
		this.showTabs(found, chosen);
		if (same && (!this.live || this.drawn === generation.code))
			return;
		this.shown = key;
		this.drawn = generation.code;
		this.showGeneration(generation, same);
	}

	private showTabs({ generations, more }: CodeFunction, chosen: number): void {
		const focused = this.tabs.contains(document.activeElement);
		this.tabs.hidden = generations.length < 2;
		this.tabs.replaceChildren(...generations.map((generation, i) => {
			const tab = element('button', '', '', element('b', String(i + 1)), element('span', [nameOf(generation), generation.tier, sizeOf(generation), lifeOf(generation)].filter(Boolean).join(' · ')),
				element('span', plural(generation.total ?? generation.samples, 'sample')));
			tab.role = 'tab';
			tab.ariaSelected = String(i === chosen);
			tab.tabIndex = i === chosen ? 0 : -1;
			tab.title = [`Generation ${i + 1}`, generation.address ? `at ${generation.address}` : ''].filter(Boolean).join(' ');
			tab.addEventListener('click', () => this.chooseTab(i));
			tab.addEventListener('keydown', event => {
				const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
				if (!step)
					return;
				event.preventDefault();
				event.stopPropagation();
				this.chooseTab((i + step + generations.length) % generations.length);
			});
			return tab;
		}), ...(more ? [element('span', `and ${number(more)} more with fewer samples`, 'facts')] : []));
		if (focused)
			(this.tabs.children[chosen] as HTMLElement).focus();
	}

	private chooseTab(index: number): void {
		this.view.change({ generation: String(index + 1) });
		this.tabs.children[index].scrollIntoView({ block: 'nearest', inline: 'nearest' });
	}

	/** Notes on missing code, source lines and instructions, and on selections that do not apply here. */
	private notes(generation: Generation): string[] {
		const { state, range, baseline } = this.view, { code } = generation, notes: string[] = [];
		if (!code && this.live)
			return ['The code is on its way.'];
		if (!code)
			return [`The page has no room for this code: it keeps ${bytes(this.functions!.max_bytes)} of the functions with most samples. ` +
				"'jitbpf annotate' shows it in the terminal."];
		if (code.lack)
			notes.push(code.lack[0].toUpperCase() + code.lack.slice(1) + '.');
		for (const [file, words] of code.troubles ?? [])
			notes.push(`No source lines of ${visible(code.strings[file] ?? '').slice(-LONGEST)}: ${words}.`);
		if (code.skipped)
			notes.push(`${plural(code.skipped, 'instruction')} far from samples are left out` +
				(code.unshown ? `, and with them ${plural(code.unshown, 'sample')}.` : '.'));
		if (range || baseline || state.threads || state.hide.length || state.only.length)
			notes.push('The samples here are those of the whole profile, whatever is selected.');
		return notes;
	}

	/** stay: this is a newer version of the shown code, so current instruction and scroll positions are kept. */
	private showGeneration(generation: Generation, stay: boolean): void {
		const { code } = generation, { scrollTop: top } = this.machine.box, { scrollTop: sourceTop } = this.source.box;
		const offset = this.instructions[this.machine.current]?.offset;
		this.say(...this.notes(generation).map(text => element('p', text)));
		this.instructions = code ? instructionsOf(code) : [];
		this.chain.replaceChildren();
		this.machine.box.hidden = !code || Boolean(code.sampled);
		this.machine.show(this.instructions.map((i): CodeRow => ({ samples: i.samples, mark: i.offset.toString(16), text: (visible(i.text) || '?') +
			(i.target >= 0 ? `  → ${this.instructions[i.target].offset.toString(16)}` : ''),
			gap: i.gap })), generation.samples);
		this.showLines(code, generation.total ?? generation.samples);
		const kept = stay ? this.instructions.findIndex(each => each.offset === offset) : -1, row = kept < 0 ? this.machine.hottest() : kept;
		if (this.instructions.length) {
			this.machine.choose(row, true);
			this.chooseInstruction(row);
			if (document.activeElement === byId('code-close') && !stay)
				this.machine.box.focus();
		}
		if (code?.sampled && this.lines.length)
			this.showSampled(stay, sourceTop);
		if (kept >= 0) {
			this.machine.box.scrollTop = top;
			this.source.box.scrollTop = sourceTop;
		}
	}

	/** Lines of a function of a runtime, of which the current one is kept in a newer version. */
	private showSampled(stay: boolean, top: number): void {
		const row = stay ? this.lines.findIndex(line => line?.key === this.line) : -1, at = row < 0 ? this.source.hottest() : row;
		this.source.choose(at, true);
		this.chooseLine(at);
		if (row >= 0)
			this.source.box.scrollTop = top;
		if ((document.activeElement === byId('code-close') || document.activeElement === this.machine.box) && !stay)
			this.source.box.focus();
	}

	private showLines(code: Annotation | undefined, whole: number): void {
		const lines = code ? linesOf(code, this.instructions) : [], rows: CodeRow[] = [];
		let last: Line | null = null;
		this.lines = [];
		for (const line of lines) {
			if (line.file !== last?.file) {
				rows.push({ samples: 0, ...(code?.sampled ? { total: 0 } : {}), mark: '', text: visible(line.file), heading: true });
				this.lines.push(null);
			}
			rows.push({ samples: line.samples, ...(code?.sampled ? { total: line.total ?? 0 } : {}), mark: line.line ? String(line.line) : '',
				text: line.text !== null ? visible(line.text.replace(/\t/g, '        ')) : line.line ? '' : 'line not known',
				faint: !line.hasCode, gap: last?.file === line.file && line.line > last.line + 1 });
			this.lines.push(line);
			last = line;
		}
		this.source.show(rows, whole);
		this.source.box.hidden = !rows.length;
		this.sides.hidden = !rows.length || this.machine.box.hidden;
		if (!rows.length)
			this.turn('machine');
		this.box.classList.toggle('both', !this.sides.hidden);
	}

	// ---- the current instruction ------------------------------------------------------------------------

	private chooseInstruction(row: number): void {
		const now = this.instructions[row], lines = new Set(now.frames.map(({ file, line }) => `${line}:${file}`));
		const at = this.lines.findIndex(line => line?.key === now.line);
		this.source.choose(at, true);
		this.source.link(i => lines.has(this.lines[i]!.key), at);
		this.machine.link(i => Boolean(now.line) && this.instructions[i].line === now.line, -1);
		this.showChain(now);
	}

	private chooseLine(row: number): void {
		const { key, line, samples, total } = this.lines[row]!, on = this.instructions.map((each, i) => each.line === key ? i : -1).filter(i => i >= 0);
		const hottest = on.reduce((best, i) => this.instructions[i].samples > this.instructions[best].samples ? i : best, on[0] ?? -1);
		this.source.link(i => i === row, -1);
		this.line = key;
		if (total !== undefined)
			return this.chain.replaceChildren(element('span', `${line ? `Line ${line}` : 'Line not known'}: ${plural(samples, 'sample')} in the line itself, ${number(total)} with what it calls`));
		this.machine.choose(hottest, true);
		this.machine.link(i => this.instructions[i].line === key, hottest);
		if (hottest >= 0)
			this.showChain(this.instructions[hottest]);
		else
			this.chain.replaceChildren(element('span', 'No instruction is of this line alone.'));
	}

	private jump(row: number): void {
		const target = this.instructions[row]?.target ?? -1;
		if (target >= 0)
			this.machine.choose(target, false);
	}

	/** The inlined functions at an instruction, innermost first. */
	private showChain({ frames, code, target, offset }: Instruction): void {
		const parts: Node[] = [];
		frames.forEach((frame, i) => {
			const place = placeOf(frame);
			parts.push(...(i ? [element('span', '‹ inlined into', 'facts')] : []), element('b', visible(frame.name || '[unknown]').slice(0, LONGEST)),
				...(place ? [element('span', place)] : []));
		});
		if (code)
			parts.push(element('span', `+0x${offset.toString(16)}: ${code.replace(/../g, '$& ').trim()}`, 'facts'));
		if (target >= 0)
			parts.push(element('span', `Enter: to ${this.instructions[target].offset.toString(16)}`, 'facts'));
		this.chain.replaceChildren(...parts);
	}
}
