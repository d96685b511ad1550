// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The live profile: takes deltas as they come, and gives the page a new version at most once a second.

import type { Profile, Words } from './data';
import { DeltaProfile, headerOf } from './delta';
import { LiveTree, type Live } from './live_tree';
import { follow, type Connection } from './stream';
import { byId } from './text';

const PERIOD_MS = 950;                  // deltas come each second
const REST = 4;                         // the page rests so many times as long as a version took

const SAYS: Record<Connection, string> = {
	connecting: 'connecting …', live: 'live', lost: 'connection lost, trying again …', ended: 'the run has ended',
};

export class LiveProfile {
	private readonly tree: LiveTree;
	private deltas: DeltaProfile | null = null;
	private paused = false;
	private due = false;
	private timer = 0;
	private nextAt = -Infinity;
	private connection: Connection = 'connecting';

	constructor(private readonly live: Live, words: Words, private readonly show: (profile: Profile) => void) {
		this.tree = new LiveTree(live, words);
	}

	start(): void {
		const pause = byId<HTMLButtonElement>('pause');
		pause.hidden = byId('live').hidden = false;
		pause.addEventListener('click', () => this.pause(!this.paused));
		document.addEventListener('visibilitychange', () => this.plan());
		follow({
			begin: () => { this.deltas = new DeltaProfile(this.live.row.length, this.live.totals.length); },
			delta: bytes => this.take(bytes),
			connection: state => this.say(state),
		});
	}

	pause(on: boolean): void {
		this.paused = on;
		byId('pause').ariaPressed = String(on);
		this.say(this.connection);
		this.plan();
	}

	toggle(): void {
		this.pause(!this.paused);
	}

	private say(state: Connection): void {
		this.connection = state;
		const text = SAYS[state] + (this.paused ? ' (paused)' : '');
		if (byId('live').textContent !== text)
			byId('live').textContent = text;
		document.documentElement.dataset.live = state;
	}

	/** Of a newer epoch, whose recording replaces that of the one before, a new profile begins. */
	private take(bytes: Uint8Array): void {
		const { epoch, from } = headerOf(bytes);
		if (epoch < this.deltas!.epoch)
			return;
		if (!from)
			this.deltas = new DeltaProfile(this.live.row.length, this.live.totals.length);
		if (this.deltas!.apply(bytes) && this.deltas!.complete) {
			this.due = true;
			this.plan();
		}
	}

	/** Show what is due, at once or in time. */
	private plan(): void {
		clearTimeout(this.timer);
		if (!this.due || this.paused || document.hidden)
			return;
		this.timer = setTimeout(() => this.refresh(), Math.max(0, this.nextAt - performance.now()));
	}

	private refresh(): void {
		if (!this.deltas?.complete)     // more of it will come
			return;
		this.due = false;
		const begun = performance.now();
		this.show(this.tree.profile(this.deltas));
		this.nextAt = Math.max(begun + PERIOD_MS, begun + (1 + REST) * (performance.now() - begun));
	}
}
