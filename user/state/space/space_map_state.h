/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The internals of a space map, for the files that implement it. */
#ifndef JITBPF_STATE_SPACE_SPACE_MAP_STATE_H
#define JITBPF_STATE_SPACE_SPACE_MAP_STATE_H

#include "state/space/cow_tree.h"
#include "state/space/space_history.h"
#include "state/space/space_map.h"
#include "state/space/space_pieces.h"

struct space_map {
	enum space_overlap overlap;
	struct cow_tree tree; /* in force */
	struct space_history history;
	uint64_t lowest, highest; /* all entries ever were in [lowest, highest) */
	uint64_t cleared_ns;	  /* time of the last space_map_clear() */
	uint64_t generation;
	uint64_t newest_ns; /* time of the latest change */
	uint64_t recent_ns; /* newest_ns when `changes` was last reset */
	uint64_t limit_ns;  /* the recent_ns before that; older changes take effect at it */
	size_t changes;
	struct space_pieces pieces; /* scratch of space_map_insert(): the inserted range */
};

/* Returns the time at which a change takes effect: see SPACE_LATE_MAX. UINT64_MAX is no time. */
static inline uint64_t space_map_within_reach(const struct space_map *map, uint64_t time_ns)
{
	if (time_ns == UINT64_MAX)
		time_ns--;
	return time_ns > map->limit_ns ? time_ns : map->limit_ns;
}

static inline struct space_entry space_entry_of(const struct cow_item *item)
{
	return (struct space_entry){.start = item->start,
				    .end = item->end,
				    .from_ns = item->from_ns,
				    .to_ns = UINT64_MAX,
				    .value = item->value};
}

#endif
