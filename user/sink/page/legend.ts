// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The legend below the graph: the share of each kind of frame or, in a difference, the ramp of changes.

import { LEGEND, RARE, changeColour, colourKey, kindColour } from './colour';
import { byId, element, percent, shortened, swatch } from './text';
import type { View } from './view';

function showRamp(): void {
	const ramp = [-1, -.6, -.3, -.1, 0, .1, .3, .6, 1].map(change => {
		const part = element('i');
		part.style.background = changeColour(change);
		return part;
	});
	byId('legend').title = 'A change within the random error of sampling has the colour of none';
	byId('legend').replaceChildren(element('span', '', '', 'shrunk ', element('span', '', 'ramp', ...ramp), ' grown'));
}

/** Samples by a key of their innermost frames. */
function samplesBy({ base }: View, keyOf: (label: number) => string): Record<string, number> {
	const samples: Record<string, number> = Object.create(null);
	base.selfOf[0].forEach((self, label) => {
		if (self) {
			const key = keyOf(label);
			samples[key] = (samples[key] ?? 0) + self;
		}
	});
	return samples;
}

const item = (colour: string, text: string) => element('span', '', '', swatch(colour), text);

function showModules(view: View): void {
	const { modules, base } = view, samples = Object.entries(samplesBy(view, label => modules.key(label)))
		.sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
	modules.assign(samples);
	const rest = samples.reduce((sum, [key, n]) => sum + (modules.has(key) ? 0 : n), 0);
	const share = (n: number) => percent(n, base.total[0][0]);
	byId('legend').title = 'Share of the samples whose innermost frame is of the module';
	byId('legend').replaceChildren(...samples.filter(([key]) => modules.has(key)).map(([key, n]) =>
		item(modules.ofKey(key, 1), `${shortened(key, 24)} ${share(n)}`)),
	...(rest ? [item(modules.ofKey('', 1), `others ${share(rest)}`)] : []));
}

export function showLegend(view: View): void {
	const { base, names, difference, state } = view;
	if (difference)
		return showRamp();
	if (state.modules)
		return showModules(view);
	const samples = samplesBy(view, label => colourKey(names.kind(label)));
	byId('legend').title = 'Share of the samples whose innermost frame is of the kind';
	byId('legend').replaceChildren(...LEGEND.filter(key => samples[key] || !RARE.includes(key)).map(key =>
		item(kindColour(key, 1), `${key} ${percent(samples[key] ?? 0, base.total[0][0])}`)));
}
