/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that the assembler makes, and the text of its unwind rows. After cmocka's includes. */
#ifndef JITBPF_TESTS_ASSEMBLED_H
#define JITBPF_TESTS_ASSEMBLED_H

#include <stdio.h>
#include <string.h>

#include "decode/x86/code_unwind.h"

/* Assembled code, which is never executed. */
#define CODE(name, text)                                                                           \
	extern const uint8_t name##_begin[], name##_end[];                                         \
	__asm__(".pushsection .rodata\n" #name "_begin:\n" text "\n" #name "_end:\n.popsection")

#define TEXT_BYTES 4096

static void row_text(struct unwind_wide_row row, char *ret, size_t size_bytes)
{
	static const char *const bases[] = {"rsp%+d", "rbp%+d", "[rbp%+d]", "[rsp%+d]%+d"};
	uint32_t rule = row.cfa & UNWIND_RULE_MASK;
	bool by_slot = rule == UNWIND_CFA_SAVED_RSP;
	int length = snprintf(ret, size_bytes, "%u: ", row.offset);

	if (rule < ARRAY_SIZE(bases))
		length += snprintf(ret + length, size_bytes - length, bases[rule],
				   by_slot ? UNWIND_SLOT(row.cfa) : row.cfa & ~UNWIND_RULE_MASK,
				   UNWIND_SLOT_DISTANCE(row.cfa));
	else
		length += snprintf(ret + length, size_bytes - length,
				   row.cfa == UNWIND_CFA_COMMAND(UNWIND_INTERPRETER) ? "interpreter"
				   : row.cfa == UNWIND_CFA_COMMAND(UNWIND_ROOT)	     ? "root"
										     : "unknown");
	if (row.rbp != UNWIND_RBP_KEPT)
		length += snprintf(ret + length, size_bytes - length, " rbp%+d", row.rbp * 8);
	snprintf(ret + length, size_bytes - length, "\n");
}

/* Releases the rows. */
static void check_text(struct unwind_rows *rows, const char *expected)
{
	char text[TEXT_BYTES] = "", line[128];

	vec_for_each (row, &rows->rows) {
		row_text(*row, line, sizeof(line));
		assert_true(strlen(text) + strlen(line) < sizeof(text));
		strcat(text, line);
	}
	unwind_rows_deinit(rows);
	assert_string_equal(text, expected);
}

static inline void check_entry(const uint8_t *begin, const uint8_t *end,
			       const struct code_entry *entry, const char *expected)
{
	struct unwind_rows rows = {0};

	assert_int_equal(code_unwind(begin, end - begin, 0x7f0000001000, entry, &rows), 0);
	check_text(&rows, expected);
}

#define CHECK(name, expected) check_entry(name##_begin, name##_end, &code_entry_called, expected)

#endif
