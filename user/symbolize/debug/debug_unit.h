/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One unit of a file's debug info, ready for look-ups: where its functions are,
 * what was inlined into those that were asked for, and its lines.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNIT_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNIT_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_die.h"
#include "decode/dwarf/dwarf_lines.h"
#include "decode/dwarf/dwarf_ranges.h"
#include "symbolize/debug/debug_scopes.h"
#include "symbolize/debug/debug_split.h"

#define DEBUG_UNIT_BYTES_MAX (64u << 20) /* of one unit in .debug_info */
#define DEBUG_UNIT_RANGES_MAX                                                                      \
	(2u << 20)			 /* of its functions; the same of what is in one of them   \
					  */
#define DEBUG_UNIT_SCOPES_MAX (1u << 20) /* functions; the same of what is in one of them */

/* A function, or a call that was inlined into it. */
struct debug_scope {
	uint64_t die;
	uint32_t next; /* scope behind all that are inside of this one */
	uint32_t first_range, range_count;
	uint32_t call_file, call_line; /* of an inlined call */
};

/* Depth first; the function itself comes first. */
struct debug_inlines {
	VEC(struct debug_scope) scopes;
	struct dwarf_ranges ranges;
};

struct debug_function {
	uint64_t die, end;	       /* its bytes in .debug_info */
	struct debug_inlines *inlines; /* NULL: not asked for yet, or damaged */
	bool damaged;
};

struct debug_function_range {
	uint64_t start, end;
	uint32_t function;
};

struct debug_unit {
	struct dwarf_unit header; /* with what its DIEs mean */
	struct dwarf_file *file;  /* where those are; borrowed, or split's */
	/* What has its addresses and lines: the same, unless the DIEs were split off. */
	struct dwarf_unit skeleton;
	struct dwarf_file *skeleton_file;
	struct debug_split *split; /* NULL: it has no file of its own */
	struct dwarf_abbrevs abbrevs;
	struct dwarf_lines lines;
	VEC(struct debug_function) functions;
	VEC(struct debug_function_range) ranges; /* by start */
	bool scanned;
	bool skipped; /* what is inside of functions was not looked at for others */
	struct debug_scopes scopes;
	size_t inlines_bytes; /* memory of its functions' inlines */
};

/*
 * The unit with its abbreviations, enough to read its DIEs: those of the split unit,
 * where this is a skeleton and it can be found. Returns 0, -EBADMSG, -E2BIG, -ENOMEM
 * or the blob's error.
 */
int debug_unit_create(struct dwarf_file *file, uint64_t offset, struct debug_splits *splits,
		      struct debug_unit **ret);
void debug_unit_destroy(struct debug_unit *unit);

/* Memory that it takes. */
size_t debug_unit_bytes(const struct debug_unit *unit);

/*
 * Find its functions and read its lines, once. Functions that begin before
 * text_start are those that the linker dropped. Of a unit that is damaged,
 * what came before counts. Returns 0, or -ENOMEM.
 */
int debug_unit_scan(struct debug_unit *unit, uint64_t text_start);

/*
 * Look for functions inside of others too, which are few: where an address is in none
 * of those found so far. Returns 0, -ENOENT (that was done already) or -ENOMEM.
 */
int debug_unit_scan_inside(struct debug_unit *unit, uint64_t text_start);

/* The function at an address, in a unit that was scanned; or NULL. */
struct debug_function *debug_unit_function(struct debug_unit *unit, uint64_t address);

#define DEBUG_CHAIN_MAX 64

/* The scopes around an address, innermost first. Borrowed from the unit. */
struct debug_chain {
	const struct debug_scope *scopes[DEBUG_CHAIN_MAX];
	uint32_t count;
	bool cut; /* there are more, next to the last, which is the function itself */
};

/*
 * Returns 0, -ENOENT (in no function), -EBADMSG (in one that is damaged) or
 * -ENOMEM; on failure *ret is unchanged.
 */
int debug_unit_chain(struct debug_unit *unit, uint64_t address, struct debug_chain *ret);

/* Of no more use; NULL: nothing. */
void debug_inlines_destroy(struct debug_inlines *inlines);

#endif
