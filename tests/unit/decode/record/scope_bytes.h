/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The bytes of small scope tables, valid or not. */
#ifndef JITBPF_TESTS_UNIT_DECODE_RECORD_SCOPE_BYTES_H
#define JITBPF_TESTS_UNIT_DECODE_RECORD_SCOPE_BYTES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "uapi/scope_table.h"

struct scope_parts {
	struct jitbpf_scope_table counts;
	struct jitbpf_scope_method methods[4];
	struct jitbpf_scope scopes[4];
	struct jitbpf_scope_range ranges[8];
	const char *strings;
};

/*
 * fill() calls helper(), which calls leaf(). [0, 16): fill, line 9; [16, 32): helper, line 3;
 * [32, 40): leaf; [40, 48): not known; from 48: fill.
 */
static inline struct scope_parts scope_parts_example(void)
{
	return (struct scope_parts){
		.counts = {.method_count = 3,
			   .scope_count = 4,
			   .range_count = 5,
			   .string_bytes = 25},
		.methods = {{1, 0, 6}, {11, 0, 6}, {18, 23, 0}},
		.scopes = {{JITBPF_NO_SCOPE, 1, 0, 5, 9},
			   {0, 2, 1, 2, 3},
			   {1, 3, 2, -1, 0},
			   {JITBPF_NO_SCOPE, 1, 0, 20, 12}},
		.ranges = {{0, 0}, {16, 1}, {32, 2}, {40, JITBPF_NO_SCOPE}, {48, 3}},
		.strings = "\0fill\0F.c\0\0helper\0leaf\0C",
	};
}

/* Returns the bytes, at an odd address so that readers must not assume an alignment. */
static inline uint8_t *scope_bytes(const struct scope_parts *parts, uint8_t *room, size_t *ret_size)
{
	uint8_t *at = room + 1;
	const struct {
		const void *bytes;
		size_t size_bytes;
	} pieces[] = {
		{&parts->counts, sizeof(parts->counts)},
		{parts->methods, parts->counts.method_count * sizeof(parts->methods[0])},
		{parts->scopes, parts->counts.scope_count * sizeof(parts->scopes[0])},
		{parts->ranges, parts->counts.range_count * sizeof(parts->ranges[0])},
		{parts->strings, parts->counts.string_bytes},
	};

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		memcpy(at, pieces[i].bytes, pieces[i].size_bytes);
		at += pieces[i].size_bytes;
	}
	*ret_size = (size_t)(at - room - 1);
	return room + 1;
}

#define SCOPE_ROOM 512

#endif
