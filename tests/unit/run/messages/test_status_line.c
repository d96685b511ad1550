/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <string.h>

#include "run/messages/status_line.h"
#include "tests/unit/cases.h"

static const struct status_figures figures = {
	.seconds = 12.34,
	.lost = 77,
	.unresolved = 25,
	.samples = 1000,
	.jit_methods = 4096,
};

static const char whole[] = "12.3 s  77 lost  2.5% unresolved  1000 samples  4096 JIT methods";

CASE(bad_news_come_first)
{
	char line[STATUS_PROGRESS_BYTES];

	status_line_write_progress(&figures, 200, line, sizeof(line));
	assert_string_equal(line, whole);
	status_line_write_progress(&(struct status_figures){.seconds = 0.5}, 80, line,
				   sizeof(line));
	assert_string_equal(line, "0.5 s  0 lost  0.0% unresolved  0 samples  0 JIT methods");
}

/* "100" of "1000 samples" would be another number. */
CASE(figures_are_whole_at_any_width)
{
	for (uint32_t columns = 0; columns <= sizeof(whole); columns++) {
		char line[STATUS_PROGRESS_BYTES];
		size_t bytes;

		status_line_write_progress(&figures, columns, line, sizeof(line));
		bytes = strlen(line);
		assert_memory_equal(line, whole, bytes);
		assert_true(!whole[bytes] || !strncmp(whole + bytes, "  ", 2));
		assert_true(bytes <= columns || !strcmp(line, "12.3 s"));
	}
}

CASE(the_largest_figures_fit)
{
	const struct status_figures largest = {
		.seconds = 1e9,
		.lost = UINT64_MAX,
		.unresolved = UINT64_MAX,
		.samples = 1,
		.jit_methods = UINT64_MAX,
	};
	char line[STATUS_PROGRESS_BYTES];

	status_line_write_progress(&largest, UINT32_MAX, line, sizeof(line));
	assert_true(strlen(line) < sizeof(line));
	assert_non_null(strstr(line, "18446744073709551615 JIT methods"));
}
