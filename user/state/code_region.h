/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Makes regions of code, and accounts for the memory that they take. */
#ifndef JITBPF_STATE_CODE_REGION_H
#define JITBPF_STATE_CODE_REGION_H

#include <stdint.h>

#include "state/code_map.h"

/* What the regions of one code map take. They outlive it, and so does this. */
struct code_usage {
	uint32_t refs; /* the map and each region */
	uint64_t methods, name_bytes, lines;
};

/* A region, as it is allocated: in one piece with its line table and strings. */
struct code_record {
	struct code_region region;
	struct code_usage *usage;
	uint64_t method_key; /* in the code map's index of methods */
};

/* NULL where there is no memory. */
struct code_usage *code_usage_create(void);
void code_usage_put(struct code_usage *usage);

/*
 * Make the record of a load, counted in usage until it is freed. number and
 * method_key are the caller's to fill in.
 * Returns 0, -EDQUOT (over budget) or -ENOMEM.
 */
int code_record_create(const struct jit_event *event, uint64_t time_ns,
		       const struct code_budget *budget, struct code_usage *usage,
		       struct code_record **ret);

#endif
