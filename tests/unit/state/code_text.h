/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What stands at a place of a region, as tests/conformance/rules.h writes it. */
#ifndef JITBPF_TESTS_UNIT_STATE_CODE_TEXT_H
#define JITBPF_TESTS_UNIT_STATE_CODE_TEXT_H

#include <stdio.h>
#include <string.h>

#include "state/code/code_map.h"

#define CODE_TEXT_BYTES 1024

static inline void code_text(const struct code_region *region, uint64_t address,
			     char text[CODE_TEXT_BYTES])
{
	struct code_frame frames[CODE_FRAMES_MAX];
	uint32_t count = code_region_frames(region, address - region->address, frames);
	FILE *out = fmemopen(text, CODE_TEXT_BYTES, "w");

	*text = 0; /* which it does not write where nothing else is written */
	for (uint32_t i = 0; i < count; i++) {
		const struct code_frame *frame = &frames[i];

		fprintf(out, "%s%s%s%s", i ? " < " : "", frame->class_name,
			*frame->class_name ? "::" : "", frame->name);
		if (*frame->source || frame->line)
			fprintf(out, "@%s", frame->source);
		if (frame->line)
			fprintf(out, ":%u", frame->line);
		if (frame->inlined != (i + 1 < count))
			fprintf(out, " (inlined: wrong)");
	}
	if (*region->module)
		fprintf(out, " [%s%s]", region->module, region->arch == 1 ? " (32-bit)" : "");
	fclose(out);
}

#endif
