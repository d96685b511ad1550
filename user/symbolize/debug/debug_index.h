/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* An index of the units in a file's debug info, by code address and by offset. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_INDEX_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_INDEX_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"
#include "symbolize/debug/debug_unit.h"

#define DEBUG_INDEX_RANGES_MAX (4u << 20)
#define DEBUG_INDEX_UNITS_MAX  (1u << 20)

struct debug_index_unit {
	uint64_t offset, end;	 /* in .debug_info; end is 0 if only .debug_aranges was read */
	uint64_t used;		 /* time of the last use, set by debug_units */
	struct debug_unit *unit; /* NULL if not loaded; set by debug_units */
	bool failed;
};

struct debug_index_range {
	uint64_t start, end;
	uint32_t unit;
};

/* Zero-initialized is empty. */
struct debug_index {
	uint64_t text_start;
	VEC(struct debug_index_unit) units;   /* sorted by offset */
	VEC(struct debug_index_range) ranges; /* sorted by start */
	bool complete;			      /* all units were read */
};

/*
 * Index the units of .debug_aranges, or all units if that is missing or damaged. Returns 0 or
 * -ENOMEM; the caller calls debug_index_deinit().
 */
int debug_index_init(struct debug_index *ret, struct dwarf_file *file, uint64_t text_start);

/*
 * Read the headers and the first DIEs of all units. Damaged units are skipped.
 * Loaded units stay, under other numbers. Returns 0, or -ENOMEM with the index unchanged.
 */
int debug_index_complete(struct debug_index *index, struct dwarf_file *file);
void debug_index_deinit(struct debug_index *index);

/*
 * Of the units that cover an address, in order of descending start, returns unit number `number`
 * (from 0), or NULL. Units overlap where the linker folds identical code.
 */
struct debug_index_unit *debug_index_find(struct debug_index *index, uint64_t address,
					  uint32_t number);

/* Returns the unit of a complete index that contains an offset of .debug_info, or NULL. */
struct debug_index_unit *debug_index_at(struct debug_index *index, uint64_t offset);

/* Memory in use, in bytes. */
size_t debug_index_bytes(const struct debug_index *index);

#endif
