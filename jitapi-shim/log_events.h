/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The events of a log, as log_liveness_judge() replays them. Events refer to each other by number
 * in the log, from 1. 0: none.
 */
#ifndef JITBPF_SHIM_LOG_EVENTS_H
#define JITBPF_SHIM_LOG_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/caller_engine.h"
#include "uapi/jit_record.h"

#define LIVE_LEVELS 5 /* for 64^5 ranks */

enum log_event_kind {
	NOTHING,
	LOAD,
	METHOD,
	INLINED,
	UNLOAD_ID,
	UNLOAD_RANGE,
	UPDATE,
	THREAD,
	THREAD_END,
};

struct log_event {
	const struct jitbpf_jit_header *header;
	uint64_t start, end; /* of the code */
	uint8_t kind, engine;
	uint32_t id;	  /* the header's method_id */
	uint32_t rank;	  /* of start among all starts */
	uint32_t ender;	  /* LOAD, METHOD, THREAD: the event that ended it; itself: a lost one */
	uint32_t part_of; /* LOAD: the previous report of the method, if that was live then */
	uint32_t inlines; /* LOAD: list of the methods that are inlined there */
	uint32_t host;	  /* other kinds: the load that the event describes */
	/* LOAD, METHOD: in loads; INLINED: in orphans, then in inlines; THREAD: in threads */
	uint32_t next;
	uint32_t todo; /* in a work list */
	/* A bucket of the hash table by engine and ID; it does not belong to the event. */
	uint32_t loads;
	uint32_t orphans; /* INLINED whose parent has that ID and has not been reported */
	uint32_t threads; /* live THREADs with that tid */
};

struct judge {
	struct log_event *events;
	uint32_t count;
	/* Level 0: bitmap of the ranks of live loads. Others: of words below that are not 0. */
	uint64_t *live[LIVE_LEVELS];
	uint32_t *loads; /* the live loads by rank */
	bool *stays;
	void (*progress)(void); /* called regularly; NULL: not */
};

/* Call progress() once for many events. */
static inline void judge_step(const struct judge *judge, uint32_t i)
{
	if (judge->progress && i % 4096 == 0)
		judge->progress();
}

/*
 * Read judge->count entries. Returns false if the log has events with IDs, and the engine of some
 * event is not known.
 */
bool log_events_read(struct judge *judge, const void *log, struct caller_engines *engines);

#endif
