/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The processes with JIT code, and how they publish it. Looks, and leaves nothing
 * behind. What the user may not look at is left out and counted.
 */
#ifndef JITBPF_AGENT_PUBLISHER_ENGINE_LIST_H
#define JITBPF_AGENT_PUBLISHER_ENGINE_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"

enum engine_publishes {
	ENGINE_JOURNAL,	   /* through the shim, which keeps a journal: what was before is known */
	ENGINE_UNREADABLE, /* the same, but the journal cannot be read */
	ENGINE_SHIM,	   /* through the shim, without a journal; or nothing so far */
	ENGINE_JITDUMP,	   /* a file that is mapped */
	ENGINE_PERF_MAP,   /* /tmp/perf-PID.map; likewise */
	ENGINE_NOTHING,	   /* nobody names its code */
	ENGINE_PUBLISHES_COUNT
};

struct engine_row {
	uint32_t pid;
	uint32_t inner_pid; /* as it sees itself */
	uint32_t comm;	    /* number in the pool */
	uint32_t engine;    /* likewise: the file that calls; 0: not known */
	enum engine_publishes publishes;
	uint64_t methods, bytes; /* live; bytes of ENGINE_NOTHING: executable memory */
};

struct engine_list {
	VEC(struct engine_row) rows; /* by pid */
	struct string_pool *strings;
	uint64_t hidden; /* processes that we may not look at */
};

/* Less executable memory without a file than this is a trampoline or two. */
#define ENGINE_GENERATED_BYTES_MIN (64u << 10)

int engine_list_init(struct engine_list *ret);
void engine_list_deinit(struct engine_list *list);

/* Add one process; nothing if it has ended. Returns 0 or -ENOMEM. */
int engine_list_add(struct engine_list *list, uint32_t pid);

/* Add all of them. Returns 0, -ENOMEM, or -errno of opening /proc. */
int engine_list_add_all(struct engine_list *list);

#endif
