/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which unit of a file's debug info an address is in, and which one an offset. */
#ifndef JITBPF_SYMBOLIZE_DEBUG_DEBUG_INDEX_H
#define JITBPF_SYMBOLIZE_DEBUG_DEBUG_INDEX_H

#include "base/vec.h"
#include "decode/dwarf/dwarf_file.h"
#include "symbolize/debug/debug_unit.h"

#define DEBUG_INDEX_RANGES_MAX (4u << 20)
#define DEBUG_INDEX_UNITS_MAX  (1u << 20)

struct debug_index_unit {
	uint64_t offset, end;	 /* in .debug_info */
	uint64_t used;		 /* when it was last: the owner's */
	struct debug_unit *unit; /* NULL: not read at present; the owner's */
	bool failed;
};

struct debug_index_range {
	uint64_t start, end;
	uint32_t unit;
};

/* Zero-initialized is empty. */
struct debug_index {
	uint64_t text_start;
	VEC(struct debug_index_unit) units;   /* by offset */
	VEC(struct debug_index_range) ranges; /* by start */
};

/*
 * Go through the units' headers and what their first DIEs cover. What is
 * damaged is left out. Returns 0 or -ENOMEM; the caller deinits *ret.
 */
int debug_index_init(struct debug_index *ret, struct dwarf_file *file, uint64_t text_start);
void debug_index_deinit(struct debug_index *index);

/*
 * The number'th unit (0 on) that covers an address, the latest start first; or
 * NULL. Units overlap where a linker folded equal functions.
 */
struct debug_index_unit *debug_index_find(struct debug_index *index, uint64_t address,
					  uint32_t number);

/* The unit that an offset of .debug_info is in, or NULL. */
struct debug_index_unit *debug_index_at(struct debug_index *index, uint64_t offset);

size_t debug_index_bytes(const struct debug_index *index);

#endif
