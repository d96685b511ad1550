// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The state of the page, which is kept in its address, so that links and reloads restore it.

export interface State {
	callers: boolean;       // inverted
	table: boolean;
	flipped: boolean;       // roots at the bottom
	absolute: boolean;      // in a difference: numbers instead of shares
	nokernel: boolean;      // frames of the kernel are left out
	collapse: boolean;      // recursion is folded
	exact: boolean;         // code of one function has frames of its own, with names in full
	modules: boolean;       // colours by module instead of kind
	unfolded: boolean;      // the heat map and the lane of JIT code are shown
	event: string;          // name of the event whose samples are shown; "": that of the page
	threads: string;        // "" all, "PID", "PID.TID", "=COMMAND" or "@CONTAINER"
	zoom: number[];         // labels from the root on
	path: string[];         // `zoom` as texts (path_text.ts); only in addresses
	sandwich: string;       // text of the function that callers and callees are shown of; "" none
	hide: string[];         // frames that are left out: "f" and text of a function, or "m" and a module
	only: string[];         // stacks without one of them are left out
	search: string;
	range: string;          // of time, see time_range.ts; "" all
	code: string;           // text of the function whose code is shown; "" none
	generation: string;     // number of its generation, from 1 on, or ADDRESS@LOADED_NS; "": the one with most samples
	methods: string;        // range of time whose methods are listed, as a text; "" none
	method: string;         // text of the method whose lives are listed; "" none
	baseline: string;       // range of time that the graph compares with, as a text; "" none
}

const SWITCHES = ['callers', 'table', 'flipped', 'absolute', 'nokernel', 'collapse', 'exact', 'modules', 'unfolded'] as const;
const TEXTS = ['event', 'threads', 'sandwich', 'search', 'range', 'baseline', 'code', 'generation', 'methods', 'method'] as const;
const LISTS = ['hide', 'only'] as const;
const MOST = 100;               // items of a list

function decoded(text: string): string {
	try {
		return decodeURIComponent(text);
	} catch {
		return '';
	}
}

export function readState(fragment: string): State {
	const text = fragment.replace(/^#/, ''), fields = new URLSearchParams(text), path = /(?:^|&)path=([^&]*)/.exec(text);
	const state = {
		zoom: (fields.get('zoom') ?? '').split('.').filter(Boolean).map(Number).filter(Number.isInteger),
		path: path && path[1] ? path[1].split('/').map(decoded) : [],
	} as State;
	for (const key of SWITCHES)
		state[key] = fields.has(key);
	for (const key of TEXTS)
		state[key] = fields.get(key) ?? '';
	for (const key of LISTS)
		state[key] = fields.getAll(key).slice(0, MOST);
	return state;
}

/** The state as location.hash; empty for the default state. `path`: that of the zoom, instead of numbers of labels. */
export function fragmentOf(state: State, path: string | null): string {
	const fields = new URLSearchParams();
	for (const key of SWITCHES)
		if (state[key])
			fields.set(key, '1');
	for (const key of TEXTS)
		if (state[key])
			fields.set(key, state[key]);
	for (const key of LISTS)
		for (const item of state[key])
			fields.append(key, item);
	if (state.zoom.length && path === null)
		fields.set('zoom', state.zoom.join('.'));
	const text = String(fields) + (path ? `${fields.size ? '&' : ''}path=${path}` : '');
	return text && '#' + text;
}
