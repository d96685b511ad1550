/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Drops the entries of a journal that describe no live code. */
#ifndef JITBPF_SHIM_JOURNAL_COMPACTION_H
#define JITBPF_SHIM_JOURNAL_COMPACTION_H

#include <stdint.h>

struct journal;

/*
 * The caller holds the journal's lock. scratch is memory for the compaction, which needs about 115
 * bytes per entry. Returns 0, or -ENOMEM if that is too little, with the journal unchanged.
 */
int journal_compact(struct journal *journal, void *scratch, uint64_t scratch_bytes);

#endif
