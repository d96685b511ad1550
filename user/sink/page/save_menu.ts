// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// What can be saved: what the browser makes itself, and the command for what only a recording has.

import { download, downloadPacked, foldedOf, pageOf, speedscopeOf } from './save';
import { firefoxOf } from './save_firefox';
import { pprofOf } from './save_pprof';
import { shownOf } from './saved';
import { byId, element } from './text';
import type { View } from './view';

function hint(live: boolean): HTMLElement {
	const code = (text: string) => element('code', text);
	return live ? element('p', '', 'hint', 'For pprof, Firefox and the recording itself: ', code('jitbpf record --live'), ', then ',
		code('jitbpf report -f pprof')) : element('p', '', 'hint', 'For pprof and Firefox: ', code('jitbpf report -f pprof'), ' or ',
		code('-f firefox'), ' with the recording');
}

/** page: the document as it was loaded, without its data. */
export function listenToSave(view: View, page: string, live: boolean): void {
	const name = () => 'jitbpf-' + new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-');
	const saves = {
		'save-folded': () => download(foldedOf(view.base, view.names), 'text/plain', name() + '.folded'),
		'save-speedscope': () => download(speedscopeOf(view.base, view.names, byId('title').textContent!), 'application/json',
			name() + '.speedscope.json'),
		'save-pprof': () => downloadPacked(pprofOf(shownOf(view, false)), name() + '.pb'),
		'save-firefox': () => downloadPacked(firefoxOf(shownOf(view, true)), name() + '.json'),
		'save-page': () => download(pageOf(page, view.profile), 'text/html', name() + '.html'),
	};
	for (const [id, save] of Object.entries(saves))
		byId(id).addEventListener('click', () => {
			byId(id).closest('details')!.open = false;
			if (view.profile.runs.length)
				save();
		});
	byId('save-page').parentElement!.append(hint(live));
	// A menu closes when something else is clicked.
	addEventListener('pointerdown', event => {
		for (const menu of document.querySelectorAll<HTMLDetailsElement>('.drop[open]'))
			menu.open = menu.contains(event.target as Node);
	});
}
