/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Closes the gaps that entries leave which say nothing of what is live any more. */
#ifndef JITBPF_SHIM_JOURNAL_COMPACTION_H
#define JITBPF_SHIM_JOURNAL_COMPACTION_H

struct journal;

/*
 * With the journal's lock held. For the time it takes about 200 bytes of memory
 * for each entry. Returns 0, or negative errno where they cannot be had: then
 * nothing has changed.
 */
int journal_compact(struct journal *journal);

#endif
