/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The code at a place of a region, in the format of tests/conformance/rules.h. */
#ifndef JITBPF_TESTS_UNIT_STATE_CODE_TEXT_H
#define JITBPF_TESTS_UNIT_STATE_CODE_TEXT_H

#include <stdio.h>
#include <string.h>

#include "state/code/code_map.h"

#define CODE_TEXT_BYTES 1024

static inline void code_text(const struct code_region *region, uint64_t address,
			     char text[CODE_TEXT_BYTES])
{
	struct code_level levels[CODE_LEVELS_MAX];
	uint32_t count = code_region_levels(region, address - region->address, levels);
	FILE *out = fmemopen(text, CODE_TEXT_BYTES, "w");

	*text = 0; /* code_text() may write nothing */
	for (uint32_t i = 0; i < count; i++) {
		const struct code_level *level = &levels[i];

		fprintf(out, "%s%s%s%s", i ? " < " : "", level->class_name,
			*level->class_name ? "::" : "", level->name);
		if (*level->source || level->line)
			fprintf(out, "@%s", level->source);
		if (level->line)
			fprintf(out, ":%u", level->line);
		if (level->inlined != (i + 1 < count))
			fprintf(out, " (inlined: wrong)");
	}
	if (*region->module)
		fprintf(out, " [%s%s]", region->module, region->arch == 1 ? " (32-bit)" : "");
	fclose(out);
}

#endif
