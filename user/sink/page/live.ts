// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The live profile: takes deltas as they come, and gives the page a new version twice a second, as long as that takes
// less than a twentieth of the main thread's time.

import { naturals } from './columns';
import type { Counts, Profile, Run, Words } from './data';
import { DeltaProfile, headerOf } from './delta';
import type { EventSamples } from './delta_samples';
import type { StackFinder } from './kept_frames';
import { PROCESS } from './kinds';
import { codeLane } from './live_code';
import { LiveLabels, cgroupText, type Live } from './live_labels';
import type { Shown } from './live_methods';
import { LivePackages } from './live_packages';
import { LiveTree, runOf, type CountChanges } from './live_tree';
import { follow, type Connection } from './stream';
import { byId } from './text';

const PERIOD_MS = 450;                  // deltas come twice a second
const LIGHT = 20;                       // a version is shown for this many times the time that it took,
const SECOND_MS = 950;                  // but no longer than this;
const REST = 4;                         // the page rests for at least this many times the time that a version took

const SLOW_MS = 1500;
const AGAIN_MS = 10_000;                // for a person to see that the page is live again

/** The words for the state of a connection. `at`: time of the last data. */
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

/** Time in ms from the begin of one version to the next, if the first took `took` ms. */
export function pauseAfter(took: number): number {
	return Math.max(PERIOD_MS, Math.min(LIGHT * took, SECOND_MS), (1 + REST) * took);
}

/** Words for the period of new versions, if it is longer than that of deltas. */
export function paceOf(pause: number): string {
	return pause > SLOW_MS ? `, every ${Math.round(pause / 1000)} s` : '';
}

/** Makes the page's profile of deltas. A new connection, or epoch, begins a new one with the same labels. */
export class LiveVersion {
	readonly tree: LiveTree;
	unnamed: Run['unnamed'];
	private readonly threads = [naturals(), naturals(), naturals(), naturals()];

	/** Of the samples of an event. event: its name; "" if the run has one event only. */
	constructor(private readonly labels: LiveLabels, private readonly words: Words, readonly from: EventSamples, readonly event = '') {
		this.tree = new LiveTree(labels, from);
	}

	/**
	 * Take what deltas have added since the last call. Returns samples that the caller adds to the tree (Profile.tree).
	 */
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
		const { labels, words, from, unnamed, tree: { tree, counts }, threads: [pid, tid, comm, container] } = this;
		return { runs: [Object.assign(runOf(from, labels.live, words), unnamed && { unnamed })], words,
			exact: !['graphs', 'all'].includes(labels.live.merge), strings: labels.strings, labels: labels.labels, sources: labels.sources,
			threads: { rows: pid.size, pid: pid.data, tid: tid.data, comm: comm.data, container: container.data },
			tree, counts, hidden: null, slices: { ...from.slices.list }, code: codeLane(from),
			order: labels.order, lives: null, functions: null, event: this.event, events: from.events };
	}
}

export interface Page {
	/** Called before names or the version of the profile change. `finder` is of the version that is shown. */
	hold(finder: StackFinder): void;
	/**
	 * Show a version. If it has the same tree as the version before, `changes` are the samples that were added to the
	 * tree.
	 */
	refresh(profile: Profile, changes: Counts, finder: StackFinder): void;
}

export class LiveProfile {
	private readonly labels: LiveLabels;
	private readonly packages = new LivePackages(() => {
		this.due = true;
		this.plan();
	});
	private deltas: DeltaProfile | null = null;     // what deltas are applied to
	private versions: LiveVersion[] = [];           // of it, by event
	private shown: LiveVersion | null = null;
	private paused = false;
	private isDue = false;
	private timer = 0;
	private nextAt = -Infinity;
	private pace = '';
	private connection: Connection = 'connecting';
	private caughtUp = false;       // since the connection began
	private cameAt = 0;             // time of the last data, by Date.now(); 0: none came
	private away = 0;               // length of the last pause in ms, kept for AGAIN_MS after it; 0: none

	/** event: the name of the event that is shown; unless there is such an event, the first one is. */
	constructor(private readonly live: Live, private readonly words: Words, private readonly page: Page, private event: string) {
		this.labels = new LiveLabels(live);
		this.event ||= live.event;
		this.labels.string('');
		this.labels.label('all', '', PROCESS);
		this.labels.source('', 0);
	}

