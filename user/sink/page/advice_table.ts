// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// A table of what has samples for which there is advice. Rows with the same advice are below one line with it.

import { element, number } from './text';

export interface Advised { samples: number; where: string; advice: string }

/** The groups with the first row first: rows keep their order. */
export function adviceTable(heading: [string, string], rows: Advised[]): HTMLElement {
	const groups = new Map<string, Advised[]>();
	for (const row of rows)
		groups.set(row.advice, [...groups.get(row.advice) ?? [], row]);
	const bodies = [...groups].map(([advice, group]) => element('tbody', '', '',
		element('tr', '', '', Object.assign(element('th', advice, 'advice'), { scope: 'rowgroup', colSpan: 2 })),
		...group.map(({ samples, where }) => element('tr', '', '', element('td', number(samples)), element('td', where)))));
	const headings = heading.map(text => Object.assign(element('th', text), { scope: 'col' }));
	return element('div', '', 'scroll', element('table', '', '', element('thead', '', '', element('tr', '', '', ...headings)), ...bodies));
}
