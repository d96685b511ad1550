// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
// The packages of files without names of functions, for the ledger of a live page: from the page's server
// (user/run/page/packages_answer.h), since deltas do not have them. They are requested while the ledger is open.

import type { Run } from './data';
import { byId } from './text';

const PERIOD_MS = 10_000;               // other files may lack names by then

export class LivePackages {
	unnamed: Run['unnamed'];
	private nextAt = -Infinity;
	private pending = false;

	/** changed: there is an answer. */
	constructor(private readonly changed: () => void) {}

	listen(): void {
		byId('ledger').addEventListener('toggle', () => this.want(), true);    // it does not bubble
	}

	/** Request them if the ledger shows them and the last answer is old. */
	want(): void {
		if (this.pending || performance.now() < this.nextAt || !byId('ledger').querySelector('details[open]'))
			return;
		this.pending = true;
		void this.ask();
	}

	private async ask(): Promise<void> {
		try {
			const response = await fetch('packages', { cache: 'no-store' }), text = response.ok ? await response.text() : '';
			if (text) {
				this.unnamed = JSON.parse(text).unnamed;
				this.changed();
			}
		} catch {
			// The server is gone or busy: what is shown stays.
		}
		this.pending = false;
		this.nextAt = performance.now() + PERIOD_MS;
	}
}
