// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The events of a page that does not change.

import type { Profile } from './data';
import type { View } from './view';

/** Code has the names that it will have, so nothing is kept by its location. */
const NO_STACKS = { stackThrough: () => null, labelsOf: () => [] };

export class PageEvents {
	shown: Profile;

	/** wanted: the name of the event that is shown; unless there is such an event, that of `first` is. */
	constructor(private readonly first: Profile, private readonly more: Profile[], wanted: string) {
		this.shown = this.named(wanted);
	}

	private named(name: string): Profile {
		return this.more.find(profile => profile.event === name) ?? this.first;
	}

	get others(): Profile[] {
		return [this.first, ...this.more].filter(profile => profile !== this.shown);
	}

	show(name: string, view: View): void {
		const profile = this.named(name);
		if (profile === this.shown)
			return;
		this.shown = profile;
		view.refresh(profile, profile.counts, NO_STACKS);
	}
}
