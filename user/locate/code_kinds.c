/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/code_kinds.h"

#include <string.h>

static const struct frame_kind_info frame_kinds[FRAME_KIND_COUNT] = {
	[FRAME_KIND_UNKNOWN] = {.label = "unknown kind",
				.word = "unknown",
				.short_word = "",
				.suffix = "",
				/* The Profiler's default is the first grey category. */
				.category = "Other",
				.category_colour = "grey"},
	[FRAME_KIND_KERNEL] = {.label = "kernel",
			       .word = "kernel",
			       .short_word = "kernel",
			       .suffix = "_[k]",
			       .colour = FRAME_COLOUR_YELLOW,
			       .category = "Kernel",
			       .category_colour = "orange"},
	[FRAME_KIND_NATIVE] = {.label = "native",
			       .word = "native",
			       .short_word = "native",
			       .suffix = "",
			       .category = "Native",
			       .category_colour = "blue"},
	[FRAME_KIND_JIT] = {.label = "JIT",
			    .word = "jit",
			    .short_word = "jit",
			    .suffix = "_[j]",
			    .colour = FRAME_COLOUR_CYAN,
			    .category = "JIT",
			    .category_colour = "green",
			    .of_engine = true},
	[FRAME_KIND_INTERPRETED] = {.label = "interpreted",
				    .word = "interpreted",
				    .short_word = "interp",
				    .suffix = "",
				    .category = "Interpreted",
				    .category_colour = "yellow",
				    .of_engine = true,
				    .module = "[runtime]",
				    .unknown = "[unknown function]",
				    .has_tiers = true},
	[FRAME_KIND_PYTHON] = {.label = "Python",
			       .word = "python",
			       .short_word = "python",
			       .suffix = "_[p]",
			       .colour = FRAME_COLOUR_GREEN,
			       .category = "Python",
			       .category_colour = "purple",
			       .of_engine = true,
			       .runtime = "CPython",
			       .module = "[python]",
			       .unknown = "[unknown python function]"},
	[FRAME_KIND_PHP] = {.label = "PHP",
			    .word = "php",
			    .short_word = "php",
			    .suffix = "_[p]",
			    .colour = FRAME_COLOUR_GREEN,
			    .category = "PHP",
			    .category_colour = "brown",
			    .of_engine = true,
			    .runtime = "PHP",
			    .module = "[php]",
			    .unknown = "[unknown php function]",
			    .has_tiers = true},
};

const struct location_kind_info location_kinds[LOCATION_KIND_COUNT] = {
	[0] = {.name = "[unknown]", .module = "[unknown]", .code_unknown = true},
	[LOCATION_KERNEL] = {.name = "[unknown]",
			     .module = "[kernel.kallsyms]",
			     .frame = FRAME_KIND_KERNEL,
			     .space = LOCATION_SPACE_KERNEL,
			     .has_symbols = true,
			     .has_function = true,
			     .has_lib = true},
	[LOCATION_KERNEL_CODE] = {.name = "[unknown]",
				  .module = "[kernel.kallsyms]",
				  .frame = FRAME_KIND_KERNEL,
				  .space = LOCATION_SPACE_KERNEL,
				  .has_function = true},
	[LOCATION_NATIVE] = {.name = "[unknown]",
			     .module = "[unknown]",
			     .frame = FRAME_KIND_NATIVE,
			     .space = LOCATION_SPACE_FILE,
			     .has_symbols = true,
			     .has_function = true,
			     .has_lib = true},
	[LOCATION_JIT] = {.name = "[unknown]",
			  .module = "[jit]",
			  .frame = FRAME_KIND_JIT,
			  .space = LOCATION_SPACE_REGION,
			  .has_function = true,
			  .has_lib = true},
	[LOCATION_ANON] = {.name = "[unknown]",
			   .module = "//anon",
			   .space = LOCATION_SPACE_ANON,
			   .code_unknown = true},
	[LOCATION_UNKNOWN] = {.name = "[unknown]", .module = "[unknown]", .code_unknown = true},
	[LOCATION_LEFT_OUT] = {.name = "[too many call paths]", .module = "[too many call paths]"},
	[LOCATION_CUT] = {.name = "[cut]", .module = "[cut]"},
	[LOCATION_OTHERS] = {.name = "[other callers]", .module = "[other callers]"},
	[LOCATION_RUNTIME] = {.name = "[unknown function]",
			      .module = "[runtime]",
			      .has_function = true},
	[LOCATION_RUNTIME_UNKNOWN] = {.name = "[unknown function]",
				      .module = "[runtime]",
				      .code_unknown = true},
	[LOCATION_GAP] = {.name = "[cut]", .module = "[cut]"},
	[LOCATION_UNORDERED] = {.name = "[callers in no order]", .module = "[callers in no order]"},
};

enum frame_kind frame_kind_of_runtime(const char *engine)
{
	for (uint32_t kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		if (frame_kinds[kind].runtime && !strcmp(frame_kinds[kind].runtime, engine))
			return kind;
	}
	return FRAME_KIND_INTERPRETED;
}

const struct frame_kind_info *frame_kind_info(uint32_t kind)
{
	return &frame_kinds[kind < FRAME_KIND_COUNT ? kind : FRAME_KIND_UNKNOWN];
}
