// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The legend below the graph: the share of each kind of frame or, in a difference, the ramp of changes.

import { LEGEND, changeColour, colourKey, kindColour } from './colour';
import { byId, element, percent, swatch } from './text';
import type { View } from './view';

function showRamp(): void {
	const ramp = [-1, -.6, -.3, -.1, 0, .1, .3, .6, 1].map(change => {
		const part = element('i');
		part.style.background = changeColour(change);
		return part;
	});
	byId('legend').replaceChildren(element('span', '', '', 'shrunk ', element('span', '', 'ramp', ...ramp), ' grown'));
}

export function showLegend({ base, names, difference }: View): void {
	if (difference)
		return showRamp();
	const samples: Record<string, number> = {}, self = base.self[0];
	for (let i = 0; i < base.count; i++)
		if (self[i]) {
			const key = colourKey(names.kind(base.label[i]));
			samples[key] = (samples[key] ?? 0) + self[i];
		}
	byId('legend').title = 'Share of the samples whose innermost frame is of the kind';
	byId('legend').replaceChildren(...LEGEND.filter(key => samples[key] || key !== 'interpreted').map(key =>
		element('span', '', '', swatch(kindColour(key, 1)), `${key} ${percent(samples[key] ?? 0, base.total[0][0])}`)));
}
