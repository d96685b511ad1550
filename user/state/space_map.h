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
 * Single-threaded. Times are CLOCK_MONOTONIC ns, ranges [start, end).
 */
#ifndef JITBPF_STATE_SPACE_MAP_H
#define JITBPF_STATE_SPACE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Base of every value: counts its holders. Embed as the first member. */
struct space_value {
	uint32_t refs; /* the creator's own reference included */
	void (*free)(struct space_value *value);
};

struct space_value *space_value_get(struct space_value *value);
void space_value_put(struct space_value *value); /* NULL is allowed */

struct space_entry {
	uint64_t start, end;
	uint64_t from_ns; /* in force at [from_ns, to_ns) */
	uint64_t to_ns;	  /* UINT64_MAX: still is */
	struct space_value *value;
};

enum space_overlap {
	SPACE_END_WHOLE, /* an entry that is hit ends as a whole (code) */
	SPACE_CUT,	 /* what is not covered goes on (mappings) */
};

struct space_map; /* see space_map.c */

/* Returns 0 or -ENOMEM. */
int space_map_create(enum space_overlap overlap, struct space_map **ret);
void space_map_destroy(struct space_map *map);

/*
 * From time_ns on, [start, end) holds value; the map takes a reference of its
 * own. What it overlaps ends at time_ns. Where an entry in its way is newer
 * than time_ns (records can come late), the newer one stays, and the inserted
 * one is history from the newer one's beginning.
 *
 * Returns 0, -EINVAL (empty range), or -ENOMEM; on failure nothing is changed.
 */
int space_map_insert(struct space_map *map, uint64_t start, uint64_t end, uint64_t time_ns,
		     struct space_value *value);

/* End the entry in force that begins at start, and holds value, at time_ns. False if none. */
bool space_map_end(struct space_map *map, uint64_t start, const struct space_value *value,
		   uint64_t time_ns);

/* End everything at time_ns (exec). Returns 0 or -ENOMEM. */
int space_map_clear(struct space_map *map, uint64_t time_ns);

/* What stood at address at time_ns. False, with *ret unchanged, if nothing did. */
bool space_map_find(const struct space_map *map, uint64_t address, uint64_t time_ns,
		    struct space_entry *ret);

/* A map of its own with what is in force now. Returns 0 or -ENOMEM. */
int space_map_clone(const struct space_map *map, struct space_map **ret);

/* Drop the history that ended before time_ns. */
void space_map_forget(struct space_map *map, uint64_t time_ns);

/*
 * Counts every change to what a look-up can answer. While it stays the same, a
 * look-up at any time at or after the last change gives the same answer.
 */
uint64_t space_map_generation(const struct space_map *map);

/* Entries in force, entries in history. */
size_t space_map_size(const struct space_map *map);
size_t space_map_history(const struct space_map *map);

/* Call fn for each entry in force, by address. Stops at and returns the first non-zero. */
int space_map_for_each(const struct space_map *map,
		       int (*fn)(void *context, const struct space_entry *entry), void *context);

#endif
