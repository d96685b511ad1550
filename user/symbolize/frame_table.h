/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The names of locations: for each location its frames, innermost first. Filled
 * by whoever knows (code map, symbolizer, recording), read by the sinks.
 */
#ifndef JITBPF_SYMBOLIZE_FRAME_TABLE_H
#define JITBPF_SYMBOLIZE_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"
#include "locate/location.h"

enum frame_kind {
	FRAME_KIND_UNKNOWN,
	FRAME_KIND_KERNEL,
	FRAME_KIND_NATIVE,
	FRAME_KIND_JIT,
	FRAME_KIND_INTERPRETED,
};

#define FRAME_INLINED 1u /* flags: inlined into the next frame of the location */

/* Strings are numbers in the table's pool; 0 (the empty string): not known. */
struct frame {
	uint32_t name;	 /* demangled, as people read it */
	uint32_t module; /* path, "[kernel.kallsyms]", "[mod]", "[jit]" or the engine's, "//anon" */
	uint32_t file;
	uint32_t line;		/* 0: not known */
	uint64_t symbol_offset; /* of the location's offset, from the symbol's start */
	uint16_t kind;		/* enum frame_kind */
	uint16_t flags;
	/* What the table says for native code without a name: "[libx.so]". Not the caller's to set.
	 */
	uint32_t stand_in;
};

struct frame_table; /* see frame_table.c */

/* strings outlives the table. Returns 0 or -ENOMEM. */
int frame_table_create(struct string_pool *strings, struct frame_table **ret);
void frame_table_destroy(struct frame_table *table);

/* The pool in which the strings of the frames are. */
struct string_pool *frame_table_strings(const struct frame_table *table);

/*
 * Set the frames of a location, once. Copies.
 * Returns 0, -EINVAL (count 0), -EEXIST (it has frames; they stay) or -ENOMEM.
 */
int frame_table_set(struct frame_table *table, uint32_t location, const struct frame *frames,
		    uint32_t count);

/*
 * The frames of a location and their number; NULL and 0 while they are not
 * known. Borrowed until the next set.
 */
const struct frame *frame_table_get(const struct frame_table *table, uint32_t location,
				    uint32_t *ret_count);

#endif
