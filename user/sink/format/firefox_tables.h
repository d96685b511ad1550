/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The tables of the Firefox Profiler's format (types/profile.ts there). A stack consists of frames;
 * a frame belongs to a function, and a function to a resource and a source file. An inlined frame
 * refers to the symbol that it was inlined into. Strings are numbers in the tables' own pool.
 */
#ifndef JITBPF_SINK_FORMAT_FIREFOX_TABLES_H
#define JITBPF_SINK_FORMAT_FIREFOX_TABLES_H

#include <stdint.h>

#include "sink/write/json.h"
#include "sink/write/row_table.h"
#include "sink/timeline/stack_table.h"

/* A file, or a module without a file. */
struct firefox_lib {
	uint32_t path;
	uint32_t module; /* number, or ROW_NONE */
};

/* A function in a lib, by its start address; other functions may be inlined into it. */
struct firefox_symbol {
	uint64_t address;
	uint32_t lib, name;
};

/* A function by name. */
struct firefox_func {
	uint32_t name;
	uint32_t resource;
	uint32_t source; /* ROW_NONE: not known */
};

struct firefox_frame {
	uint32_t func;
	uint32_t lib, symbol;		/* ROW_NONE: none; the symbol is in the lib */
	uint32_t inline_depth;		/* 0: the outermost of its location */
	uint32_t category, subcategory; /* kind of frame; enum code_tier: each category has all */
	uint32_t line;			/* ROW_NONE: not known */
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

/* Borrows view. Returns 0 or -ENOMEM; the caller calls firefox_tables_deinit() in both cases. */
int firefox_tables_build(struct firefox_tables *tables, const struct view *view,
			 const struct timeline *timeline);

/* Find or add a string of the profile's table. Returns 0 with its number in *ret, or -ENOMEM. */
int firefox_tables_string(struct firefox_tables *tables, const char *s, uint32_t *ret);

/* Write all tables except libs, as the profile's member "shared". */
void firefox_tables_write(const struct firefox_tables *tables, struct json *json);

void firefox_tables_deinit(struct firefox_tables *tables);

#endif
