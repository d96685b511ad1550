/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A profile as the Firefox Profiler's tables have it (types/profile.ts there):
 * a stack consists of frames, a frame belongs to a function, a function to a
 * resource and a source file; inlined frames name the symbol that they were
 * inlined into. Strings are numbers in the tables' own pool.
 */
#ifndef JITBPF_SINK_FORMAT_FIREFOX_TABLES_H
#define JITBPF_SINK_FORMAT_FIREFOX_TABLES_H

#include <stdint.h>

#include "sink/write/json.h"
#include "sink/write/row_table.h"
#include "sink/stack_table.h"

/* Numbers of the categories; what nothing is known of is in the default one. */
enum firefox_category {
	FIREFOX_OTHER,
	FIREFOX_KERNEL,
	FIREFOX_NATIVE,
	FIREFOX_JIT,
	FIREFOX_INTERPRETED,
	FIREFOX_CATEGORY_COUNT
};

/* Numbers of the subcategories, of which each category has both. */
enum firefox_subcategory { FIREFOX_NOT_INLINED, FIREFOX_INLINED };

/* A file, or a module that is none. */
struct firefox_lib {
	uint32_t path;
	uint32_t module; /* number, or ROW_NONE */
};

/* Function as code: where one begins in its lib, in which others may be inlined. */
struct firefox_symbol {
	uint64_t address;
	uint32_t lib, name;
};

/* Function as people see it. */
struct firefox_func {
	uint32_t name;
	uint32_t resource;
	uint32_t source; /* ROW_NONE: not known */
};

struct firefox_frame {
	uint32_t func;
	uint32_t lib, symbol;  /* ROW_NONE: none; a symbol is in the frame's lib */
	uint32_t inline_depth; /* 0: the outermost of its location */
	uint32_t category, subcategory;
	uint32_t line; /* ROW_NONE: not known */
};

struct firefox_tables {
	const struct view *view;
	struct string_pool *strings;
	uint32_t string_count;
	struct row_table libs;	    /* of struct firefox_lib */
	struct row_table resources; /* of uint32_t: a name */
	struct row_table sources;   /* of uint32_t: a file's name */
	struct row_table symbols, funcs, frames;
	struct stack_table stacks;
};

/* Returns 0 or -ENOMEM; firefox_tables_deinit() is due in both cases. Borrows view. */
int firefox_tables_build(struct firefox_tables *tables, const struct view *view,
			 const struct timeline *timeline);

/* The number of a string in the profile's table, added where it is new. Returns 0 or -ENOMEM. */
int firefox_tables_string(struct firefox_tables *tables, const char *s, uint32_t *ret);

/* Write all but the libs: the profile's member "shared". */
void firefox_tables_write(const struct firefox_tables *tables, struct json *json);

void firefox_tables_deinit(struct firefox_tables *tables);

#endif
