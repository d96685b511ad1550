/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a code map owns; shared by its files only. */
#ifndef JITBPF_STATE_CODE_CODE_MAP_STATE_H
#define JITBPF_STATE_CODE_CODE_MAP_STATE_H

#include "base/vec.h"
#include "state/code/code_layout.h"
#include "state/code/code_map.h"
#include "state/code/code_publisher.h"
#include "state/code/code_region.h"
#include "state/space/cow_tree.h"

struct code_map {
	const struct code_line_rules *line_rules; /* borrowed, or NULL */
	uint64_t *next_number;
	uint64_t first_number; /* regions with lower ones were inherited */
	uint64_t own_number;   /* records below it may be in other maps' trees as well */
	uint32_t publishers;   /* that have loaded code here, or in the parent: bits */
	struct space_map *space;
	/*
	 * The regions in force by method id, in the order in which they came: a tree as
	 * well, so that a fork shares it. One entry for each claim. See code_methods.h.
	 */
	struct cow_tree methods;
	struct cow_tree waiting;     /* struct code_inline by address: see code_inlines.c */
	uint64_t waiting_since_ns;   /* none of them came before */
	struct cow_tree late_claims; /* on code that had ended: see code_merge.c; no values */
	uint64_t claims_forgotten_ns;
	uint64_t newest_ns;	   /* of all loads */
	uint64_t cleared_ns;	   /* of the last code_map_clear(); 0: none */
	VEC(struct code_gap) gaps; /* live is owned */
	VEC(struct space_key) hit; /* within one change: regions that may end */
};

/* A range that is no code: empty, wrapping, or without an address. */
static inline bool code_range_is_invalid(uint64_t start, uint64_t size_bytes)
{
	return !start || !size_bytes || start + size_bytes < start;
}

/* Returns true if an event of one origin can be about the code that another reported. */
static inline bool code_origin_can_be(const struct code_origin *a, const struct code_origin *b)
{
	return a->publisher == b->publisher &&
	       (a->engine == b->engine || !(a->engine & CODE_ENGINE_KNOWN) ||
		!(b->engine & CODE_ENGINE_KNOWN));
}

/* The claim on a region that an event of the origin can be about, or NULL. */
static inline const struct code_claim *code_claim_for(const struct code_region *region,
						      const struct code_origin *origin)
{
	const struct code_claim *claim = code_region_claim(region, origin->publisher);

	return claim && code_origin_can_be(origin, &claim->origin) ? claim : NULL;
}

/*
 * Returns true if an event can be about a region: it names the method of the publisher's
 * claim, or only an address. Without a claim of the publisher (its load was lost), the
 * address has to do.
 */
bool code_event_is_about(const struct code_event *event, const struct code_region *region);

/* code_map.c: gather the regions in force that [start, end) overlaps in map->hit. 0 or -ENOMEM. */
int code_map_gather(struct code_map *map, uint64_t start, uint64_t end);

/* End those gathered regions that are not newer. Returns 0 and sets *ret_ended, or -ENOMEM. */
int code_map_end_gathered(struct code_map *map, uint64_t time_ns, size_t *ret_ended);

/*
 * Enter a record, whose claims have their keys, from time_ns on. The regions that it
 * overlaps have been gathered, and so has `instead` (NULL: none), which ends as well.
 * Takes a reference of its own. Returns 0 or -ENOMEM.
 */
int code_map_enter(struct code_map *map, struct code_record *record, uint64_t time_ns,
		   const struct space_key *instead);

/*
 * Enter a version in place of a region in force, from from_ns on if that is earlier and
 * possible (space_map_replace()), else from when that was. It has the claims of the region, and
 * maybe others. Returns as above.
 */
int code_map_enter_version(struct code_map *map, struct code_record *record,
			   const struct space_entry *entry, uint64_t from_ns);

/* A key behind those of the same method id. Returns false if there is none left. */
bool code_map_next_key(const struct code_map *map, uint64_t method_id, uint64_t *ret);

/*
 * The region in force at an address, ready to be changed as of time_ns: itself, if
 * nobody else can see it and no new version is asked for, else a new version that is
 * not entered yet.
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
int code_change_begin(struct code_map *map, struct code_account *account,
		      const struct space_entry *entry, uint64_t time_ns, bool as_new,
		      struct code_change *ret);
int code_change_enter(struct code_map *map, struct code_change *change);
void code_change_cancel(struct code_change *change);

/* Each applies events of one kind, in a file of its name. Return 0 or -ENOMEM. */
int code_map_load(struct code_map *map, struct code_account *account,
		  const struct code_event *event);
int code_map_unload(struct code_map *map, struct code_account *account,
		    const struct code_event *event);
int code_map_move(struct code_map *map, struct code_account *account,
		  const struct code_event *event);
int code_map_inline(struct code_map *map, struct code_account *account,
		    const struct code_event *event);
int code_map_update(struct code_map *map, struct code_account *account,
		    const struct code_event *event);
int code_map_lines(struct code_map *map, struct code_account *account,
		   const struct code_event *event);

/*
 * code_load.c: a region of the method of a load that names it, not one that the load
 * overwrites. NULL: the load is the method's first report.
 */
struct code_record *code_map_first_part(const struct code_map *map, const struct code_event *event,
					uint64_t time_ns);

/*
 * code_merge.c: merge a load with a region of another publisher. first is as from
 * code_map_first_part(). Returns 1 if it was merged, 0 if there is no such region, or
 * -ENOMEM.
 */
int code_map_merge(struct code_map *map, struct code_account *account,
		   const struct code_event *event, struct code_record *first);

/* Drop late claims of events before time_ns. */
void code_map_forget_claims(struct code_map *map, uint64_t time_ns);

/* code_merge.c: apply the lines and source of a LINES event to a region in force. As above. */
int code_map_replace_lines(struct code_map *map, struct code_account *account,
			   const struct space_entry *entry, const struct code_event *event);

/*
 * code_inlines.c: give the inlined methods that wait in [start, end) their place, if there is one
 * now. is_load: because a region has come. Those that find no memory go on waiting.
 */
void code_map_settle(struct code_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     bool is_load);

/* Drop those that have waited since before time_ns. */
void code_map_forget_waiting(struct code_map *map, uint64_t time_ns);

/* Drop those that a gap ends: they may have found a parent, and ended with it. */
void code_map_sift_waiting(struct code_map *map, const struct code_gap *gap);

/* code_gap.c: returns true if what an event before the gap's end described has ended with it. */
bool code_gap_ends(const struct code_gap *gap, const struct code_origin *origin);

/* Returns true if what an event of that time describes has ended, within a gap. */
bool code_map_is_in_gap(const struct code_map *map, const struct code_origin *origin,
			uint64_t time_ns);

/*
 * Returns true if the parent of an inlined method may have been lost in a gap: to wait for
 * it could be to take a later method of that id for it.
 */
bool code_map_lacks_parents(const struct code_map *map, const struct code_origin *origin);
void code_map_forget_gaps(struct code_map *map, uint64_t time_ns);

#endif
