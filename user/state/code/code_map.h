/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JIT code of one process, or of memory that processes share. Look-ups find the method whose
 * code was at an address at a time, the methods inlined there, and their lines. Its input is code
 * events (decode/record/code_event.h), roughly in order of time.
 *
 * A region is the code of one load. A new region ends the regions that it overlaps, with all that
 * is inlined there; earlier samples still resolve to them. Region numbers come from one counter
 * for all code maps of a run and are never reused. Later events about a region (inlined methods,
 * updates, another publisher's load) never change a region that has other holders: they enter a
 * new version of it, with a new number.
 *
 * A method is identified by publisher, engine and method id: each engine in a process counts its
 * own ids. A method may have several regions (a split function). These share the name, class and
 * module of the method's first report. They also share its source, unless their own report has one.
 * The method ends with its last region; a later load with that id is another method. A load with an
 * id and a name but no address registers a method without code. The registration ends with the
 * method's first region, or an unload.
 *
 * Several publishers may describe the same code. A load is merged into another publisher's region
 * if start and size are equal, and the times are close. They may differ by the larger of the time
 * errors (state/code/code_publisher.h), or by a second if the names are equal. The region has the
 * strings and lines of the richer publisher, where it gives any. Events of either publisher then
 * apply to it. Code that was found in memory is not merged: it ends with the load of a publisher.
 *
 * Strings are the publisher's bytes up to the first NUL; they may not be UTF-8.
 * Single-threaded.
 */
#ifndef JITBPF_STATE_CODE_CODE_MAP_H
#define JITBPF_STATE_CODE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "decode/record/code_event.h"
#include "state/code/code_account.h"
#include "state/code/code_lines.h"
#include "state/code/code_texts.h"
#include "state/space/space_map.h"

/*
 * A flag in the engine of a struct code_origin. With it, the number identifies one engine of the
 * publisher: the calling DSO, or the dump file. Without it, the number is a call site in an
 * unknown DSO, which can be any engine of the publisher.
 */
#define CODE_ENGINE_KNOWN (1ull << 63)

/*
 * Returns the engine number of an engine of one of several processes that report to the same map:
 * KNOWN, 31 bits of the process, 32 bits of the engine. From its fork on, each process counts its
 * own method ids.
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

/* The event by which a publisher describes a region. */
struct code_claim {
	struct code_origin origin; /* of its load or its last move */
	uint64_t method_id;	   /* 0: none */
	uint64_t method_key;	   /* in the code map's index of methods */
	uint64_t time_ns : 62;	   /* of that event */
	uint64_t before_run : 1;   /* loaded before the profiler ran: time_ns is not exact */
	uint64_t inherited : 1;	   /* from a region that the map had inherited */
};

_Static_assert(sizeof(struct code_claim) == 48, "there may be millions");

struct code_region {
	struct space_value value;
	uint64_t number : 48;	      /* of a method without code, the one of the next region */
	uint64_t arch : 8;	      /* 0: native, 1: 32-bit, 2: 64-bit */
	uint64_t claim_count : 3;     /* at least 1 */
	uint64_t is_version : 1;      /* see struct code_version */
	uint64_t has_texts : 1;	      /* the texts are its own, or of its account; else borrowed */
	uint64_t address, size_bytes; /* for shared memory, see state/process/shared_code.h */
	uint64_t loaded_ns;
	/* One per publisher that describes the region, the richest first. */
	const struct code_claim *claims;
	const char *name; /* "": no publisher gives one; the same holds for texts */
	/*
	 * Class, source and module, one behind the other, each with a NUL: there may be millions of
	 * regions, and few of these (code_texts.h).
	 */
	const char *texts;
	struct code_layout *layout; /* NULL: nothing is inlined, nothing was updated */
	uint32_t line_count, scope_bytes;
};

_Static_assert(JITBPF_PUBLISHER_COUNT <= 7, "claim_count has 3 bits");

static inline const char *code_region_class(const struct code_region *region)
{
	return region->texts;
}

static inline const char *code_region_source(const struct code_region *region)
{
	const char *class_name = code_region_class(region);

	return class_name + strlen(class_name) + 1;
}

static inline const char *code_region_module(const struct code_region *region)
{
	const char *source = code_region_source(region);

	return source + strlen(source) + 1;
}

/* Returns the checked scope table of a region, or NULL. */
const void *code_region_scopes(const struct code_region *region);

/* Returns the bytes of a scope table with padding: lines follow it. */
static inline uint64_t code_scopes_room(uint64_t scope_bytes)
{
	return (scope_bytes + 7) & ~7ull;
}

/* Returns the line table of a region, which is settled (code_lines.h), or NULL. */
const struct jitbpf_code_line *code_region_lines(const struct code_region *region);

/* The publisher's claim on a region, or NULL. Borrowed. */
const struct code_claim *code_region_claim(const struct code_region *region,
					   enum jitbpf_publisher publisher);

/*
 * Set *ret to the number of the DSO of the engine that generated the region. The caller of
 * code_map_apply() numbers DSOs. Returns false, with *ret unchanged, if it is not known.
 */
bool code_region_dso(const struct code_region *region, uint32_t *ret);

/* One level of inlining at a place in a region. All have the region's module. */
struct code_level {
	const char *name, *class_name, *source;
	uint64_t offset; /* from the start of the (inlined) method */
	uint32_t line;	 /* at that offset; 0: not known */
	bool inlined;	 /* into the method of the next level */
};

#define CODE_LEVELS_MAX 128

/*
 * Get the levels of inlining at an offset in a region, innermost first; the last is the region's
 * own method. Each has the line of its own table at that place: for an outer level, this is the
 * line of the call. Where no inlined method was reported, the region's scope table decides; the
 * offset of its inlined methods is 0. Returns their number, 1 to CODE_LEVELS_MAX. Strings are
 * borrowed.
 */
uint32_t code_region_levels(const struct code_region *region, uint64_t offset,
			    struct code_level levels[CODE_LEVELS_MAX]);

struct code_map;    /* see code_map_state.h */
struct code_record; /* see code_region.h */
struct code_inline; /* see code_layout.h */

/* next_number is shared by all code maps and outlives them. Returns 0 or -ENOMEM. */
int code_map_create(uint64_t *next_number, struct code_map **ret);
void code_map_destroy(struct code_map *map); /* NULL is allowed */

/*
 * Set the rules for the line tables of later loads, including those of clones. Borrowed; NULL:
 * guess the form of each table.
 */
void code_map_set_line_rules(struct code_map *map, const struct code_line_rules *rules);

/*
 * Apply an event at event->time_ns; its engine is as for CODE_ENGINE_KNOWN. Memory and counts are
 * charged to account. Events that are invalid, over budget or not understood are counted, and
 * are no error. CLOSE is ignored, since engines continue after it. All strings are copied.
 *
 * Load: enters a region, or registers a method, see above. A LATE load is in force from the time at
 * which its address range became free, or from since_ns if that is later. So samples from before
 * the report resolve to it.
 *
 * Unload with an id: ends the engine's regions of that id. If the engine has none, ends the regions
 * of another engine: the latest one with regions of that id, if its DSO or that of the event's
 * engine is unknown. Unload without an id: ends all regions that begin in its address range.
 * Neither ends a region that is newer than the event.
 *
 * Move: the region that begins at old_address ends there, and continues at address with its
 * strings, lines and layout. If there is no such region, or its size differs (event size 0: any
 * size), the code at both addresses is unknown from then on.
 *
 * Inline: enters the inlined method below the innermost region or inlined method at its address, if
 * that has the parent's id. If not, the method waits for its parent, without a time limit. Beyond
 * the budget, the methods that have waited longest are dropped and counted. A method whose parent
 * may have been lost in a gap is refused.
 *
 * Update: ends inlined methods, scopes and lines in its range. A segment (JITBPF_EVENT_SEGMENT)
 * marks its range as code, or as data, where there is no code. A segment that crosses the border of
 * an earlier one is refused. Over the budget, the region ends.
 *
 * Replaced: ends the region that begins at address with that size.
 *
 * Evicted: the regions that begin in the range are dropped, also from the time before, so their
 * memory is free at once. Earlier samples that are still to come find unknown code.
 *
 * Lines: sets line table and source of the region that begins at address. The table of a poorer
 * publisher does not replace that of a richer one.
 *
 * Returns 0 or -ENOMEM; on failure the map is unchanged.
 */
int code_map_apply(struct code_map *map, struct code_account *account,
		   const struct code_event *event);

/*
 * A gap: events of a publisher in [from_ns, to_ns] are missing for good. live holds the sequence
 * numbers, ascending, of the process's own events that describe live code at to_ns. Inherited
 * regions are not among them.
 */
struct code_gap {
	enum jitbpf_publisher publisher;
	uint64_t engine; /* only the engines of the same process; 0: all */
	uint64_t from_ns, to_ns;
	const uint64_t *live;
	size_t live_count;
};

/*
 * Apply a gap, before the events of its time are applied. Regions and inlined methods of the gap's
 * publisher that are in force at from_ns and not live end at from_ns. Loads of a time up to to_ns
 * that are applied later and are not live are not entered, but end the regions that they overlap.
 * live is copied. Returns 0 or -ENOMEM.
 */
int code_map_gap(struct code_map *map, struct code_account *account, const struct code_gap *gap);

/* Returns true if an unload of method_id would end a region of exactly the origin's engine. */
bool code_map_has_method(const struct code_map *map, uint64_t method_id,
			 const struct code_origin *origin, uint64_t time_ns);

/*
 * Returns the record of a load's method that is registered without code, or NULL. Only the strings
 * of the record are set. Borrowed until the next change.
 */
struct code_record *code_map_registered(const struct code_map *map, const struct code_event *event);

/*
 * End the registration of an event's method. Returns 1, 0 if there is none, or -ENOMEM. Not needed
 * for loads and unloads that are applied to this map: code_map_apply() ends it.
 */
int code_map_unregister(struct code_map *map, const struct code_event *event);

/* Call fn for each method without code. Stops at a non-zero result, and returns it. */
int code_map_for_each_registered(const struct code_map *map,
				 int (*fn)(void *context, const struct code_region *region),
				 void *context);

/*
 * Returns true if code in force in [start, end) was reported by another process than that of the
 * engine.
 */
bool code_map_has_others(const struct code_map *map, uint64_t start, uint64_t end, uint64_t engine);

/* Returns the region at an address at a time, or NULL. Borrowed; take a reference to keep it. */
const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns);

