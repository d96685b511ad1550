// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What is left out of the view, each with a button that brings it back. Without any, they take no room.

import type { State } from './state';
import { byId, element, shortened, visible } from './text';
import type { View } from './view';

const LONGEST = 40;             // letters

/** The name in an item of State.hide or State.only. */
export const itemName = (item: string) => (item[0] === 'm' ? item.slice(1) : item.slice(1).replace(/~[^~]*$/, '')) || '(no module)';

export function showChips(view: View): void {
	const { state } = view, chips: HTMLElement[] = [];
	const add = (what: string, item: string, without: Partial<State>) => {
		const name = visible(itemName(item)), chip = element('button', `${what} `, '', element('bdi', shortened(name, LONGEST)), ' ✕');
		chip.title = `${what} ${name}: click to end it`;
		chip.addEventListener('click', () => view.change(without));
		chips.push(chip);
	};
	if (state.sandwich)
		add('Sandwich of', 'f' + state.sandwich, { sandwich: '' });
	for (const key of ['only', 'hide'] as const)
		for (const item of state[key])
			add(key === 'only' ? 'Only stacks with' : 'Without', item, { [key]: state[key].filter(other => other !== item) });
	byId('chips').replaceChildren(...chips);
}
