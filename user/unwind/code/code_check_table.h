/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The checks of struct code_checks by region and process, and the doubts by process, for the files
 * that decide (code_checks.c, code_check_results.c). An owner has a share of the checks. A check
 * stays while samples wait for it or its request is pending; others can be evicted.
 */
#ifndef JITBPF_UNWIND_CODE_CODE_CHECK_TABLE_H
#define JITBPF_UNWIND_CODE_CODE_CHECK_TABLE_H

#include <stdlib.h>

#include "unwind/code/code_checks.h"

static inline uint32_t code_check_slot(const struct code_checks *checks,
				       const struct code_check *check)
{
	return (uint32_t)(check - checks->slots);
}

/* Free what a request borrows. */
static inline void code_check_free_copies(struct code_check *check)
{
	free(check->copy);
	free(check->is);
	check->copy = check->is = NULL;
}

/* Returns the check of a region (code_region_identity()) of a process, or NULL. */
struct code_check *code_checks_find(const struct code_checks *checks, uint64_t identity,
				    const struct process *process);

/* Find or add the check of a region. Returns NULL if memory, or the owner's share, is short. */
struct code_check *code_checks_add(struct code_checks *checks, const struct process *process,
				   const struct code_region *region);

/* Remove a check. A pending request keeps its slot until its answer. */
void code_checks_remove(struct code_checks *checks, struct code_check *check);

/* Find or add the doubts about code of a process. Returns NULL without memory. */
struct code_doubts *code_checks_add_doubts(struct code_checks *checks,
					   const struct process *process);

/*
 * Let samples from since_ns on wait for a check. Returns 0, -EDQUOT (beyond the owner's share) or
 * -ENOMEM.
 */
int code_checks_wait(struct code_checks *checks, struct code_doubts *doubts,
		     struct code_check *check, uint64_t since_ns);

/* End the wait of samples for a check. */
void code_checks_end_wait(struct code_checks *checks, struct code_check *check);

#endif
