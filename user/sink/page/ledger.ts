// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Shows the description and the ledger of each run.

import { adviceTable } from './advice_table';
import type { Run, Words } from './data';
import { cutProcesses, runtimeRows, withoutCode, type Advised } from './engines';
import type { Naming } from './naming';
import { byId, bytes, element, number, percent, plural, swatch, visible } from './text';

const FATES = ['resolved', 'code_unknown', 'stack_cut', 'lost'] as const;
const ROWS = 200;
const ADVISED = 10;             // processes in a table of advice
const RUNTIMES = 3;             // those with most samples, above the tables

// Making it is slow.
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

const titleOf = ({ run }: Run) => visible(run.command) || 'the whole system';
const why = (text: string) => element('span', text, 'why');

function factsOf({ run }: Run): string {
	return [
		(run.duration_ns / 1e9).toFixed(1) + ' s',
		run.unit ? `${visible(run.event)}, a sample for each ${number(run.period ?? 0)} ${visible(run.unit)}` :
			`${visible(run.event)} at ${number(run.freq_hz)} Hz`,
		plural(run.cpus, 'CPU'),
		visible(run.host),
		run.kernel && 'Linux ' + visible(run.kernel),
		run.wall_clock_ns ? moments.format(run.wall_clock_ns / 1e6) : '',
	].filter(Boolean).join(' · ');
}

function fatesOf({ run, processes, samples, jit, throttled }: Run, words: Words, naming: Naming | null): HTMLElement {
	const bar = element('div', '', 'bar'), fates = element('div', '', 'fates');
	const line = (title: string, ...parts: (Node | string)[]) => fates.append(Object.assign(element('span', '', '', ...parts), { title }));
	const { about } = words;

	bar.ariaHidden = 'true';
	line(about.singles.taken, element('b', number(samples.taken)), samples.taken === 1 ? ' sample taken' : ' samples taken',
		...(run.unit && run.period ? [why(` for ${number(samples.taken * run.period)} ${visible(run.unit)}`)] : []));
	for (const row of runtimeRows(processes).slice(0, RUNTIMES)) {
		const name = [row.name, row.version].filter(Boolean).join(' '), shown = row.functions === 'shown';
		line(shown ? about.singles.runtime_functions : about.runtimes[row.functions!], element('b', shown ? percent(row.shown, row.samples) : name),
			shown ? ` with functions of ${name}` : ` functions ${words.runtimes[row.functions!]}`);
	}
	for (const fate of FATES) {
		const part = element('i');
		part.style.cssText = `flex: ${samples[fate]} 0 0; background: var(--${fate})`;
		bar.append(part);
		const reasons = Object.entries(samples.cut).filter(([, n]) => n)
			.map(([key, n], i) => Object.assign(why(`${i ? ', ' : ': '}${number(n)} ${words.cuts[key]}`), { title: about.cuts[key] }));
		line(about.fates[fate], swatch(`var(--${fate})`), element('b', number(samples[fate])), ` ${words.fates[fate]} `,
			why(percent(samples[fate], samples.taken)),
			...(fate === 'stack_cut' && reasons.length ? [element('span', '', 'why reasons', ...reasons)] : []));
	}
	if (naming)
		line(about.singles.named + ' Click for what the others are in.', element('b', percent(naming.named, naming.samples)), ' named');
	line(about.jit.methods, element('b', number(jit.methods)), ' JIT methods ',
		why(`${bytes(jit.code_bytes)}, ${plural(jit.unloads, 'unload')}`));
	if (samples.frame_pointers)
		line(about.singles.frame_pointers, element('b', number(samples.frame_pointers)), ' with frame pointers assumed ',
			why(percent(samples.frame_pointers, samples.taken)));
	if (throttled.intervals)
		line(about.singles.throttled, element('b', (throttled.ns / 1e9).toFixed(3) + ' s'), ' throttled ',
			why('in ' + plural(throttled.intervals, 'interval')));
	return element('summary', '', '', bar, fates);
}

function table(headings: string[], rows: string[][]): HTMLElement {
	const heading = headings.map(text => Object.assign(element('th', text), { scope: 'col' }));
	return element('div', '', 'scroll', element('table', '', '',
		element('thead', '', '', element('tr', '', '', ...heading)),
		element('tbody', '', '', ...rows.map(cells =>
			element('tr', '', '', ...cells.map(cell => element('td', cell)))))));
}

