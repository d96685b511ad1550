/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One loaded unit of a file's debug info: address ranges of functions, inlined
 * calls of requested functions, and the line table.
 */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNIT_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_UNIT_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_die.h"
#include "decode/dwarf/dwarf_lines.h"
#include "decode/dwarf/dwarf_ranges.h"
#include "symbolize/debug/debug_scopes.h"
#include "symbolize/debug/debug_split.h"

#define DEBUG_UNIT_BYTES_MAX (64u << 20) /* limit of one unit in .debug_info */
/* Limits of the functions of a unit and of their ranges; also of the scopes in one function. */
#define DEBUG_UNIT_RANGES_MAX (2u << 20)
#define DEBUG_UNIT_SCOPES_MAX (1u << 20)

/* A function, or an inlined call in it. */
struct debug_scope {
	uint64_t die;
	uint32_t next; /* index after the last scope inside this one */
	uint32_t first_range, range_count;
	uint32_t call_file, call_line; /* call site of an inlined call */
};

/* Scopes in preorder; the first is the function itself. */
struct debug_inlines {
	VEC(struct debug_scope) scopes;
	struct dwarf_ranges ranges;
};

struct debug_function {
	uint64_t die, end;	       /* range in .debug_info */
	struct debug_inlines *inlines; /* NULL if not requested yet, or damaged */
	bool damaged;
};

struct debug_function_range {
	uint64_t start, end;
	uint32_t function;
};

struct debug_unit {
	struct dwarf_unit header; /* header of the unit with the DIEs */
	struct dwarf_file *file;  /* file with the DIEs; borrowed, or owned by split */
	/* The unit with the addresses and lines; differs from header if the DIEs were split off. */
	struct dwarf_unit skeleton;
	struct dwarf_file *skeleton_file;
	struct debug_split *split; /* .dwo file of the unit; NULL if there is none of its own */
	struct dwarf_abbrevs abbrevs;
	struct dwarf_lines lines;
	VEC(struct debug_function) functions;
	VEC(struct debug_function_range) ranges; /* sorted by start */
	bool scanned, lines_read;
	bool skipped; /* functions inside other functions were not searched */
	struct debug_scopes scopes;
	size_t inlines_bytes; /* memory of all functions' inlines */
};

/*
 * Load a unit and its abbreviations. For a skeleton, the DIEs are those of the
 * split unit if that can be found. Returns 0, -EBADMSG, -E2BIG, -ENOMEM or the
 * blob's error.
 */
int debug_unit_create(struct dwarf_file *file, uint64_t offset, struct debug_splits *splits,
		      struct debug_unit **ret);
void debug_unit_destroy(struct debug_unit *unit);

/* Memory in use, in bytes. */
size_t debug_unit_bytes(const struct debug_unit *unit);

/*
 * Find the functions and read the line table, once. Functions below text_start
 * were discarded by the linker. In a damaged unit, the part before the damage
 * counts. Returns 0 or -ENOMEM.
 */
int debug_unit_scan(struct debug_unit *unit, uint64_t text_start);

/* Read the line table, once. A damaged one is empty. Returns 0 or -ENOMEM. */
int debug_unit_read_lines(struct debug_unit *unit);

/*
 * Also search for functions inside other functions, which are rare. Call it if
 * an address is in no known function. Returns 0, -ENOENT (done before) or
 * -ENOMEM.
 */
int debug_unit_scan_inside(struct debug_unit *unit, uint64_t text_start);

/* Returns the function at an address, or NULL. The unit must be scanned. */
struct debug_function *debug_unit_function(struct debug_unit *unit, uint64_t address);

#define DEBUG_CHAIN_MAX 64

/* The scopes that contain an address, innermost first. Borrowed from the unit. */
struct debug_chain {
	const struct debug_scope *scopes[DEBUG_CHAIN_MAX];
	uint32_t count;
	bool cut; /* the outermost inlined calls were dropped; the last scope is the function */
};

/*
 * Find the scopes at an address. Returns 0, -ENOENT (in no function), -EBADMSG
 * (the function is damaged) or -ENOMEM; on failure *ret is unchanged.
 */
int debug_unit_chain(struct debug_unit *unit, uint64_t address, struct debug_chain *ret);

/* NULL is allowed. */
void debug_inlines_destroy(struct debug_inlines *inlines);

#endif
