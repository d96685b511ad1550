/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The JIT code of one process, or of memory that processes share (a code space):
 * which method's code stood at an address at a time, with what was inlined there and
 * the lines of it. Fed with JIT API events in order of time.
 *
 * A region is what one load reported. A new region ends what it overlaps, with
 * all that was inlined there; older samples still resolve to what stood then.
 * Region numbers come from one counter for all code maps of a run and are never
 * reused. What is said of a region later (inlined methods, updates) changes no
 * region that somebody holds: from then on a new version of it, with a number of
 * its own, stands there.
 *
 * A method is (engine, method id): each engine in a process counts its own ids. It
 * may have several regions (a split function); while it has one, name, class and
 * module are those of its first report, and so is the source where a later one
 * does not give another. With its last region it ends: the same id is then
 * another method.
 *
 * Strings are as the engine gave them, to their first NUL: any bytes at all.
 */
#ifndef JITBPF_STATE_CODE_CODE_MAP_H
#define JITBPF_STATE_CODE_CODE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/record/jit_event.h"
#include "state/code/code_lines.h"
#include "state/space/space_map.h"

/*
 * Which engine an event is of: the DSO that called. Numbers with CODE_ENGINE_KNOWN
 * are the caller's to choose, and are never taken for each other; any other
 * number stands for a call site whose DSO is not known, and can be any engine's.
 */
#define CODE_ENGINE_KNOWN (1ull << 63)

/*
 * An engine of one of several processes that report to the same map, each of which
 * counts its own ids from its fork on: below KNOWN, 31 bits for the process, and 32 for
 * the DSO in it.
 */
static inline uint64_t code_engine_of(uint32_t process, uint32_t dso)
{
	return CODE_ENGINE_KNOWN | (uint64_t)(process & 0x7fffffff) << 32 | dso;
}

/* Whether two of such engines are of the same process. */
static inline bool code_engine_same_process(uint64_t a, uint64_t b)
{
	return a >> 32 == b >> 32;
}

struct code_region {
	struct space_value value;
	uint64_t number;
	uint64_t address, size_bytes; /* in shared memory: see state/process/shared_code.h */
	uint64_t loaded_ns;
	uint64_t sequence; /* of the load */
	uint64_t engine;
	uint32_t method_id;
	uint32_t arch;	  /* 0: native, 1: 32-bit, 2: 64-bit */
	const char *name; /* "" where the engine gave none; so are the next three */
	const char *class_name;
	const char *source;
	const char *module;
	const struct jitbpf_jit_line *lines; /* settled: see code_lines.h */
	uint32_t line_count;
	struct code_layout *layout; /* NULL: nothing is inlined, nothing was updated */
};

/* One level of inlining at an offset of a region. Strings are borrowed from the region. */
struct code_level {
	const char *name, *class_name, *source; /* "" if unknown */
	uint64_t offset;			/* from the start of the (inlined) method's range */
	uint32_t line;				/* at that offset; 0 if unknown */
	bool inlined;				/* into the next level */
};

#define CODE_LEVELS_MAX 128

/*
 * Writes the inlining levels at an offset of a region, innermost first; the last level
 * is the region's own method. Each line comes from the level's own line table, so an
 * outer level has the line of the call. Returns the count, 1..CODE_LEVELS_MAX.
 */
uint32_t code_region_levels(const struct code_region *region, uint64_t offset,
			    struct code_level levels[CODE_LEVELS_MAX]);

/*
 * Limits of one process, on what is in memory: in force, in history, or held by
 * somebody's reference. Past one, what exceeds it is refused and counted. What a
 * fork inherits is its parent's.
 */
struct code_budget {
	uint64_t methods;    /* regions, and versions of them */
	uint64_t name_bytes; /* of all strings */
	uint64_t lines;	     /* entries of all line tables */
	uint64_t inlines;    /* inlined ranges, and ranges that were updated */
	uint64_t waiting;    /* inlined ranges that came before their parents */
	uint32_t depth;	     /* of inlining, below CODE_LEVELS_MAX */
};

extern const struct code_budget code_budget_default;

/* What a code map has seen; a clone begins with zeros. */
struct code_counts {
	uint64_t loads;	     /* regions entered */
	uint64_t code_bytes; /* their sizes added up */
	uint64_t unloads;    /* events that ended at least one region */
	uint64_t unload_unknown;
	uint64_t inlines;	   /* inlined ranges entered */
	uint64_t inline_no_parent; /* their parent is not there, or not yet */
	uint64_t inline_outside;   /* not inside their parent: kept out */
	uint64_t inline_overlap;   /* in the way of another one of their parent: kept out */
	uint64_t updates;
	uint64_t update_unknown;  /* of code that is not there */
	uint64_t segment_overlap; /* segments across the border of an earlier one: ignored */
	uint64_t in_gap;	  /* loads, inlined ranges that are over: see code_map_gap() */
	uint64_t invalid;	  /* no address, size 0, wrapping range, no id: kept out */
	uint64_t over_budget;	  /* kept out, but what it overwrote has ended */
	uint64_t nothing_to_us;	  /* events that say nothing of code */
	uint64_t not_understood;  /* events of other kinds */
	uint64_t unknown_fields;
};

