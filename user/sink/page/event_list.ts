// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The selection of the event whose samples are shown. A run with one event has none.

import type { Profile } from './data';
import { element, visible } from './text';

const TEXTS: Record<string, string> = { 'cpu-time': 'CPU time' };

export class EventList {
	constructor(private readonly select: HTMLSelectElement) {}

	refresh({ event, events }: Profile): void {
		const { select } = this;
		select.hidden = events.length < 2;
		if (select.options.length !== events.length)
			select.replaceChildren(...events.map(name => Object.assign(element('option', TEXTS[name] ?? visible(name)), { value: name })));
		select.value = event;
	}
}