/* Returns the number of regions and versions that have ended and are not forgotten. */
size_t code_map_history(const struct code_map *map);

/* Returns true if a region or version has ended after time_ns. */
bool code_map_has_ended_since(const struct code_map *map, uint64_t time_ns);

/*
 * Returns the region or version that came into force at an address after the one of *time_ns. Sets
 * *time_ns to the begin of the result, and *ret_ended_ns to the end of the earlier one. Returns
 * NULL, with both unchanged, if one of the two does not exist. Borrowed.
 */
const struct code_region *code_map_successor(const struct code_map *map, uint64_t address,
					     uint64_t *time_ns, uint64_t *ret_ended_ns);

/*
 * Returns the region in force that covers address, else the first one above it, else NULL.
 * Borrowed.
 */
const struct code_region *code_map_next(const struct code_map *map, uint64_t address);

/* Call fn for each region in force, by address. Stops at a non-zero result, and returns it. */
int code_map_for_each(const struct code_map *map,
		      int (*fn)(void *context, const struct code_region *region), void *context);

/*
 * Call fn for each inlined method that waits for its parent, in order of arrival. Stops at a
 * non-zero result, and returns it.
 */
int code_map_for_each_waiting(const struct code_map *map,
			      int (*fn)(void *context, const struct code_inline *inlined),
			      void *context);

/* End all regions that are not newer than time_ns (exec). Returns 0 or -ENOMEM. */
int code_map_clear(struct code_map *map, uint64_t time_ns);

/* Create a map with the regions in force (fork), at constant cost. Returns 0 or -ENOMEM. */
int code_map_clone(struct code_map *map, struct code_map **ret);

/* Returns true if a publisher whose loads are late (JITBPF_EVENT_LATE) has loaded code. */
bool code_map_is_late(const struct code_map *map);

/* Returns true if nothing has changed the map since it was created: no event, no gap. */
bool code_map_is_untouched(const struct code_map *map);

/* Drop history that ended before time_ns. */
void code_map_forget(struct code_map *map, uint64_t time_ns);

/*
 * Returns a counter of the changes to results of look-ups, as space_map_generation(). It does not
 * count inlined methods that are added in place to a region without other holders.
 */
uint64_t code_map_generation(const struct code_map *map);

#endif
