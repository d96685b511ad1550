/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads a scope table (uapi/scope_table.h): the chain of methods at each place of a load's code. */
#ifndef JITBPF_DECODE_RECORD_SCOPE_TABLE_H
#define JITBPF_DECODE_RECORD_SCOPE_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/scope_table.h"

/* A table. Borrowed bytes, at any alignment. */
struct scope_table {
	struct jitbpf_scope_table counts;
	const uint8_t *methods, *scopes, *ranges;
	const char *strings;
};

/* One scope. Strings are borrowed and NUL-terminated; they may not be UTF-8. */
struct scope {
	uint32_t caller; /* JITBPF_NO_SCOPE: outermost */
	uint32_t depth;	 /* 1: outermost */
	int32_t position;
	uint32_t line;
	const char *name, *class_name, *source;
};

/*
 * Check all of a table. Returns 0, or -EBADMSG with *ret unchanged: a count or an index that is
 * out of bounds, ranges that do not ascend, a wrong depth, a string that is too long, bytes beyond
 * the table.
 */
int scope_table_decode(const void *bytes, size_t size_bytes, struct scope_table *ret);

/*
 * Returns a table that scope_table_decode() has accepted, or a copy of it. It only locates the
 * parts; like the look-ups below, it reads a few bytes of the table, whatever its size.
 */
struct scope_table scope_table_of(const void *bytes);

/* Returns the innermost scope at an offset in the code, or JITBPF_NO_SCOPE. */
uint32_t scope_table_at(const struct scope_table *table, uint64_t offset);

/* Returns a scope of a checked table by its index, which is below counts.scope_count. */
struct scope scope_table_get(const struct scope_table *table, uint32_t scope);

#endif
