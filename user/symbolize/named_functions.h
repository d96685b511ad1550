/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The functions of a frame table. What a user takes for one function can have many names and
 * places: it is interpreted, compiled twice, inlined, split into a hot and a cold part. Its
 * identity is kind, module, name and source file, without what differs between those. A function of
 * a runtime has its own name; how it ran is its tier.
 *
 * A name is that of engine_to_function() for JIT code, and of native_to_function() else. Two
 * different functions never share an identity, as far as names and files tell. The source file of
 * native code is that of a line, which can be the file of another function, so it takes no part.
 * But static functions of one name are told apart by the files that declare them, as far as those
 * are known. A function that is not static has no such file.
 */
#ifndef JITBPF_SYMBOLIZE_NAMED_FUNCTIONS_H
#define JITBPF_SYMBOLIZE_NAMED_FUNCTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/room.h"
#include "base/string_pool.h"
#include "base/vec.h"
#include "engines/code_tier.h"

#define NAMED_FUNCTION_BYTES 40 /* with its place in the index */
#define NAMED_FUNCTION_NONE  UINT32_MAX

/* Strings are numbers in the pool of the table. */
struct named_function {
	uint32_t name;	 /* of code without a name: its stand-in, "[libx.so]", or 0 */
	uint32_t module; /* whole path */
	/*
	 * of JIT code and runtimes: its source file, unless the name has it; of a static native
	 * function: the file that declares it; else 0
	 */
	uint32_t file;
	uint16_t kind;	/* enum frame_kind; of interpreted code: FRAME_KIND_JIT */
	uint16_t named; /* 0: code without a name */
};

/* Zero-initialized is empty. */
struct named_functions {
	VEC(struct named_function) functions; /* by number */
	struct index_map index;
	struct room room; /* NAMED_FUNCTION_BYTES for a new one */
};

/* Code whose function is wanted. */
struct named_code {
	uint32_t name, module, file; /* strings; name 0: none */
	uint32_t decl_file;	     /* string; of native code, 0: not static, or not known */
	uint32_t stand_in;	     /* string; instead of a name */
	uint16_t kind;		     /* enum frame_kind */
};

/*
 * Find or add the function of code. strings: the pool of all numbers, which gets names of
 * functions. Without room for a name of its own, a function has the name of the code. Returns 0
 * with *ret set, to NAMED_FUNCTION_NONE if the function has no room, and *ret_tier set to the tier
 * by the name; or -ENOMEM.
 */
int named_functions_add(struct named_functions *table, struct string_pool *strings,
			const struct named_code *code, uint32_t *ret, enum code_tier *ret_tier);

void named_functions_deinit(struct named_functions *table);

#endif
