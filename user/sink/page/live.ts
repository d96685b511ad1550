// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The live profile: takes deltas as they come, and gives the page a new version twice a second, as long as that takes
// less than a twentieth of the main thread's time.

import { naturals } from './columns';
import { PROCESS, type Counts, type Profile, type Words } from './data';
import { DeltaProfile, headerOf } from './delta';
import type { StackFinder } from './kept_frames';
import { codeLane } from './live_code';
import { LiveLabels, cgroupText, type Live } from './live_labels';
import type { Shown } from './live_methods';
import { LiveTree, runOf, type CountChanges } from './live_tree';
import { follow, type Connection } from './stream';
import { byId } from './text';

const PERIOD_MS = 450;                  // deltas come twice a second
const LIGHT = 20;                       // a version is shown so many times as long as it took,
const SECOND_MS = 950;                  // but no longer than this;
const REST = 4;                         // the page rests so many times as long in any case

const SLOW_MS = 1500;
const AGAIN_MS = 10_000;                // for a person to see that the page is live again

/** What is said of a connection: `at` is when something came last. */
const SAYS: Record<Connection, (at: string) => [text: string, more?: string]> = {
	connecting: at => at ? ['catching up …', 'What is shown is older, until all that came since is here'] : ['connecting …'],
	live: () => ['live'],
	late: at => [`nothing since ${at}`, 'The profile goes on, and this page waits for it'],
	lost: at => [at ? `connection lost at ${at}, trying again …` : 'no connection, trying again …',
		'jitbpf does not answer. If it still runs, this page catches up by itself. What is shown can be saved'],
	full: () => ['too many pages are open, trying again …', 'jitbpf serves 20 pages. Close another one'],
	gone: at => [`the run is gone${at && `, since ${at}`}`,
		'Another run of jitbpf has this port: open the address that it has printed. What is shown here can be saved'],
	ended: () => ['the run has ended', 'What is shown is all of it, and can be saved'],
};

const clock = (at: number) => new Date(at).toTimeString().slice(0, 8);

/** From the begin of a version that took so long to the next one, in ms. */
export function pauseAfter(took: number): number {
	return Math.max(PERIOD_MS, Math.min(LIGHT * took, SECOND_MS), (1 + REST) * took);
}

/** What is said of the age of what is shown, if it is not that of a delta. */
export function paceOf(pause: number): string {
	return pause > SLOW_MS ? `, every ${Math.round(pause / 1000)} s` : '';
}

/** Makes the page's profile of deltas. A new connection, or epoch, begins a new one with the same labels. */
export class LiveVersion {
	readonly tree: LiveTree;
	private readonly threads = [naturals(), naturals(), naturals(), naturals()];

	constructor(private readonly labels: LiveLabels, private readonly words: Words, readonly from: DeltaProfile) {
		this.tree = new LiveTree(labels, from);
	}

	/** Take what is new. Returns samples that the caller adds to the tree (Profile.tree). */
	update(): CountChanges {
		const { from, labels, threads: [pid, tid, comm, container] } = this;
		for (let i = pid.size; i < from.threads.length; i++) {
			const thread = from.threads[i];
			pid.push(thread.pid);
			tid.push(thread.tid);
			comm.push(labels.string(from.strings[thread.comm] || '[unknown]'));
			container.push(labels.string(cgroupText(from.strings[thread.container || thread.unit])));
		}
		return this.tree.update();
	}

	/** The profile as of the last update. */
	get profile(): Profile {
		const { labels, words, from, tree: { tree, counts }, threads: [pid, tid, comm, container] } = this;
		return { runs: [runOf(from, labels.live)], words, strings: labels.strings, labels: labels.labels, sources: labels.sources,
			threads: { rows: pid.size, pid: pid.data, tid: tid.data, comm: comm.data, container: container.data },
			tree, counts, slices: { ...from.slices.list }, code: codeLane(from),
			order: labels.order, lives: null, functions: null };
	}
}

export interface Page {
	/** Names will change, or the version of the profile. `finder` is of the version that is shown. */
	hold(finder: StackFinder): void;
	/** Show a version. `changes` are of the same tree as that of the version before, if they have one tree. */
	refresh(profile: Profile, changes: Counts, finder: StackFinder): void;
}

