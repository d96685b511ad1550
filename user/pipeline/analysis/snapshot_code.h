/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Converts a region of JIT code to events that create it again: a load for each publisher that
 * describes it, its inlined methods, and its updates. Also converts inlined methods that wait for
 * their parents, and methods that are registered without code.
 */
#ifndef JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_CODE_H
#define JITBPF_PIPELINE_ANALYSIS_SNAPSHOT_CODE_H

#include "decode/record/code_event.h"
#include "state/code/code_layout.h"

/* The values that all events of a region or waiting method have in common, and their receiver. */
struct snapshot_code {
	uint32_t pid;
	uint64_t start_ns, time_ns;
	uint64_t address; /* of the region or method, in that process */
	/* Returns the engine of an event, as in records. */
	uint64_t (*engine)(void *context, const struct code_origin *origin);
	/*
	 * If not NULL, methods get new ids from this counter: their engine has ended, and another
	 * engine may use their ids.
	 */
	uint64_t *new_ids;
	int (*take)(void *context, const struct code_event *event);
	void *context;
};

/* Returns 0, -ENOMEM, or the first error of take. */
int snapshot_code_region(const struct snapshot_code *snapshot, const struct code_region *region);
int snapshot_code_registered(const struct snapshot_code *snapshot,
			     const struct code_region *method);
int snapshot_code_waiting(const struct snapshot_code *snapshot, const struct code_inline *inlined);

#endif
