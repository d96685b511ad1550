/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The terms of the ledger: what is counted, in order, with keys and texts. Summary, JSON, page,
 * `jitbpf explain` and its manual page use these tables, so each says the same.
 */
#ifndef JITBPF_SINK_LEDGER_TERMS_H
#define JITBPF_SINK_LEDGER_TERMS_H

#include <stddef.h>
#include <stdint.h>

#include "profile/ledger.h"
#include "sink/write/text.h"

/* An advice for runs of the whole system, in the texts below; see ledger_put_next(). */
#define LEDGER_RECORD_AGAIN    "record again"
#define LEDGER_FEWER_PROCESSES "record fewer processes (-p, -u or -G)"

struct ledger_word {
	const char *key;   /* key in JSON; never changes */
	const char *words; /* text in the summary */
	const char *means; /* a sentence */
	const char *why;   /* the reason, a sentence; NULL: the count is no problem */
	const char *next;  /* what to do; NULL: nothing */
};

extern const struct ledger_word ledger_fates[FATE_COUNT];
extern const struct ledger_word ledger_cuts[LEDGER_CUT_COUNT];
extern const struct ledger_word ledger_memories[LEDGER_MEMORY_COUNT];
extern const struct ledger_word ledger_counters[JITBPF_COUNTER_MAX];

/* Terms of which the ledger has one number each. */
enum ledger_single {
	LEDGER_TAKEN,
	LEDGER_NAMED,
	LEDGER_RUNTIME_FUNCTIONS,
	LEDGER_RUNTIME_CUT,
	LEDGER_RUNTIME_UNKNOWN,
	LEDGER_CUT_UNPUBLISHED,
	LEDGER_FRAME_POINTERS,
	LEDGER_THROTTLED,
	LEDGER_TOTAL_UNKNOWN,
	LEDGER_MALFORMED_RECORDS,
	LEDGER_UNNAMED,
	LEDGER_OTHERS,
	LEDGER_SINGLE_COUNT
};

extern const struct ledger_word ledger_singles[LEDGER_SINGLE_COUNT];

/*
 * Whether the functions of a runtime are shown (enum jitbpf_runtime_status): words that follow "its
 * functions are".
 */
#define LEDGER_RUNTIME_COUNT (JITBPF_RUNTIME_ENDED + 1)
extern const struct ledger_word ledger_runtimes[LEDGER_RUNTIME_COUNT];

/* Headings of tables in the summary and in `top`, but for those that are terms above. */
#define LEDGER_COLUMN_COUNT 11
extern const struct ledger_word ledger_columns[LEDGER_COLUMN_COUNT];

/* The members of struct jit_counts. */
struct ledger_jit_word {
	struct ledger_word word;
	size_t offset;
};

#define LEDGER_JIT_COUNT 36
extern const struct ledger_jit_word ledger_jit[LEDGER_JIT_COUNT];

/* Rows from here on count problems. Earlier rows, up to `merged`, do not. */
#define LEDGER_JIT_TROUBLE 15

static inline uint64_t ledger_jit_value(const struct jit_counts *counts, int row)
{
	return *(const uint64_t *)((const char *)counts + ledger_jit[row].offset);
}

/*
 * Returns term number i of all tables, or NULL after the last one. Sets *ret_group, unless it is
 * NULL, to the prefix of its key in JSON, such as "samples.cut."; "column." for headings.
 */
const struct ledger_word *ledger_term_at(size_t i, const char **ret_group);

/*
 * Put the advice `next` of a term. `command` is that of the run's run_info: if it names processes
 * or a command, the advice to choose fewer processes is adapted.
 */
void ledger_put_next(struct text *text, const char *next, const char *command);

/*
 * Returns true if a person may mean a term by a text: its key, with or without its group, or its
 * words as the summary shows them, with a number for an N. Case does not matter.
 */
bool ledger_term_is(const struct ledger_word *term, const char *group, const char *text);

/* Returns true if a text is a part of the key with its group, or of the words. As above. */
bool ledger_term_has(const struct ledger_word *term, const char *group, const char *text);

#endif
