/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JIT code of one process (a code space): which method's code stood at an
 * address at a time. Fed with JIT API events in order of time.
 *
 * A region is what one load reported. A new region ends what it overlaps; older
 * samples still resolve to what stood then. Region numbers come from one
 * counter for all code maps of a run and are never reused.
 *
 * Several regions may have one method id at a time: parts of one function, or
 * methods of two engines in one process, each of which counts its own ids.
 *
 * Strings are as the engine gave them, to their first NUL: any bytes at all.
 */
#ifndef JITBPF_STATE_CODE_MAP_H
#define JITBPF_STATE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/jit_event.h"
#include "state/space_map.h"

struct code_region {
	struct space_value value;
	uint64_t number;
	uint64_t address, size_bytes;
	uint64_t loaded_ns;
	uint64_t caller; /* return address of NotifyEvent: stands for the calling DSO */
	uint32_t method_id;
	const char *name; /* "" where the engine gave none; so are the next three */
	const char *class_name;
	const char *source;
	const char *module;
	const struct jitbpf_jit_line *lines;
	uint32_t line_count;
};

/*
 * Limits of one process, on what is in memory: in force, in history, or held by
 * somebody's reference. Past one, what exceeds it is refused and counted. What a
 * fork inherits is its parent's.
 */
struct code_budget {
	uint64_t methods;    /* regions */
	uint64_t name_bytes; /* of all strings */
	uint64_t lines;	     /* entries of all line tables */
};

extern const struct code_budget code_budget_default;

/* What a code map has seen; a clone begins with zeros. */
struct code_counts {
	uint64_t loads;	     /* regions entered */
	uint64_t code_bytes; /* their sizes added up */
	uint64_t unloads;    /* events that ended at least one region */
	uint64_t unload_unknown;
	uint64_t invalid;	 /* no address, size 0, wrapping range, no id: kept out */
	uint64_t over_budget;	 /* kept out, but what it overwrote has ended */
	uint64_t not_understood; /* events of other kinds */
	uint64_t unknown_fields;
};

struct code_map; /* see code_map.c */

/* next_number is shared by all code maps and outlives them. Returns 0 or -ENOMEM. */
int code_map_create(const struct code_budget *budget, uint64_t *next_number, struct code_map **ret);
void code_map_destroy(struct code_map *map); /* NULL is allowed */

/*
 * Apply one event that happened at time_ns. What is invalid, over budget or not
 * understood is counted and is no error; a shutdown says nothing (engines go on
 * after it) and is passed over. Copies what it keeps.
 *
 * An unload with an id ends the regions of that id. Where several callers loaded
 * it, only those of the unload's own caller; failing that, those of the caller
 * that loaded last. (An engine may load and unload from different call sites:
 * callers will be told apart by their DSO once the agent says which that is.)
 * An unload without an id ends all regions that begin in its range of addresses.
 * Neither touches what is newer than time_ns.
 *
 * Returns 0 or -ENOMEM; on failure the map is unchanged.
 */
int code_map_apply(struct code_map *map, const struct jit_event *event, uint64_t time_ns);

/*
 * Events of [from_ns, to_ns] are missing for good; live holds the sequence numbers
 * of what was in force at to_ns, ascending. What is in force at from_ns and not among
 * them ends at from_ns; what is loaded within that time and not among them ends what it
 * overlaps, but is not entered. Called before the events of that time are applied;
 * live is copied. Returns 0 or -ENOMEM.
 */
int code_map_gap(struct code_map *map, uint64_t from_ns, uint64_t to_ns, const uint64_t *live,
		 size_t live_count);

/* What stood there then, or NULL. Borrowed: get a reference to keep it. */
const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns);

int code_map_clear(struct code_map *map, uint64_t time_ns);	       /* exec */
int code_map_clone(struct code_map *map, struct code_map **ret);       /* fork */
void code_map_forget(struct code_map *map, uint64_t time_ns);	       /* drop old history */
uint64_t code_map_generation(const struct code_map *map);	       /* see space_map.h */
const struct code_counts *code_map_counts(const struct code_map *map); /* borrowed */

#endif
