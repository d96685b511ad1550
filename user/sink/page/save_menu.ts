// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The menu of what can be saved.

import { NoRecording, recording } from './recording';
import { download, downloadPacked, foldedOf, pageOf, speedscopeOf } from './save';
import { firefoxOf } from './save_firefox';
import { pprofOf } from './save_pprof';
import { shownOf } from './saved';
import { byId } from './text';
import type { View } from './view';

/** Save the recording of a live run. The menu stays open until the file is here, and says why there is none. */
async function saveRecording(name: string): Promise<void> {
	const button = byId<HTMLButtonElement>('save-recording'), menu = button.closest('details')!, says = byId('save-says');
	button.disabled = true;
	says.hidden = false;
	says.textContent = 'Getting the recording …';
	try {
		download(await recording(document.documentElement.dataset.live === 'ended'), 'application/octet-stream', name);
		says.hidden = true;
		menu.open = false;
	} catch (error) {
		if (!(error instanceof NoRecording))
			throw error;
		says.textContent = `The recording was not saved: ${error.message}.`;
	} finally {
		button.disabled = false;
	}
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
		'save-page': () => download(pageOf(page, view.profile, view.others()), 'text/html', name() + '.html'),
	};
	for (const [id, save] of Object.entries(saves))
		byId(id).addEventListener('click', () => {
			byId(id).closest('details')!.open = false;
			if (view.profile.runs.length)
				save();
		});
	byId('save-recording').hidden = !live;
	byId('save-recording').addEventListener('click', () => void saveRecording(name() + '.jitbpf'));
	// A menu closes when something else is clicked.
	addEventListener('pointerdown', event => {
		for (const menu of document.querySelectorAll<HTMLDetailsElement>('.drop[open]'))
			menu.open = menu.contains(event.target as Node);
	});
}
