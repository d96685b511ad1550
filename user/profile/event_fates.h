/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The fates of the samples of an event from 1 on, by ledger row. Most processes have samples of few
 * events, so only rows with samples take memory. Fates of CPU time are in the ledger itself.
 */
#ifndef JITBPF_PROFILE_EVENT_FATES_H
#define JITBPF_PROFILE_EVENT_FATES_H

#include <stdint.h>

#include "base/vec.h"
#include "profile/ledger.h"

struct event_fates {
	struct sample_fates samples;
	uint64_t changed_round; /* number of the round in which they last changed */
};

/* Zero-initialized is empty. */
struct event_rows {
	VEC(uint32_t) places;	      /* by ledger row: index in `rows`, plus 1 */
	VEC(struct event_fates) rows; /* in the order of their first samples */
	struct event_fates all;	      /* sum of the rows; its owner updates it */
};

/*
 * Set *ret to the fates of a ledger row, valid until the next call. Returns 1 if they are new, 0,
 * or -ENOMEM.
 */
int event_rows_get(struct event_rows *rows, uint32_t row, struct event_fates **ret);

/*
 * Make *ret the ledger `from` with the fates of the event instead of those of CPU time. It keeps
 * its own memory for rows, and has no changed_blocks. Returns 0, or -ENOMEM with *ret unchanged.
 */
int event_rows_ledger(const struct event_rows *rows, const struct ledger *from, struct ledger *ret);

void event_rows_deinit(struct event_rows *rows);

#endif
