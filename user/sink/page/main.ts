// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// Connects the parts of the page: data -> view <- input.

import { CodePane } from './code_pane';
import { noProfile, readData } from './data';
import { Input } from './input';
import { LiveProfile } from './live';
import { LiveCode } from './live_code_pane';
import { LiveMethods } from './live_methods';
import { LivesPane } from './lives_pane';
import { listenToSave } from './save_menu';
import { PageEvents } from './page_events';
import { readState } from './state';
import { byId } from './text';
import { TimeLine } from './timeline';
import { View } from './view';

const root = document.documentElement;
const fault = (message: string) => {
	root.dataset.error = message;
	byId('problem').textContent = 'This page has a fault: ' + message;
	byId('problem').hidden = false;
};
addEventListener('error', event => fault(event.message));
addEventListener('unhandledrejection', event => fault(String(event.reason)));

const data = readData(byId('profile').textContent!);
const wanted = readState(location.hash).event;
const live = data.live && new LiveProfile(data.live, data.words, {
	hold: finder => view.hold(finder),
	refresh: (newer, more, finder) => view.refresh(newer, more, finder),
}, wanted);
const own = data.live ? null : new PageEvents(data.profile, data.others, wanted);
byId('profile').remove();
const page = root.outerHTML;             // before anything is shown
const view = new View(own ? { ...own.shown } : noProfile(data.live ? data.words : data.profile.words), Boolean(live), showInGraph);
const methods = new LivesPane(view, live ? new LiveMethods(() => live.state) : null);
const time = new TimeLine(view, range => methods.open(range));
const code = new CodePane(view, live ? new LiveCode(label => live.codeAddress(label)) : null);
const input = new Input(view, () => live?.toggle(), label => code.open(label), () => methods.escape());

function showInGraph(label: number): void {
	const exact = '^' + view.names.key(label).replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&') + '$';
	view.change({ table: false, search: exact });
	view.graph.box.focus();
	view.say(byId('matched').textContent!);
}

view.others = () => live?.others ?? own!.others;
view.showEvent = name => live ? live.show(name) : own!.show(name, view);
view.start();
input.listen();
listenToSave(view, page, Boolean(live));
time.listen();
live?.start();
// After the first paint; `make bench` measures this.
requestAnimationFrame(() => setTimeout(() => performance.mark('shown')));
