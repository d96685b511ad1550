/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The internals of a code map, for the files that implement it. */
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
	uint64_t first_number; /* regions with lower numbers were inherited */
	uint64_t own_number;   /* records with lower numbers may be in other maps, too */
	uint32_t publishers;   /* bits of those that loaded code here or in the parent */
	struct space_map *space;
	/*
	 * The regions in force by method id, in order of arrival; one entry for each
	 * claim. A tree of keys, so that a fork can share it. See code_methods.h.
	 */
	struct cow_tree methods;
	struct cow_tree registered; /* methods without code by id: see code_registered.c */
	struct cow_tree waiting;    /* struct code_inline by address: see code_inlines.c */
	struct cow_tree arrivals;   /* of these, in order; from_ns is the key in waiting */
	uint64_t next_arrival, waiting_bytes;
	struct cow_tree late_claims; /* on ended code: see code_merge.c; without values */
	uint64_t claims_forgotten_ns;
	uint64_t newest_ns;	   /* time of the latest load */
	uint64_t cleared_ns;	   /* of the last code_map_clear(); 0: none */
	uint64_t dead_ns;	   /* history before this time was dropped: over the budget */
	VEC(struct code_gap) gaps; /* with own copies of live */
	VEC(struct space_key) hit; /* scratch of a change: regions that may end */
	uint64_t evict_at;	   /* where the search for code to evict goes on */
};

/* Returns true for a range that is empty, wraps, or has no address. */
static inline bool code_range_is_invalid(uint64_t start, uint64_t size_bytes)
{
	return !start || !size_bytes || start + size_bytes < start;
}

/* Returns true if an event of one origin can apply to code of the other. */
static inline bool code_origin_can_be(const struct code_origin *a, const struct code_origin *b)
{
	return a->publisher == b->publisher &&
	       (a->engine == b->engine || !(a->engine & CODE_ENGINE_KNOWN) ||
		!(b->engine & CODE_ENGINE_KNOWN));
}

/* Returns the claim on a region that an event of the origin can apply to, or NULL. */
static inline const struct code_claim *code_claim_for(const struct code_region *region,
						      const struct code_origin *origin)
{
	const struct code_claim *claim = code_region_claim(region, origin->publisher);

	return claim && code_origin_can_be(origin, &claim->origin) ? claim : NULL;
}

/*
 * Returns true if an event can apply to a region at its address: the event has no method id, or
 * that of the publisher's claim. Without such a claim (its load was lost), the address decides.
 */
bool code_event_is_about(const struct code_event *event, const struct code_region *region);

/*
 * Count the bytes of a region that comes into force, or ends. Inherited regions are counted only in
 * the map of the parent.
 */
void code_map_count_live(const struct code_map *map, const struct code_record *record, bool live);
/* Count that all regions end. */
void code_map_count_ends(struct code_map *map);

/* code_map.c: gather in map->hit the regions in force in [start, end). Returns 0 or -ENOMEM. */
int code_map_gather(struct code_map *map, uint64_t start, uint64_t end);

/* code_unload.c: gather those that begin there. Returns as above. */
int code_map_gather_starting(struct code_map *map, uint64_t start, uint64_t end);

/*
 * End the gathered regions that are not newer than time_ns. Returns 0 and sets *ret_ended, or
 * -ENOMEM.
 */
int code_map_end_gathered(struct code_map *map, uint64_t time_ns, size_t *ret_ended);

/* Drop the gathered regions, also from the time before. Returns 0 or -ENOMEM. */
int code_map_drop_gathered(struct code_map *map);

/*
 * Enter a record, whose claims have their keys, from time_ns on. The regions that it
 * overlaps have been gathered, and so has `instead` (NULL: none), which ends as well.
 * Takes a reference of its own. Returns 0 or -ENOMEM.
 */
int code_map_enter(struct code_map *map, struct code_record *record, uint64_t time_ns,
		   const struct space_key *instead);

/*
 * Enter a version in place of a region in force, from from_ns on; or from the region's own time on,
 * if from_ns is earlier and space_map_replace() does not allow it. It has the claims of the region,
 * and maybe others. Returns as above.
 */
int code_map_enter_version(struct code_map *map, struct code_record *record,
			   const struct space_entry *entry, uint64_t from_ns);

/*
 * Set *ret to the next unused key of a method id in map->methods. Returns false if there are no
 * more keys.
 */
bool code_map_next_key(const struct code_map *map, uint64_t method_id, uint64_t *ret);

/*
 * A change to a region in force, as of time_ns. If the region has no other holder, and no new
 * version is requested, the change is made in place; else in a new version, which
 * code_change_enter() enters.
 */
struct code_change {
	struct code_record *record; /* held, if it is new */
	bool is_new;
	bool has_new_layout;
	uint64_t time_ns;
};

/*
 * code_change_begin() returns 0, -EDQUOT (no budget for a version) or -ENOMEM; the record of *ret
 * has a layout. Then either code_change_cancel(), or code_change_enter(), which returns 0, or
 * -ENOMEM with nothing changed.
 */
int code_change_begin(struct code_map *map, struct code_account *account,
		      const struct space_entry *entry, uint64_t time_ns, bool as_new,
		      struct code_change *ret);
int code_change_enter(struct code_map *map, struct code_change *change);
void code_change_cancel(struct code_change *change);

/* Apply an event of one kind; each is in the file of its name. Return 0 or -ENOMEM. */
int code_map_load(struct code_map *map, struct code_account *account,
		  const struct code_event *event);
int code_map_unload(struct code_map *map, struct code_account *account,
		    const struct code_event *event);
int code_map_end_replaced(struct code_map *map, struct code_account *account,
			  const struct code_event *event);
int code_map_evict(struct code_map *map, struct code_account *account,
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
 * code_load.c: find a region in force of the load's method, which the load does not overwrite.
 * Returns NULL if the load is the method's first report.
 */
struct code_record *code_map_first_part(const struct code_map *map, const struct code_event *event,
					uint64_t time_ns);

/*
 * code_registered.c: register the method of a load without an address. Returns 0 or -ENOMEM.
 */
int code_map_register(struct code_map *map, struct code_account *account,
		      const struct code_event *event);

/* Drop the methods without code that a gap ends. Returns 0 or -ENOMEM. */
int code_map_sift_registered(struct code_map *map, const struct code_gap *gap);

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
 * code_inlines.c: enter the inlined methods that wait in [start, end) and whose parents are known
 * now. is_load: a region was entered. Methods for which memory is short continue to wait.
 */
void code_map_settle(struct code_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     bool is_load);

/* Drop the waiting methods that a gap ends: their code may have ended in the gap. */
void code_map_sift_waiting(struct code_map *map, const struct code_gap *gap);

/* code_gap.c: returns true if the gap ends code of that origin, loaded before the gap's end. */
bool code_gap_ends(const struct code_gap *gap, const struct code_origin *origin);

/* Returns true if code of that origin and time has ended in a gap. */
bool code_map_is_in_gap(const struct code_map *map, const struct code_origin *origin,
			uint64_t time_ns);

/*
 * Returns true if the parent of an inlined method may have been lost in a gap. Then the method must
 * not wait, since a later method with the parent's id is another method.
 */
bool code_map_lacks_parents(const struct code_map *map, const struct code_origin *origin);
void code_map_forget_gaps(struct code_map *map, uint64_t time_ns);

#endif