function tablesOf({ processes, counters, jit, malformed_records, total_unknown = 0 }: Run, words: Words, naming: Naming | null): HTMLElement {
	const rows = processes.slice(0, ROWS).map(p => [p.processes ? `${number(p.processes)} processes` : p.pid + (p.pid_inside ? ` (${p.pid_inside})` : ''), visible(p.comm), number(p.samples.taken),
		...FATES.map(fate => number(p.samples[fate])), number(p.jit.methods), bytes(p.jit.code_bytes)]);
	if (processes.length > ROWS)
		rows.push(['', `and ${number(processes.length - ROWS)} more`]);
	const counts = [
		...Object.entries(counters).map(([key, value]) => [value, words.counters[key], words.about.counters[key]] as const),
		...Object.entries(jit).map(([key, value]) => [value, 'JIT: ' + words.jit[key], words.about.jit[key]] as const),
		[total_unknown, words.singles.total_unknown, words.about.singles.total_unknown] as const,
		[malformed_records, words.singles.malformed_records, words.about.singles.malformed_records] as const,
	].filter(([value]) => value).map(([value, text, about]) => [number(value), text, about]);
	const runtimes = runtimeRows(processes).map(({ name, version = '', functions, samples, shown, cut, unknown }) => [
		number(samples), `${name} ${version}`, functions === 'shown' ? `in ${percent(shown, samples)} of the samples` +
			(cut ? `; some could not be read in ${number(cut)}` : '') + (unknown ? `; some ended before they were read in ${number(unknown)}` : '') : words.runtimes[functions!], words.about.runtimes[functions!]]);
	const processTable = (title: string, list: Advised[]) => !list.length ? [] :
		[adviceTable(['Samples', title], list.map(({ process, samples, advice }) => ({ samples, where: `${process.pid || ''} ${visible(process.comm)}`, advice })))];
	return element('div', '', 'tables',
		table(['PID', 'Process', 'Samples', 'Resolved', '[unknown] code', 'Stack cut', 'Lost', 'JIT methods', 'JIT code'], rows),
		table(['Count', 'Of', 'What it means'], counts),
		...(runtimes.length ? [table(['Samples', 'Runtime', 'Its functions are', 'What it means'], runtimes)] : []),
		...(naming?.missing.length ? [adviceTable(['Unnamed', 'In, below what helps'], naming.missing.map(({ module, samples, advice }) =>
			({ samples, where: visible(module), advice })))] : []),
		...processTable('Cut in unpublished JIT code, below what helps', cutProcesses(words.engines, processes, ADVISED)),
		...processTable('Without JIT code, below what helps', withoutCode(words.engines, processes, ADVISED)));
}

/** Show the ledger of each run; what is open stays open. */
export function showLedger(runs: Run[], words: Words, naming: Naming | null): void {
	const difference = runs.length > 1;
	const title = difference && titleOf(runs[0]) !== titleOf(runs[1]) ? `${titleOf(runs[0])} → ${titleOf(runs[1])}`
		: titleOf(runs[0]);
	document.title = `${title} – jitbpf ${difference ? 'difference' : 'flame graph'}`;
	byId('title').textContent = title;
	byId('facts').textContent = difference ? 'Difference of two recordings' : factsOf(runs[0]);
	const before = [...byId('ledger').querySelectorAll('details')], tables = () => byId('ledger').querySelectorAll('.scroll');
	const scrolled = [...tables()].map(box => box.scrollTop), focused = byId('ledger').contains(document.activeElement);
	byId('ledger').replaceChildren(...runs.map((run, side) => {
		const name = element('b', side ? 'After' : 'Before'), summary = fatesOf(run, words, naming);
		const details = element('details', '', '', summary);
		const fill = () => details.open && !details.querySelector('.tables') && details.append(tablesOf(run, words, naming));
		summary.title = 'Processes and counters';
		details.open = before[side]?.open ?? false;
		details.addEventListener('toggle', fill);
		fill();
		return element('div', '', '',
			...(difference ? [element('div', '', '', name, why(` ${factsOf(run)}`))] : []), details);
	}));
	tables().forEach((box, i) => { box.scrollTop = scrolled[i] ?? 0; });
	if (focused)
		byId('ledger').querySelector('summary')!.focus({ preventScroll: true });
}