	private begin(): DeltaProfile {
		const { row, totals } = this.live, fates = [...row.keys()].filter(field => row[field].startsWith('samples.'));
		this.versions = [];
		return this.deltas = new DeltaProfile(row.length, totals.length, fates);
	}

	/** The version of the event that is shown. */
	private get version(): LiveVersion {
		const { deltas, versions, labels, words } = this, number = Math.max(0, deltas!.events.indexOf(this.event));
		return versions[number] ??= new LiveVersion(labels, words, deltas!.ofEvent(number), deltas!.events[number]);
	}

	/** Show an event by its name; "": the first one. */
	show(event: string): void {
		this.event = event || this.live.event;
		if (!this.shown || this.version === this.shown)
			return;
		this.due = true;
		this.refresh();
	}

	/** The samples of the events that are not shown. */
	get others(): Profile[] {
		const { deltas, versions, labels, words, shown } = this;
		if (!deltas?.complete || shown?.from.epoch !== deltas.epoch)
			return [];
		const others = deltas.events.map((name, number) => versions[number] ??= new LiveVersion(labels, words, deltas.ofEvent(number), name))
			.filter(version => version !== shown);
		// A version that is shown anew is counted anew, so the changes are not needed.
		for (const version of others)
			version.update();
		return others.map(version => version.profile);
	}

	start(): void {
		const pause = byId<HTMLButtonElement>('pause');
		pause.hidden = byId('live').hidden = false;
		pause.addEventListener('click', () => this.pause(!this.paused));
		document.addEventListener('visibilitychange', () => this.plan());
		this.packages.listen();
		follow({
			begin: () => {
				this.caughtUp = false;
				this.begin();
			},
			delta: bytes => this.take(bytes),
			connection: state => this.note(state),
		});
	}

	/** Epoch of the shown version, and whether more versions follow; null: none is shown. */
	get state(): Shown | null {
		const ended = this.connection === 'ended' || this.connection === 'gone';
		if (!this.shown)
			return null;
		const { epoch, events } = this.shown.from, event = events.indexOf(this.shown.event);
		return { epoch, of: event > 0 ? `events/${event}/` : '', still: this.paused || ended, ended };
	}

	/** The server's address for the code of a function; null: no sample was taken in it. */
	codeAddress(label: number): string | null {
		const location = this.shown ? this.shown.tree.locationOf(label) : -1;
		return location < 0 ? null : `${this.state!.of}code/${this.shown!.from.epoch}/${location}`;
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

	/** Note the state of the connection, and the time of the last data. */
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

	/** Apply a delta. A delta of a newer epoch begins a new profile; the recording of the epoch before was closed. */
	private take(bytes: Uint8Array): void {
		const { epoch, from } = headerOf(bytes);
		if (epoch < this.deltas!.epoch)
			return;
		const deltas = from ? this.deltas! : this.begin();
		if (!deltas.apply(bytes))
			return;
		// Place the parts of a snapshot as they arrive, so that the first version takes less time.
		if (this.version !== this.shown)
			this.version.update();
		if (deltas.complete) {
			this.due = true;
			this.plan();
		}
	}

	private get due(): boolean {
		return this.isDue;
	}

	/** Whether a version is due is in the document, for tests: what came is not yet all shown. */
	private set due(is: boolean) {
		this.isDue = is;
		document.documentElement.dataset.due = String(is);
	}

	/** Schedule the next version, if one is due. */
	private plan(): void {
		clearTimeout(this.timer);
		if (!this.due || this.paused || document.hidden)
			return;
		this.timer = setTimeout(() => this.refresh(), Math.max(0, this.nextAt - performance.now()));
	}

	private refresh(): void {
		const { version } = this;
		if (!this.deltas!.complete)     // more deltas follow
			return;
		this.due = false;
		const begun = performance.now();
		if (this.shown && (this.shown !== version || version.from.hasRenamed))
			this.page.hold(this.shown.tree);
		const changes = version.update();
		this.shown = version;
		version.unnamed = this.packages.unnamed;
		this.page.refresh(version.profile, changes, version.tree);
		this.packages.want();
		const pause = pauseAfter(performance.now() - begun);
		this.nextAt = begun + pause;
		this.pace = paceOf(pause);
		this.caughtUp = true;
		this.say();
	}
}