struct code_map; /* see code_map_state.h */

/* next_number is shared by all code maps and outlives them. Returns 0 or -ENOMEM. */
int code_map_create(const struct code_budget *budget, uint64_t *next_number, struct code_map **ret);
void code_map_destroy(struct code_map *map); /* NULL is allowed */

/* How to read the line tables of loads to come, clones' too. Borrowed; NULL: all are guessed at. */
void code_map_set_line_rules(struct code_map *map, const struct code_line_rules *rules);

/*
 * Apply one event of an engine that happened at time_ns. What is invalid, over
 * budget or not understood is counted and is no error; a shutdown says nothing
 * (engines go on after it) and is passed over. Copies what it keeps.
 *
 * Unload: with an id it ends the engine's regions of that id; where the engine
 * has none and it or another that has some is not known, the latest one's of
 * those. Without an id it ends all regions that begin in its range of addresses.
 * Neither touches what is newer than time_ns.
 *
 * Inlined method: stands in the region or inlined method of its parent's id that
 * is the innermost at its place, beside others of that parent. Where there is none
 * (yet), it waits for it until code_map_forget() of its time; not at all behind a gap of
 * which nothing is known to have lived on, until that is forgotten.
 *
 * Update: inlined methods and lines in its range are forgotten. Update of version 2:
 * its range is code, or data: where no code is. A segment inside an earlier one, or
 * around it, counts; one across its border does not. Where no budget is left for an
 * update, the region that it is of ends.
 *
 * Returns 0 or -ENOMEM; on failure the map is unchanged.
 */
int code_map_apply(struct code_map *map, const struct jit_event *event, uint64_t engine,
		   uint64_t time_ns);

/*
 * Events of [from_ns, to_ns] are missing for good; live holds the sequence numbers
 * of what was in force at to_ns, ascending: of this process, so that what a fork
 * inherited is not among them. What is in force at from_ns and not among them ends at from_ns; what
 * is loaded within that time and not among them ends what it overlaps, but is not entered. Both
 * goes for inlined methods as well. Called before the events of that time are applied; live is
 * copied. Returns 0 or -ENOMEM.
 */
int code_map_gap(struct code_map *map, uint64_t from_ns, uint64_t to_ns, const uint64_t *live,
		 size_t live_count);

/*
 * The same two for a map that several processes report to: what one of them says takes
 * of its own budget and counts as its own, which are those of its own map. A gap is in the
 * events of the process that the engine is of: what others reported stays.
 */
int code_map_apply_for(struct code_map *map, struct code_map *own, const struct jit_event *event,
		       uint64_t engine, uint64_t time_ns);
int code_map_gap_for(struct code_map *map, struct code_map *own, uint64_t engine, uint64_t from_ns,
		     uint64_t to_ns, const uint64_t *live, size_t live_count);

/* Whether an unload of that id would end something of just that engine. */
bool code_map_has_method(const struct code_map *map, uint32_t method_id, uint64_t engine,
			 uint64_t time_ns);

/* Whether code of another process than that of the engine is in force in [start, end). */
bool code_map_has_others(const struct code_map *map, uint64_t start, uint64_t end, uint64_t engine);

/* What code stood there then, or NULL. Borrowed: get a reference to keep it. */
const struct code_region *code_map_find(const struct code_map *map, uint64_t address,
					uint64_t time_ns);

/*
 * The region in force of the lowest address that ends above address: the one that covers
 * it, or the first behind. NULL if none. Borrowed.
 */
const struct code_region *code_map_next(const struct code_map *map, uint64_t address);

/* Call fn for each region in force, by address. Stops at and returns the first non-zero. */
int code_map_for_each(const struct code_map *map,
		      int (*fn)(void *context, const struct code_region *region), void *context);

int code_map_clear(struct code_map *map, uint64_t time_ns);	       /* exec */
int code_map_clone(struct code_map *map, struct code_map **ret);       /* fork */
void code_map_forget(struct code_map *map, uint64_t time_ns);	       /* drop old history */
const struct code_counts *code_map_counts(const struct code_map *map); /* borrowed */

/*
 * Counts every change to what a look-up can answer, but for inlined methods that are
 * added to a region which nobody holds. See space_map.h.
 */
uint64_t code_map_generation(const struct code_map *map);

#endif
