/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The rows of the ledger in reports: order, keys and texts. Summary, JSON and page use them.
 */
#ifndef JITBPF_SINK_LEDGER_ROWS_H
#define JITBPF_SINK_LEDGER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "profile/ledger.h"

struct ledger_word {
	const char *key;   /* key in JSON; never changes */
	const char *words; /* text in the summary */
};

extern const struct ledger_word ledger_fates[FATE_COUNT];
extern const struct ledger_word ledger_cuts[LEDGER_CUT_COUNT];
extern const struct ledger_word ledger_memories[LEDGER_MEMORY_COUNT];
extern const struct ledger_word ledger_counters[JITBPF_COUNTER_MAX];

/* The members of struct jit_counts. */
struct ledger_jit_word {
	struct ledger_word word;
	size_t offset;
};

#define LEDGER_JIT_COUNT 33
extern const struct ledger_jit_word ledger_jit[LEDGER_JIT_COUNT];

/* Rows from here on count problems. Earlier rows, up to `merged`, do not. */
#define LEDGER_JIT_TROUBLE 14

static inline uint64_t ledger_jit_value(const struct jit_counts *counts, int row)
{
	return *(const uint64_t *)((const char *)counts + ledger_jit[row].offset);
}

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