export class LiveProfile {
	private readonly labels: LiveLabels;
	private version: LiveVersion | null = null;     // what deltas are applied to
	private shown: LiveVersion | null = null;
	private paused = false;
	private due = false;
	private timer = 0;
	private nextAt = -Infinity;
	private pace = '';
	private connection: Connection = 'connecting';
	private caughtUp = false;       // since the connection began
	private cameAt = 0;             // when something came last, by the clock; 0: never
	private away = 0;               // for how long nothing had come, in ms, for a while after that; 0: no time

	constructor(private readonly live: Live, private readonly words: Words, private readonly page: Page) {
		this.labels = new LiveLabels(live);
		this.labels.string('');
		this.labels.label('all', '', PROCESS);
		this.labels.source('', 0);
	}

	private begin(): LiveVersion {
		const { row, totals } = this.live;
		return this.version = new LiveVersion(this.labels, this.words, new DeltaProfile(row.length, totals.length));
	}

	start(): void {
		const pause = byId<HTMLButtonElement>('pause');
		pause.hidden = byId('live').hidden = false;
		pause.addEventListener('click', () => this.pause(!this.paused));
		document.addEventListener('visibilitychange', () => this.plan());
		follow({
			begin: () => {
				this.caughtUp = false;
				this.begin();
			},
			delta: bytes => this.take(bytes),
			connection: state => this.note(state),
		});
	}

	/** Of which epoch the version is that is shown, and whether another one will be; null: there is none. */
	get state(): Shown | null {
		const ended = this.connection === 'ended' || this.connection === 'gone';
		return this.shown && { epoch: this.shown.from.epoch, still: this.paused || ended, ended };
	}

	/** Where the server has the code of a function; null: no sample was taken there. */
	codeAddress(label: number): string | null {
		const location = this.shown ? this.shown.tree.locationOf(label) : -1;
		return location < 0 ? null : `code/${this.shown!.from.epoch}/${location}`;
	}

	pause(on: boolean): void {
		this.paused = on;
		byId('pause').ariaPressed = String(on);
		this.say();
		this.plan();
	}

	toggle(): void {
		this.pause(!this.paused);
	}

	/** What came last, or that nothing comes. */
	private note(state: Connection): void {
		if (state === 'live') {
			const now = Date.now();
			if (this.cameAt && this.connection !== 'live') {
				this.away = now - this.cameAt;
				setTimeout(() => {
					this.away = 0;
					this.say();
				}, AGAIN_MS);
			}
			this.cameAt = now;
		}
		this.connection = state;
		this.say();
	}

	private say(): void {
		const { connection, paused, caughtUp, cameAt, away, pace } = this, state = connection === 'live' && !caughtUp && !paused ? 'connecting' : connection;
		const [words, more = ''] = SAYS[state](cameAt ? clock(cameAt) : '');
		const text = words + (state !== 'live' ? '' : away ? ` again, after ${Math.round(away / 1000)} s` : pace) + (paused ? ' (paused)' : '');
		if (byId('live').textContent !== text)
			byId('live').textContent = text;
		byId('live').title = more || (pace && 'What is shown takes long to make, so it comes less often');
		document.documentElement.dataset.live = state;
	}

	/** Of a newer epoch, whose recording replaces that of the one before, a new profile begins. */
	private take(bytes: Uint8Array): void {
		const { epoch, from } = headerOf(bytes);
		if (epoch < this.version!.from.epoch)
			return;
		const version = from ? this.version! : this.begin();
		if (!version.from.apply(bytes))
			return;
		// Parts of a snapshot are worked on as they come.
		if (version !== this.shown)
			version.update();
		if (version.from.complete) {
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
		const version = this.version!;
		if (!version.from.complete)     // more of it will come
			return;
		this.due = false;
		const begun = performance.now();
		if (this.shown && (this.shown !== version || version.from.hasRenamed))
			this.page.hold(this.shown.tree);
		const changes = version.update();
		this.shown = version;
		this.page.refresh(version.profile, changes, version.tree);
		const pause = pauseAfter(performance.now() - begun);
		this.nextAt = begun + pause;
		this.pace = paceOf(pause);
		this.caughtUp = true;
		this.say();
	}
}
