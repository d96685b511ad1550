/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Values at addresses over time: ranges that do not overlap at any one moment.
 * Serves mappings and JIT code alike.
 *
 * An inserted entry ends the entries that it overlaps at that moment; look-ups of
 * earlier times still find them. History is kept until space_map_forget(). A clone
 * (fork) shares its parent's tree, copy on write, at constant cost; it does not
 * share the history.
 *
 * Records can come late. The profiled process decides how late, so there is a limit: a
 * change of a time before the last SPACE_LATE_MAX changes (at times up to three times
 * as many) counts as of then. That bounds the cost of one change.
 *
 * Single-threaded. Times are CLOCK_MONOTONIC ns, ranges [start, end). A change at
 * UINT64_MAX counts as one ns earlier.
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

struct space_map; /* see space_map.c */

/* Names an entry in force. */
struct space_key {
	uint64_t start;
	const struct space_value *value;
};

/* Returns 0 or -ENOMEM. */
int space_map_create(enum space_overlap overlap, struct space_map **ret);
void space_map_destroy(struct space_map *map); /* NULL is allowed */

/*
 * From time_ns on, [start, end) holds value; the map takes a reference of its
 * own. Entries that it overlaps end at time_ns. If an overlapping entry, in force or
 * in history, is newer than time_ns (records can come late), the newer one stays, and
 * the inserted one is history from the start of the newer one: as a whole, or
 * with SPACE_CUT where the newer one covers it. An entry that is older than the last
 * space_map_clear() is history from that time.
 *
 * Returns 0, -EINVAL (empty range), or -ENOMEM; on failure nothing is changed.
 */
int space_map_insert(struct space_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     struct space_value *value);

/*
 * End the entry in force that begins at start, holds value, and is not newer
 * than time_ns, at time_ns. Returns 1; 0 if there is none; or -ENOMEM: on
 * failure nothing is changed.
 */
int space_map_end(struct space_map *map, uint64_t start, const struct space_value *value,
		  uint64_t time_ns);

/*
 * Insert, and end the entry `from` (NULL: none) as space_map_end() does, at once. Only for maps
 * with SPACE_END_WHOLE, if from is given. Returns as above.
 */
int space_map_move(struct space_map *map, const struct space_key *from, uint64_t start,
		   uint64_t end, uint64_t time_ns, struct space_value *value);

/*
 * Replace the value of the entry in force that key names, as if the new value had been inserted
 * instead, at from_ns. If that is earlier than the entry, but not than another entry of its
 * range or the last space_map_clear(), it is in force from then on; else from when the entry
 * was. As far as late changes do not count, the entry stays in history. Returns 0 or -ENOMEM,
 * with nothing changed.
 */
int space_map_replace(struct space_map *map, const struct space_key *key, uint64_t from_ns,
		      struct space_value *value);

/* space_map_end() for several entries at once: all or, on failure, none. *ret_ended counts them. */
int space_map_end_each(struct space_map *map, const struct space_key *keys, size_t count,
		       uint64_t time_ns, size_t *ret_ended);

/* End everything that is not newer than time_ns, at time_ns (exec). Returns 0 or -ENOMEM. */
int space_map_clear(struct space_map *map, uint64_t time_ns);

/*
 * Find the entry at address at time_ns. Returns false, with *ret unchanged, if there was
 * none. The cost grows with the entries that ended since time_ns, unless the entry is
 * still in force.
 */
bool space_map_find(const struct space_map *map, uint64_t address, uint64_t time_ns,
		    struct space_entry *ret);

/*
 * The entry in force of the lowest address that ends above address: the one
 * that covers it, or the first behind. False, with *ret unchanged, if none.
 */
bool space_map_next(const struct space_map *map, uint64_t address, struct space_entry *ret);

/*
 * The earliest time from which [start, end) has been free until time_ns: not before
 * floor_ns, the last space_map_clear(), or the time that late changes count as of. It is
 * time_ns if the range is not free then.
 */
uint64_t space_map_free_since(const struct space_map *map, uint64_t start, uint64_t end,
			      uint64_t time_ns, uint64_t floor_ns);

/* Make a map with the entries that are in force now. Returns 0 or -ENOMEM. */
int space_map_clone(struct space_map *map, struct space_map **ret);

/* Drop the history that ended before time_ns. */
void space_map_forget(struct space_map *map, uint64_t time_ns);

/*
 * Counts every change to what a look-up can answer, but for forgetting. While it
 * stays the same, a look-up at any time at or after the last change gives the
 * same answer.
 */
uint64_t space_map_generation(const struct space_map *map);

/* Entries in force, entries in history. */
size_t space_map_size(const struct space_map *map);
size_t space_map_history(const struct space_map *map);

/* Call fn for each entry in force, by address. Stops at and returns the first non-zero. */
int space_map_for_each(const struct space_map *map,
		       int (*fn)(void *context, const struct space_entry *entry), void *context);

/*
 * The same for the entries in history that ended last, SPACE_LATE_MAX at most, from the last
 * one backwards.
 */
int space_map_for_each_past(const struct space_map *map,
			    int (*fn)(void *context, const struct space_entry *entry),
			    void *context);

#endif
