/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The frames of locations: for each location an array of frames, innermost
 * first. The code map, the symbolizer or a recording fill the table; the sinks
 * read it.
 */
#ifndef JITBPF_SYMBOLIZE_FRAME_TABLE_H
#define JITBPF_SYMBOLIZE_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/string_pool.h"
#include "base/vec.h"
#include "engines/code_tier.h"
#include "locate/location.h"
#include "symbolize/named_functions.h"

/* flags */
#define FRAME_INLINED  1u /* inlined into the next frame of the location */
#define FRAME_COMPILED 2u /* of a function of a runtime: it ran as machine code */

/* Strings are numbers in the table's pool; 0 (the empty string) if unknown. */
struct frame {
	uint32_t name;	 /* demangled */
	uint32_t module; /* path, "[kernel.kallsyms]", "[mod]", "[jit]" or the engine's, "//anon" */
	uint32_t file;
	uint32_t line;		/* 0 if unknown */
	uint64_t symbol_offset; /* distance of the location from the symbol's start, in bytes */
	uint16_t kind;		/* enum frame_kind */
	uint8_t flags;
	uint8_t tier; /* enum code_tier; set by the table */
	union {
		/* of a frame of the table: number, or NAMED_FUNCTION_NONE */
		uint32_t function;
		/* of a frame to set, of a static function of native code: the file that declares it
		 */
		uint32_t decl_file;
	};
};

struct frame_table; /* see frame_table.c */

/* strings is borrowed and must outlive the table. Returns 0 or -ENOMEM. */
int frame_table_create(struct string_pool *strings, struct frame_table **ret);
void frame_table_destroy(struct frame_table *table);

/* Limit new functions (struct named_functions); *room is copied. */
void frame_table_set_room(struct frame_table *table, const struct room *room);

/*
 * Returns the function of a frame of the table, or NULL if there was no room for it. Native code
 * without a name has the function of its file, with the name "[libx.so]". Functions of a runtime
 * without a name are one, "[unknown python function]". Borrowed until the next change.
 */
const struct named_function *frame_table_function(const struct frame_table *table,
						  const struct frame *frame);

/*
 * Returns what a frame of the table was set with as decl_file: a string, or 0. A copy of a frame,
 * to set it in a table, needs it, since a frame of the table has the number of its function there.
 */
uint32_t frame_table_decl_file(const struct frame_table *table, const struct frame *frame);

/* Returns the number of functions. */
uint32_t frame_table_function_count(const struct frame_table *table);

/*
 * Set the frames of a location, once. The frames are copied, and replace a stand-in. Returns 0,
 * -EINVAL (count is 0), -EEXIST (the location has frames already, which are kept) or -ENOMEM.
 */
int frame_table_set(struct frame_table *table, uint32_t location, const struct frame *frames,
		    uint32_t count);

/*
 * Set the stand-in of a location: the frame that is shown until its frames are known. The frame is
 * copied. No effect if the location has frames or a stand-in. Returns 0 or -ENOMEM.
 */
int frame_table_set_stand_in(struct frame_table *table, uint32_t location,
			     const struct frame *frame);

/*
 * Returns the frames of a location, or its stand-in, and sets *ret_count to their
 * number. Returns NULL and sets 0 if it has neither. Borrowed until the next change.
 */
const struct frame *frame_table_get(const struct frame_table *table, uint32_t location,
				    uint32_t *ret_count);

/* Returns true if the location has frames, other than a stand-in. */
bool frame_table_is_named(const struct frame_table *table, uint32_t location);

/*
 * Returns the locations whose frames were set, in the order of these calls, and sets *ret_count to
 * their number. Borrowed until the next change.
 */
const uint32_t *frame_table_named(const struct frame_table *table, size_t *ret_count);

#endif
