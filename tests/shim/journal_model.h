/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A simple model of the live code after a sequence of events: each event searches all regions. */
#ifndef JITBPF_TESTS_SHIM_JOURNAL_MODEL_H
#define JITBPF_TESTS_SHIM_JOURNAL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

#define MODEL_MAX     2048 /* events */
#define MODEL_NOBODY  UINT32_MAX
#define MODEL_CHANGES 16

/* A load, or a method inlined into one. Events are identified by sequence number. */
struct model_region {
	struct jitbpf_jit_header event;
	uint32_t engine;
	bool live;
	/* of an inlined method: index of its load, MODEL_NOBODY if there is none yet */
	uint32_t host;
	uint64_t named_by;		 /* the first event of its method */
	uint64_t changes[MODEL_CHANGES]; /* the last events about it */
	uint32_t change_count;
};

/* The unload of an ID. */
struct model_unload {
	uint64_t sequence;
	uint32_t engine, method_id;
};

struct model {
	struct model_region regions[MODEL_MAX];
	size_t count;
	struct model_unload unloads[MODEL_MAX];
	size_t unload_count;
};

/* engine: index of the engine in the process */
void model_apply(struct model *model, const struct jitbpf_jit_header *event, uint32_t engine);

/* Returns true if b has the live events of a, with the same names and changes. */
bool model_within(const struct model *a, const struct model *b);

/*
 * The same, but an event may have the name of any other one of its method: of its engine and ID,
 * without an unload of the ID between them in b. Registered methods need no more than that, either.
 */
bool model_known(const struct model *a, const struct model *b);

/* The same both ways. */
bool model_equal(const struct model *a, const struct model *b);

size_t model_live(const struct model *model);

#endif
