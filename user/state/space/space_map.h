/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values at addresses over time: for mappings, and for JIT code. At any one time, the ranges do
 * not overlap. An entry is in force from its insertion until its end, and then in history.
 *
 * An inserted entry ends the entries that it overlaps at that time; look-ups of earlier times
 * still find those. History is kept until space_map_forget(). A clone (fork) shares its parent's
 * tree, copy on write, at constant cost; it does not share the history.
 *
 * Records can come late, and a profiled process can make them arbitrarily late. To bound the cost
 * of a change, lateness is limited: a change that is older than the last SPACE_LATE_MAX changes (or
 * up to three times as many) takes effect at the time of the oldest of these.
 *
 * Single-threaded. Times are CLOCK_MONOTONIC ns, ranges [start, end). A change at UINT64_MAX
 * takes effect one ns earlier.
 */
#ifndef JITBPF_STATE_SPACE_SPACE_MAP_H
#define JITBPF_STATE_SPACE_SPACE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "state/space/space_history.h"
#include "state/space/space_pieces.h"
#include "state/space/space_value.h"

#define SPACE_LATE_MAX 1024 /* entries that began or ended */

struct space_map; /* see space_map_state.h */

/* Identifies an entry in force. */
struct space_key {
	uint64_t start;
	const struct space_value *value;
};

/* Returns 0 or -ENOMEM. */
int space_map_create(enum space_overlap overlap, struct space_map **ret);
void space_map_destroy(struct space_map *map); /* NULL is allowed */

/*
 * Enter value at [start, end) from time_ns on. The map takes a reference of its own. Entries that
 * the new one overlaps end at time_ns. If the record is late, an overlapping entry, in force or in
 * history, can be newer than time_ns. It stays. The inserted entry ends when the newer one begins:
 * as a whole, or with SPACE_CUT only where the newer one covers it. An entry that is older than the
 * last space_map_clear() ends at that time.
 *
 * Returns 0, -EINVAL (empty range), or -ENOMEM; on failure nothing is changed.
 */
int space_map_insert(struct space_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     struct space_value *value);

/*
 * End, at time_ns, the entry in force that begins at start and holds value, unless it is newer
 * than time_ns. Returns 1; 0 if there is no such entry; or -ENOMEM with nothing changed.
 */
int space_map_end(struct space_map *map, uint64_t start, const struct space_value *value,
		  uint64_t time_ns);

/*
 * space_map_insert(), and space_map_end() of the entry `from` (NULL: none), as one change. `from`
 * is allowed only in maps with SPACE_END_WHOLE. Returns 0, -EINVAL or -ENOMEM, as
 * space_map_insert().
 */
int space_map_move(struct space_map *map, const struct space_key *from, uint64_t start,
		   uint64_t end, uint64_t time_ns, struct space_value *value);

/*
 * Replace the value of the entry in force that key identifies, as if the new value had been
 * inserted instead. The new value is in force from the entry's own time; or from from_ns, if
 * that is earlier and not before another entry of the range or the last space_map_clear(). If the
 * entry's own time is beyond the limit for late changes (SPACE_LATE_MAX), the old value stays in
 * history for the time before that limit. Returns 0, or -ENOMEM with nothing changed.
 */
int space_map_replace(struct space_map *map, const struct space_key *key, uint64_t from_ns,
		      struct space_value *value);

/*
 * space_map_end() for several entries: all or, on failure, none. *ret_ended is the number that
 * ended. Returns 0 or -ENOMEM.
 */
int space_map_end_each(struct space_map *map, const struct space_key *keys, size_t count,
		       uint64_t time_ns, size_t *ret_ended);

/*
 * Remove entries that are in force, also from the time before: look-ups of any time do not find
 * them. All or, on failure, none. Returns 0 or -ENOMEM.
 */
int space_map_drop_each(struct space_map *map, const struct space_key *keys, size_t count);

/* Allocate what space_map_clear() of all entries needs: it cannot fail then. Returns 0 or -ENOMEM.
 */
int space_map_reserve_clear(struct space_map *map);

/* End all entries that are not newer than time_ns, at time_ns (exec). Returns 0 or -ENOMEM. */
int space_map_clear(struct space_map *map, uint64_t time_ns);

/*
 * Find the entry at address at time_ns. Returns false, with *ret unchanged, if there was
 * none. The cost grows with the entries that ended since time_ns, unless the entry is
 * still in force.
 */
bool space_map_find(const struct space_map *map, uint64_t address, uint64_t time_ns,
		    struct space_entry *ret);

/* Returns true if an entry has ended after time_ns. */
bool space_map_has_ended_since(const struct space_map *map, uint64_t time_ns);

/*
 * Find the first entry at address that was in force from time_ns on or later. Returns false, with
 * *ret unchanged, if there is none. Costs as space_map_find().
 */
bool space_map_find_from(const struct space_map *map, uint64_t address, uint64_t time_ns,
			 struct space_entry *ret);

/*
 * Find the entry in force that covers address, else the first one above it. Returns false,
 * with *ret unchanged, if there is none.
 */
bool space_map_next(const struct space_map *map, uint64_t address, struct space_entry *ret);

/*
 * Returns the earliest time from which [start, end) has been free until time_ns, or time_ns if
 * the range is not free then. The result is never before floor_ns, the last space_map_clear(),
 * or the earliest time at which a late change takes effect.
 */
uint64_t space_map_free_since(const struct space_map *map, uint64_t start, uint64_t end,
			      uint64_t time_ns, uint64_t floor_ns);

/* Create a map with the entries that are in force now. Returns 0 or -ENOMEM. */
int space_map_clone(struct space_map *map, struct space_map **ret);

/* Drop the history that ended before time_ns. */
void space_map_forget(struct space_map *map, uint64_t time_ns);

/* Returns true if the map has entries that are not in force any more. */
bool space_map_has_history(const struct space_map *map);

/*
 * Returns a counter of the changes to the map, except for space_map_forget(). While it stays
 * the same, a look-up of any time at or after the last change gives the same result.
 */
uint64_t space_map_generation(const struct space_map *map);

/* Number of entries in force, and of entries in history. */
size_t space_map_size(const struct space_map *map);
size_t space_map_history(const struct space_map *map);

/* Call fn for each entry in force, by address. Stops at a non-zero result, and returns it. */
int space_map_for_each(const struct space_map *map,
		       int (*fn)(void *context, const struct space_entry *entry), void *context);

/* space_map_for_each() for the SPACE_LATE_MAX entries in history that ended last, latest first. */
int space_map_for_each_past(const struct space_map *map,
			    int (*fn)(void *context, const struct space_entry *entry),
			    void *context);

#endif
