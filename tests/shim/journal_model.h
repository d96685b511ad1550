/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a sequence of events leaves live, found the naive way: by going through
 * all that there is at each event.
 */
#ifndef JITBPF_TESTS_SHIM_JOURNAL_MODEL_H
#define JITBPF_TESTS_SHIM_JOURNAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

#define MODEL_MAX     2048 /* events */
#define MODEL_NOBODY  UINT32_MAX
#define MODEL_CHANGES 16

/* A load, or a method inlined into one. Events are known by sequence number. */
struct model_region {
	struct jitbpf_jit_header event;
	uint32_t engine;
	bool live;
	uint32_t host; /* of an inlined one: number of its load; MODEL_NOBODY while there is none */
	uint64_t named_by;		 /* the event that began its method's life */
	uint64_t changes[MODEL_CHANGES]; /* the last events about it */
	uint32_t change_count;
};

struct model {
	struct model_region regions[MODEL_MAX];
	size_t count;
};

/* engine: 0, 1, ...: which of the engines in the process it is of. */
void model_apply(struct model *model, const struct jitbpf_jit_header *event, uint32_t engine);

/* Whether the same events are live, under the same names, and changed by the same. */
bool model_equal(const struct model *a, const struct model *b);

/* What has waited for its parent since before that time waits no more. */
void model_forget(struct model *model, uint64_t time_ns);

size_t model_live(const struct model *model);

#endif
