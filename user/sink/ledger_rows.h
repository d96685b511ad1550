/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of the ledger in reports. */
#ifndef JITBPF_SINK_LEDGER_ROWS_H
#define JITBPF_SINK_LEDGER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/ledger.h"
#include "sink/ledger_terms.h"

uint64_t ledger_process_taken(const struct ledger_process *process);

/* Returns true if a process has any samples or JIT code, or trouble with them. */
bool ledger_process_counts(const struct ledger_process *process);

/*
 * The processes with any count: most samples first, then by pid and number. The items point into
 * the ledger.
 */
struct ledger_ranking {
	VEC(const struct ledger_process *) processes;
};

/* Returns 0 or -ENOMEM; the caller calls ledger_ranking_deinit() in both cases. */
int ledger_rank(const struct ledger *ledger, struct ledger_ranking *ranking);
void ledger_ranking_deinit(struct ledger_ranking *ranking);

#endif
