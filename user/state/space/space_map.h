/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What stood at an address at a time: values over address ranges that do not
 * overlap at any one moment. Serves mappings and JIT code alike.
 *
 * Inserting over something ends it at that moment; look-ups of earlier times
 * still find it. History is kept until space_map_forget(). A clone (fork)
 * shares its parent's tree, copy on write, so that it costs the same however
 * much is mapped; it does not share the history.
 *
 * Records can come late. How late they say is up to the profiled process, so
 * that there is a limit: a change of a time before the last SPACE_LATE_MAX
 * changes (at times up to three times as many) counts as of then. That bounds
 * what one change can cost.
 *
 * Single-threaded. Times are CLOCK_MONOTONIC ns, ranges [start, end). UINT64_MAX
 * is no time that a change can have: it counts as the one before.
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

/* Returns 0 or -ENOMEM. */
int space_map_create(enum space_overlap overlap, struct space_map **ret);
void space_map_destroy(struct space_map *map); /* NULL is allowed */

/*
 * From time_ns on, [start, end) holds value; the map takes a reference of its
 * own. What it overlaps ends at time_ns. Where an entry that is or was in its
 * way is newer than time_ns (records can come late), the newer one stays, and
 * the inserted one is history from the newer one's beginning: as a whole, or
 * with SPACE_CUT as far as the newer one covers it. What is older than the last
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

struct space_key {
	uint64_t start;
	const struct space_value *value;
};

/* The same for several entries at once: all or, on failure, none. *ret_ended counts them. */
int space_map_end_each(struct space_map *map, const struct space_key *keys, size_t count,
		       uint64_t time_ns, size_t *ret_ended);

/* End everything that is not newer than time_ns, at time_ns (exec). Returns 0 or -ENOMEM. */
int space_map_clear(struct space_map *map, uint64_t time_ns);

/*
 * What stood at address at time_ns. False, with *ret unchanged, if nothing did.
 * Costs what has ended since time_ns, where that is not in force still.
 */
bool space_map_find(const struct space_map *map, uint64_t address, uint64_t time_ns,
		    struct space_entry *ret);

/*
 * The entry in force of the lowest address that ends above address: the one
 * that covers it, or the first behind. False, with *ret unchanged, if none.
 */
bool space_map_next(const struct space_map *map, uint64_t address, struct space_entry *ret);

/* A map of its own with what is in force now. Returns 0 or -ENOMEM. */
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

#endif
