/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A journal's log in a form in which it can be judged: events that know each
 * other by their place in the log, their ranges as cells of address space, and
 * a table of keys.
 */
#ifndef JITBPF_SHIM_LOG_EVENTS_H
#define JITBPF_SHIM_LOG_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "jitapi-shim/range_marks.h"
#include "jitapi-shim/scratch.h"

#define LOG_NONE UINT32_MAX

enum log_kind {
	LOG_NOTHING, /* says nothing of code */
	LOG_LOAD,
	LOG_INLINED,
	LOG_UNLOAD_ID,
	LOG_UNLOAD_RANGE,
	LOG_CHANGE, /* of the load at its first address */
};

struct log_event {
	uint32_t from, to; /* its range, in cells; empty: it has none */
	uint32_t id, parent_id;
	uint32_t group;
	uint32_t overwriter; /* the first load after it on part of its range */
	uint32_t ender;	     /* what ended it; LOG_NONE: it is in force */
	uint32_t host;	     /* of an inlined one and of a change: the load that it belongs to */
	uint32_t part_of;    /* another load of its method that was in force when it came */
	/* Chains, from heads in other events and in keys. */
	uint32_t next_overwritten, next_hosted, next;
	uint32_t overwritten, hosted;
	uint8_t kind;
	bool old; /* too old for one that is inlined to wait for its parent any more */
};

/* What is known of an id within a group of callers, or within a host. */
struct log_key {
	uint32_t id;
	uint32_t scope;	  /* the group, or LOG_HOST and a load; 0: a free slot */
	uint32_t events;  /* head: loads of that id that may be in force; or what is inlined */
	uint32_t waiting; /* head: inlined ones that wait for such a parent */
};

#define LOG_HOST 0x80000000u

struct log_events {
	struct log_event *events;
	uint32_t count;
	struct range_marks marks; /* none set */
	uint32_t *starts;	  /* by cell: the load in force that begins there */
	struct log_key *keys;
	uint32_t key_mask;
	bool unsure; /* which callers are one engine */
};

/* What it takes from the scratch for so many entries. */
uint64_t log_events_bytes(uint32_t entry_count);

/* Read entry_count entries at log, whole and well-formed. */
void log_events_read(struct log_events *log, const void *entries, uint32_t entry_count,
		     struct scratch *scratch);

/* The key, which is made where there is none yet. */
struct log_key *log_events_key(const struct log_events *log, uint32_t id, uint32_t scope);

static inline uint32_t log_hash(uint32_t id, uint32_t scope)
{
	return (uint32_t)(((uint64_t)scope << 32 | id) * 0x9e3779b97f4a7c15ull >> 32);
}

#endif
