/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Line tables of engines. An offset is the end of its line's range, as the JIT API documents it,
 * or in some engines the start. A table is settled into one form: ascending by offset, each
 * entry's line holds from its offset to that of the next entry.
 */
#ifndef JITBPF_STATE_CODE_CODE_LINES_H
#define JITBPF_STATE_CODE_CODE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/code_event.h"

enum line_offsets {
	LINE_OFFSETS_GUESS, /* decide by the first and the last entry */
	LINE_OFFSETS_START,
	LINE_OFFSETS_END,
};

/* The form of a module's tables. */
struct code_line_rule {
	const char *module; /* as the engine names it; "" or "[jit]": no module */
	enum line_offsets offsets;
};

/* Strings are borrowed. The first rule of a module is used. */
struct code_line_rules {
	const struct code_line_rule *rules;
	size_t count;
};

enum line_offsets code_line_rules_find(const struct code_line_rules *rules, const char *module);

/* Returns the entries that a settled table of count entries needs at most. */
static inline size_t code_lines_room(size_t count)
{
	return count ? count + 1 : 0;
}

/*
 * Copy count entries, which may be unaligned, to table, sorted by offset; entries of
 * equal offsets keep their order. Returns 0 or -ENOMEM (never if they are sorted).
 */
int code_lines_copy(struct jitbpf_code_line *table, const void *lines, size_t count);

/*
 * Settle a copied table of code of size_bytes, in place; it has room for code_lines_room() entries.
 * If several lines have one offset, the first one is used. Line 0 means none. Settling a settled
 * table as LINE_OFFSETS_START does not change it. Returns the number of entries.
 */
uint32_t code_lines_settle(struct jitbpf_code_line *table, size_t count, uint64_t size_bytes,
			   enum line_offsets offsets);

/* Returns the line at an offset of a settled table, or 0. */
uint32_t code_lines_at(const struct jitbpf_code_line *table, uint32_t count, uint64_t offset);

#endif
