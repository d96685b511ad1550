/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JIT code of one process, or of memory that processes share (a code space):
 * which method's code was at an address at a time, what was inlined there, and its
 * lines. Fed with code events (decode/record/code_event.h) in order of time, by and
 * large.
 *
 * A region is the code that one load reported. A new region ends the regions that
 * it overlaps, with all that is inlined there; earlier samples still resolve to
 * them. Region numbers come from one counter for all code maps of a run and are
 * never reused. Later events about a region (inlined methods, updates, another
 * publisher's load) do not change a region that somebody holds: they enter a new
 * version of it, with a number of its own.
 *
 * A method is (publisher, engine, method id): each engine in a process counts its own
 * ids. It may have several regions (a split function). While it has one, name, class
 * and module are those of its first report, and so is the source where a later
 * report gives none. It ends with its last region: the same id is then another method.
 *
 * Several publishers may describe the same code. A load of the same start and size
 * as a region that another publisher loaded, within the larger of their time errors
 * (state/code/code_publisher.h), is merged: there is one region, with the strings
 * and lines of the richer publisher where it gives any. Inlined methods, updates,
 * moves and unloads of either then apply to it.
 *
 * Strings are as the publisher gave them, up to their first NUL: any bytes at all.
 * Single-threaded.
 */
#ifndef JITBPF_STATE_CODE_CODE_MAP_H
#define JITBPF_STATE_CODE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/record/code_event.h"
#include "state/code/code_account.h"
#include "state/code/code_lines.h"
#include "state/space/space_map.h"

/*
 * The engine of an event, as struct code_origin has it here. A number with
 * CODE_ENGINE_KNOWN names one engine of the publisher: the DSO that called, or the
 * dump file. Any other number is a call site whose DSO is not known: it can be any
 * engine of the publisher.
 */
#define CODE_ENGINE_KNOWN (1ull << 63)

/*
 * An engine of one of several processes that report to the same map: KNOWN, 31 bits
 * for the process, 32 bits for the engine in it. Each process counts its own method
 * ids from its fork on.
 */
static inline uint64_t code_engine_of(uint32_t process, uint32_t engine)
{
	return CODE_ENGINE_KNOWN | (uint64_t)(process & 0x7fffffff) << 32 | engine;
}

/* Returns true if two engines made by code_engine_of() are of the same process. */
static inline bool code_engine_same_process(uint64_t a, uint64_t b)
{
	return a >> 32 == b >> 32;
}

/* A publisher's description of a region. */
struct code_claim {
	struct code_origin origin; /* of its load or its last move */
	uint64_t method_id;	   /* 0: none */
	uint64_t time_ns;	   /* of that event */
	uint64_t method_key;	   /* in the code map's index of methods */
	uint64_t made;		   /* region numbers in use then: tells what was inherited */
	bool before_run;	   /* loaded before the profiler ran: time_ns is not exact */
};

struct code_region {
	struct space_value value;
	uint64_t number;
	uint64_t address, size_bytes; /* in shared memory: see state/process/shared_code.h */
	uint64_t loaded_ns;
	/* One of each publisher that describes it, the richest first; at least one. */
	const struct code_claim *claims;
	uint32_t claim_count;
	uint32_t arch;	  /* 0: native, 1: 32-bit, 2: 64-bit */
	const char *name; /* "" where no publisher gives one; so are the next three */
	const char *class_name;
	const char *source;
	const char *module;
	const struct jitbpf_code_line *lines; /* settled: see code_lines.h */
	uint32_t line_count;
	struct code_layout *layout; /* NULL: nothing is inlined, nothing was updated */
};

/* The publisher's claim on a region, or NULL. Borrowed. */
const struct code_claim *code_region_claim(const struct code_region *region,
					   enum jitbpf_publisher publisher);

/*
 * The DSO of the engine that made the region, as the caller of code_map_apply() numbers
 * DSOs. Returns false, with *ret unchanged, where it is not known.
 */
bool code_region_dso(const struct code_region *region, uint32_t *ret);

/* One level of inlining at a place of a region. All are of the region's module. */
struct code_level {
	const char *name, *class_name, *source;
	uint64_t offset; /* from where the (inlined) method begins */
	uint32_t line;	 /* there; 0: not known */
	bool inlined;	 /* into the next one */
};

#define CODE_LEVELS_MAX 128

/*
 * The levels of inlining at an offset in a region, innermost first; the last is the
 * region's own method. The line of each is its own table's at that place: in a method
 * that others are inlined into, it is the line of the call. Returns
 * 1..CODE_LEVELS_MAX. Borrowed from the region.
 */
uint32_t code_region_levels(const struct code_region *region, uint64_t offset,
			    struct code_level levels[CODE_LEVELS_MAX]);

struct code_map; /* see code_map_state.h */

/* next_number is shared by all code maps and outlives them. Returns 0 or -ENOMEM. */
int code_map_create(uint64_t *next_number, struct code_map **ret);
void code_map_destroy(struct code_map *map); /* NULL is allowed */

/*
 * Rules for the line tables of loads to come, clones' included: which modules send
 * range starts. Borrowed; NULL: guess for all.
 */
void code_map_set_line_rules(struct code_map *map, const struct code_line_rules *rules);

/*
 * Apply an event. Its time is event->time_ns; its engine is as above. Memory and counts
 * are charged to account. Events that are invalid, over budget or not understood are
 * counted and are no error; a publisher's end (CLOSE) is ignored, since engines go on
 * after it. Copies what it keeps.
 *
 * Load: see above. A LATE load is in force from when its address range became free,
 * since_ns at the earliest, so that earlier samples there resolve to it.
 *
 * Unload: with an id it ends the engine's regions of that id. If the engine has none,
 * and it or another engine with that id is not known, it ends the latest such engine's
 * regions. Without an id it ends all regions that begin in its address range. Neither
 * ends a region that is newer than the event.
 *
 * Move: the region that begins at old_address ends, and continues at address with all
 * that is known of it. Where there is none, or its size differs (event size 0: any
 * size), both places are unknown from then on.
 *
 * Inlined method: enters the region or inlined method with its parent's id that is the
 * innermost at its place, beside other children. If there is none (yet), it waits until
 * code_map_forget() of its time; it does not wait behind a gap with no live events,
 * until that is forgotten.
 *
 * Update: inlined methods and lines in its range are forgotten. A segment
 * (JITBPF_EVENT_SEGMENT) says that its range is code, or data: no code is there. A
 * segment inside an earlier one or around it counts; one across its border does not. If
 * there is no budget for an update, its region ends.
 *
 * Lines: a table and source for the region that begins at address. A poorer
 * publisher's table does not replace a richer one's.
 *
 * Returns 0 or -ENOMEM; on failure the map is unchanged.
 */
int code_map_apply(struct code_map *map, struct code_account *account,
		   const struct code_event *event);

/* All code that a publisher's engine has at a time: LOAD events, of which the last ones count
 * where some overlap. Borrowed.
 */
struct code_snapshot {
	const struct code_event *loads;
	size_t count;
};

/*
 * Apply the difference of two snapshots of one engine. Loads that are in `now` alone (by
 * start, size and name) are applied, in their order; regions of those that are in `before`
 * alone end at time_ns, if they are in force still and the publisher has a claim on them.
 * Returns 0 or -ENOMEM; on failure a part of it may have been applied.
 */
int code_map_apply_snapshot(struct code_map *map, struct code_account *account,
			    const struct code_snapshot *before, const struct code_snapshot *now,
			    uint64_t time_ns);

/*
 * A gap: events of [from_ns, to_ns] of a publisher that are missing for good. live
 * holds the sequence numbers of the events that describe live code at to_ns,
 * ascending: of this process, so that inherited regions are not among them.
 */
struct code_gap {
	enum jitbpf_publisher publisher;
	uint64_t engine; /* only the engines of the same process; 0: all */
	uint64_t from_ns, to_ns;
	const uint64_t *live;
	size_t live_count;
};

/*
 * Regions and inlined methods of the gap's publisher that are in force at from_ns and not
 * live end at from_ns. Loads in the gap that are not live end the regions that they
 * overlap, but are not entered. To be called before the events of that time are applied;
 * live is copied. Returns 0 or -ENOMEM.
 */
int code_map_gap(struct code_map *map, struct code_account *account, const struct code_gap *gap);

/* Returns true if an unload of that id would end a region of just that engine. */
bool code_map_has_method(const struct code_map *map, uint64_t method_id,
			 const struct code_origin *origin, uint64_t time_ns);

/* Returns true if code of another process than that of the engine is in force in [start, end). */
bool code_map_has_others(const struct code_map *map, uint64_t start, uint64_t end, uint64_t engine);

/* The region at an address at a time, or NULL. Borrowed: take a reference to keep it. */
const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns);

/*
 * The region in force of the lowest address that ends above address: the one that covers
 * it, or the first behind it. NULL if none. Borrowed.
 */
const struct code_region *code_map_next(const struct code_map *map, uint64_t address);

/* Call fn for each region in force, by address. Stops at and returns the first non-zero. */
int code_map_for_each(const struct code_map *map,
		      int (*fn)(void *context, const struct code_region *region), void *context);

/* All regions that are not newer end (exec). Returns 0 or -ENOMEM. */
int code_map_clear(struct code_map *map, uint64_t time_ns);

/* A map with what is in force (fork), at constant cost. Returns 0 or -ENOMEM. */
int code_map_clone(struct code_map *map, struct code_map **ret);

/* Returns true if nothing has changed the map since it was created: no event, no gap. */
bool code_map_is_untouched(const struct code_map *map);

/* Drop history that ended before time_ns, and what has waited for longer. */
void code_map_forget(struct code_map *map, uint64_t time_ns);

/*
 * Counts every change to the answers of look-ups, but for inlined methods that are
 * added to a region which nobody holds. See space_map.h.
 */
uint64_t code_map_generation(const struct code_map *map);

#endif
