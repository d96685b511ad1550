/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads scripts of V8: their names, and the lines of positions in their sources. */
#ifndef JITBPF_RUNTIMES_V8_V8_SCRIPT_H
#define JITBPF_RUNTIMES_V8_V8_SCRIPT_H

#include "base/vec.h"
#include "runtimes/v8/v8_object.h"
#include "runtimes/v8/v8_text.h"

/* Bytes of a source that are read to count its lines. */
#define V8_SOURCE_BYTES_MAX (16u << 20)
#define V8_ENDS_MAX	    (1u << 16) /* of lines in a function; further ones are left out */

struct v8_script {
	uint64_t name;		/* a string, or another object: it has none */
	uint64_t ends;		/* array of the positions where lines end, or another object */
	struct v8_chars source; /* count 0: it is in several parts, or elsewhere */
	int32_t line;		/* of its first line, from 0 */
	int32_t id;		/* unique in a thread of V8 */
};

/* The lines of a part of a source. */
struct v8_lines {
	uint32_t first;	    /* line number of the start of the part */
	int32_t line_start; /* position where that line begins */
	VEC(int32_t) ends;  /* positions in it where lines end, ascending */
};

/* Read a script. Returns 0; -EBADMSG if it is none; or the error of the memory. */
int v8_script_read(const struct v8_heap *heap, uint64_t script, struct v8_script *ret);

/*
 * Find the lines of the positions from `start` to `end`. Returns 0 with *ret, which
 * v8_lines_deinit() ends; -EBADMSG if the positions are not in the source, or it is too long to
 * count its lines; -ENOMEM or the error of the memory.
 */
int v8_lines_find(const struct v8_heap *heap, const struct v8_script *script, int32_t start,
		  int32_t end, struct v8_lines *ret);

void v8_lines_deinit(struct v8_lines *lines);

/* Returns the line of a position; 0: not known. */
uint32_t v8_line_of(const struct v8_lines *lines, int32_t position);

#endif
