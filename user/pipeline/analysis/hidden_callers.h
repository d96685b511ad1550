/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts what a sample adds to the TOTAL of functions if its node has not all of its callers, not
 * even without their order (epoch_memory.h). Only names say which locations are one function, so
 * functions are counted when a sample comes, as far as the names are known then. The names of a
 * recording can be read ahead for this (analysis_wants_names()).
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_HIDDEN_CALLERS_H
#define JITBPF_PIPELINE_ANALYSIS_HIDDEN_CALLERS_H

#include <stdint.h>

struct analysis;
struct epoch;
struct located_stack;
struct stack_cache_slot;

/* Count a sample that is located. amount: as in struct event_counts. Returns 0 or -ENOMEM. */
int hidden_callers_count(struct analysis *a, struct epoch *e, const struct located_stack *located,
			 const struct stack_cache_slot *slot, uint64_t amount);

#endif
