/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a code map owns; shared by its files only. */
#ifndef JITBPF_STATE_CODE_CODE_MAP_STATE_H
#define JITBPF_STATE_CODE_CODE_MAP_STATE_H

#include "base/vec.h"
#include "state/code/code_layout.h"
#include "state/code/code_map.h"
#include "state/code/code_region.h"
#include "state/space/cow_tree.h"

/* Events that are missing, and what lived on behind them. */
struct code_gap {
	uint64_t from_ns, to_ns;
	uint64_t engine; /* only those of its process; 0: all */
	uint64_t *live;	 /* ascending */
	size_t live_count;
};

struct code_map {
	struct code_budget budget;
	const struct code_line_rules *line_rules; /* borrowed, or NULL */
	uint64_t *next_number;
	uint64_t first_number; /* what came with lower ones was inherited */
	uint64_t own_number;   /* records below it may be in other maps' trees as well */
	struct code_usage *usage;
	struct space_map *space;
	/*
	 * The regions in force by method id, in the order in which they came:
	 * a tree as well, so that a fork shares it. See code_methods.h.
	 */
	struct cow_tree methods;
	struct cow_tree waiting;   /* struct code_inline by address: see code_inlines.c */
	uint64_t waiting_since_ns; /* none of them came before */
	uint64_t newest_ns;	   /* of all loads */
	VEC(struct code_gap) gaps;
	struct code_counts counts;
	VEC(struct space_key) hit; /* within one change: regions that may end */
};

/* A range that is no code: empty, wrapping, or without an address. */
static inline bool code_range_is_invalid(uint64_t start, uint64_t size_bytes)
{
	return !start || !size_bytes || start + size_bytes < start;
}

/* Whether an event of engine a can be about what engine b reported. */
static inline bool code_engine_can_be(uint64_t a, uint64_t b)
{
	return a == b || !(a & CODE_ENGINE_KNOWN) || !(b & CODE_ENGINE_KNOWN);
}

/* code_map.c: gather the regions in force that [start, end) overlaps in map->hit. 0 or -ENOMEM. */
int code_map_gather(struct code_map *map, uint64_t start, uint64_t end);

/* End those gathered regions that are not newer. Returns 0 and sets *ret_ended, or -ENOMEM. */
int code_map_end_gathered(struct code_map *map, uint64_t time_ns, size_t *ret_ended);

/*
 * Enter a record, whose method_key is set, from time_ns on. What it overlaps has
 * been gathered. Takes a reference of its own. Returns 0 or -ENOMEM.
 */
int code_map_enter(struct code_map *map, struct code_record *record, uint64_t time_ns);

/*
 * The region in force at an address, ready to be changed as of time_ns: itself,
 * where nobody else can see it and nothing else asks for a new version, else a
 * new version that has still to be entered.
 */
struct code_change {
	struct code_record *record; /* held, if it is new */
	bool is_new;
	uint64_t time_ns;
};

/*
 * Returns 0, -EDQUOT (no budget for a version) or -ENOMEM. The record of *ret
 * has a layout. code_change_cancel() undoes it; code_change_enter() cannot be
 * undone, and returns 0 or -ENOMEM, with nothing changed.
 */
int code_change_begin(struct code_map *map, const struct space_entry *entry, uint64_t time_ns,
		      bool as_new, struct code_change *ret);
int code_change_enter(struct code_map *map, struct code_change *change);
void code_change_cancel(struct code_change *change);

/* code_unload.c, code_inlines.c, code_update.c: apply one event. Return 0 or -ENOMEM. */
int code_map_unload(struct code_map *map, const struct jit_event *event, uint64_t engine,
		    uint64_t time_ns);
int code_map_inline(struct code_map *map, const struct jit_event *event, uint64_t engine,
		    uint64_t time_ns);
int code_map_update(struct code_map *map, const struct jit_event *event, uint64_t engine,
		    uint64_t time_ns);

/*
 * Give the inlined methods that wait in [start, end) their place, where there is
 * one now. is_load: it is a region that has come. What finds no memory goes on waiting.
 */
void code_map_settle(struct code_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     bool is_load);

/* Drop those that have waited since before time_ns. */
void code_map_forget_waiting(struct code_map *map, uint64_t time_ns);

/* Drop those that a gap ends: they may have found a parent, and gone with it. */
void code_map_sift_waiting(struct code_map *map, const struct code_gap *gap);

/* code_gap.c: what code_map_gap() does, for the engines of one process; 0: all. */
int code_map_gap_of(struct code_map *map, uint64_t engine, uint64_t from_ns, uint64_t to_ns,
		    const uint64_t *live, size_t live_count);

/* code_gap.c: has what an event of before the gap's end said ended with it? */
bool code_gap_ends(const struct code_gap *gap, uint64_t engine, uint64_t sequence);

/* Is an event of that time and number over, and was its end not told? */
bool code_map_is_in_gap(const struct code_map *map, uint64_t engine, uint64_t time_ns,
			uint64_t sequence);

/*
 * Whether the parent of what is inlined may have been lost a while ago, and nobody knows:
 * to wait for it could be to take a later one of that id for it.
 */
bool code_map_lacks_parents(const struct code_map *map, uint64_t engine);
void code_map_forget_gaps(struct code_map *map, uint64_t time_ns);

#endif
