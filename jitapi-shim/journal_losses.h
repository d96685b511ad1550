/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the events that a journal lacks, and notes which code they may have ended
 * (struct jitbpf_journal_unsure).
 */
#ifndef JITBPF_SHIM_JOURNAL_LOSSES_H
#define JITBPF_SHIM_JOURNAL_LOSSES_H

#include <stdbool.h>

#include "jitapi-shim/journal.h"
#include "uapi/jit_record.h"

/* Count an event whose entry lacks its fields. The caller holds the lock. */
void journal_losses_count(struct journal *journal, const struct jitbpf_jit_header *event);

/* Count an event without an entry. The caller need not hold the lock (refused: it does not). */
void journal_losses_add(struct journal *journal, const struct jitbpf_jit_header *event,
			bool refused);

/*
 * The journal has no entries any more that are unsure; makes the range empty. The caller holds the
 * lock.
 */
void journal_losses_applied(struct journal *journal);

#endif
