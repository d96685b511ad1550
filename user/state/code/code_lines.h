/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Line tables as engines send them: offsets are where the range of a line ends,
 * as documented, or where it begins, as some engines have it. They are read into
 * one form: ascending, an entry's line holds from its offset to the next entry's.
 */
#ifndef JITBPF_STATE_CODE_CODE_LINES_H
#define JITBPF_STATE_CODE_CODE_LINES_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/jit_record.h"

enum line_offsets {
	LINE_OFFSETS_GUESS, /* by the first and the last entry */
	LINE_OFFSETS_START,
	LINE_OFFSETS_END,
};

/* Whose tables are not to be guessed at. */
struct code_line_rule {
	const char *module; /* as the engine names it; "" or "[jit]" where it does not */
	enum line_offsets offsets;
};

/* Borrowed strings; the first that fits counts. */
struct code_line_rules {
	const struct code_line_rule *rules;
	size_t count;
};

enum line_offsets code_line_rules_find(const struct code_line_rules *rules, const char *module);

/* Room that a table of count entries as sent takes in either form. */
static inline size_t code_lines_room(size_t count)
{
	return count ? count + 1 : 0;
}

/*
 * Copy count entries, which may be unaligned, to table, by offset; those of one
 * offset stay in their order. Returns 0 or -ENOMEM (never where they come sorted).
 */
int code_lines_copy(struct jitbpf_jit_line *table, const void *lines, size_t count);

/*
 * Bring a copied table of code of size_bytes into the one form, in place, in
 * which it has at most code_lines_room() entries. Of several lines at one offset the
 * first counts; line 0 is none. Returns the number of entries.
 */
uint32_t code_lines_settle(struct jitbpf_jit_line *table, size_t count, uint64_t size_bytes,
			   enum line_offsets offsets);

/* The line at an offset of a settled table; 0: none. */
uint32_t code_lines_at(const struct jitbpf_jit_line *table, uint32_t count, uint64_t offset);

#endif
