/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drops the entries of a journal that describe no live code. */
#ifndef JITBPF_SHIM_JOURNAL_COMPACTION_H
#define JITBPF_SHIM_JOURNAL_COMPACTION_H

struct journal;

/*
 * The caller holds the journal's lock. The compaction needs about 80 bytes of memory per entry
 * while it runs. Returns 0, or negative errno if there is no memory, with the journal unchanged.
 */
int journal_compact(struct journal *journal);

#endif
