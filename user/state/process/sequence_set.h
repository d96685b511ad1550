/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A set of the sequence numbers that were received, in any order, to count the missing ones.
 * It is stored as ascending runs of consecutive numbers; few numbers are missing, so there are
 * few runs. An untrusted process chooses the numbers, so the number of runs is limited: above
 * SEQUENCE_RUNS_MAX, the lower half is joined into one run. The numbers missing in it stay
 * counted, but sequence_set_has() then returns true for them.
 *
 * A zero-initialized set is empty. The owner calls sequence_set_deinit().
 */
#ifndef JITBPF_STATE_PROCESS_SEQUENCE_SET_H
#define JITBPF_STATE_PROCESS_SEQUENCE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define SEQUENCE_RUNS_MAX 4096

struct sequence_run {
	uint64_t first, last; /* inclusive */
};

struct sequence_set {
	VEC(struct sequence_run) runs; /* at least one number is missing between two runs */
	uint64_t given_up;	       /* missing numbers inside joined runs */
	uint64_t from;		       /* the first number that counts as missing; with has_from */
	bool has_from;
};

/* Count missing numbers from `from` on. Lower numbers never count as missing. */
void sequence_set_count_from(struct sequence_set *set, uint64_t from);

bool sequence_set_has(const struct sequence_set *set, uint64_t number);

/* Returns 1 (added), 0 (already in the set), or -ENOMEM with the set unchanged. */
int sequence_set_add(struct sequence_set *set, uint64_t number);

/* Returns the number behind the highest one of the set; 0 if the set is empty. */
uint64_t sequence_set_end(const struct sequence_set *set);

/*
 * Returns the number of missing numbers below the highest number of the set. Counts from `from`
 * on or, without it, from the lowest number of the set.
 */
uint64_t sequence_set_missing(const struct sequence_set *set);

/*
 * Returns the change of the number of missing numbers if `number` were added: -1 if it is missing
 * now.
 */
int64_t sequence_set_change(const struct sequence_set *set, uint64_t number);

void sequence_set_deinit(struct sequence_set *set);

#endif
