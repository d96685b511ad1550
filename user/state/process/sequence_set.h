/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which numbers of a count have come, in whatever order: runs of them, ascending.
 * What is missing is usually little, so that there are few runs. A process can
 * send any numbers, so that there is a limit: past SEQUENCE_RUNS_MAX runs the
 * lower half becomes one, and what was missing in it stays counted, but can no more
 * be told from what came.
 *
 * Zero-initialized is empty. The owner calls sequence_set_deinit().
 */
#ifndef JITBPF_STATE_PROCESS_SEQUENCE_SET_H
#define JITBPF_STATE_PROCESS_SEQUENCE_SET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define SEQUENCE_RUNS_MAX 4096

struct sequence_run {
	uint64_t first, last; /* both belong to it */
};

struct sequence_set {
	VEC(struct sequence_run) runs; /* at least one number is missing between two */
	uint64_t given_up;	       /* numbers missing in what became one run */
	uint64_t from;		       /* where counting begins, if that is known */
	bool has_from;
};

/* Numbers below `from` are not missing where they do not come; from itself is. */
void sequence_set_count_from(struct sequence_set *set, uint64_t from);

bool sequence_set_has(const struct sequence_set *set, uint64_t number);

/* Returns 1, 0 if it was there already, or -ENOMEM (set unchanged). */
int sequence_set_add(struct sequence_set *set, uint64_t number);

/*
 * How many are missing below the highest that came, from where counting begins;
 * where that is not known, from the lowest that came.
 */
uint64_t sequence_set_missing(const struct sequence_set *set);

void sequence_set_deinit(struct sequence_set *set);

#endif
