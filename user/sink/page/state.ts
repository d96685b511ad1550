// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The state of the page, which is kept in its address, so that links and reloads restore it.

export interface State {
	callers: boolean;       // inverted
	table: boolean;
	flipped: boolean;       // roots at the bottom
	absolute: boolean;      // in a difference: numbers instead of shares
	threads: string;        // "" all, "PID" or "PID.TID"
	zoom: number[];         // labels from the root on
	search: string;
	range: string;          // of time, see time_range.ts; "" all
	baseline: string;       // the same: the graph shows the difference from it
}

export function readState(fragment: string): State {
	const fields = new URLSearchParams(fragment.replace(/^#/, ''));
	return {
		callers: fields.has('callers'),
		table: fields.has('table'),
		flipped: fields.has('flipped'),
		absolute: fields.has('absolute'),
		threads: fields.get('threads') ?? '',
		zoom: (fields.get('zoom') ?? '').split('.').filter(Boolean).map(Number).filter(Number.isInteger),
		search: fields.get('search') ?? '',
		range: fields.get('range') ?? '',
		baseline: fields.get('baseline') ?? '',
	};
}

/** The state as location.hash; empty for the default state. */
export function fragmentOf(state: State): string {
	const fields = new URLSearchParams();
	for (const key of ['callers', 'table', 'flipped', 'absolute'] as const)
		if (state[key])
			fields.set(key, '1');
	if (state.threads)
		fields.set('threads', state.threads);
	if (state.zoom.length)
		fields.set('zoom', state.zoom.join('.'));
	for (const key of ['search', 'range', 'baseline'] as const)
		if (state[key])
			fields.set(key, state[key]);
	return fields.size ? '#' + fields : '';
}
