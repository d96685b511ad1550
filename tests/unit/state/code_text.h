/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code at a place of a region, in the format of tests/conformance/rules.h. */
#ifndef JITBPF_TESTS_UNIT_STATE_CODE_TEXT_H
#define JITBPF_TESTS_UNIT_STATE_CODE_TEXT_H

#include <stdint.h>
#include <string.h>

#include "state/code/code_map.h"

#define CODE_TEXT_BYTES 1024

/* Writes into a text of CODE_TEXT_BYTES, and cuts what does not fit. Models write millions of them.
 */
struct text_writer {
	char *text;
	size_t bytes;
};

static inline void text_put(struct text_writer *out, const char *text)
{
	while (*text && out->bytes < CODE_TEXT_BYTES - 1)
		out->text[out->bytes++] = *text++;
	out->text[out->bytes] = '\0';
}

static inline void text_put_number(struct text_writer *out, uint32_t number)
{
	char digits[11];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + number % 10);
		number /= 10;
	} while (number);
	text_put(out, digits + at);
}

static inline void code_text(const struct code_region *region, uint64_t address,
			     char text[CODE_TEXT_BYTES])
{
	struct code_level levels[CODE_LEVELS_MAX];
	uint32_t count = code_region_levels(region, address - region->address, levels);
	struct text_writer out = {.text = text};

	text_put(&out, "");
	for (uint32_t i = 0; i < count; i++) {
		const struct code_level *level = &levels[i];

		text_put(&out, i ? " < " : "");
		text_put(&out, level->class_name);
		text_put(&out, *level->class_name ? "::" : "");
		text_put(&out, level->name);
		if (*level->source || level->line) {
			text_put(&out, "@");
			text_put(&out, level->source);
		}
		if (level->line) {
			text_put(&out, ":");
			text_put_number(&out, level->line);
		}
		if (level->inlined != (i + 1 < count))
			text_put(&out, " (inlined: wrong)");
	}
	if (*code_region_module(region)) {
		text_put(&out, " [");
		text_put(&out, code_region_module(region));
		text_put(&out, region->arch == 1 ? " (32-bit)]" : "]");
	}
}

#endif
