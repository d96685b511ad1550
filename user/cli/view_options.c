/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/view_options.h"

#include "base/scope.h"

#define FIELD(name) offsetof(struct view_options, name)

static const struct option_spec view_options[] = {
	{0, "by", OPTION_CHOICE, FIELD(by), "WHAT",
	 "what folded stacks and the flame graph begin with, the name of the process (comm), with "
	 "its pid, or that of the thread with both",
	 .choices = view_by_names},
	{0, "kernel", OPTION_CHOICE, FIELD(kernel), "yes|no",
	 "whether to show kernel frames; without them a sample belongs to what called the kernel",
	 .choices = view_kernel_names},
	{0, "no-inline", OPTION_FLAG, FIELD(no_inline),
	 .help = "no inlined frames: their samples are those of the function around them"},
	{0, "no-demangle", OPTION_FLAG, FIELD(no_demangle),
	 .help = "names as they were linked; a recording keeps the names that it was made with"},
};

static const struct option_spec script_options[] = {
	{0, "fields", OPTION_SET, FIELD(fields), "[+|-]FIELD,...",
	 "what the script format shows, or what beside (+) and without (-) the usual",
	 .empty_set = SCRIPT_FIELDS_DEFAULT, .choices = script_field_names},
};

const struct option_table view_option_table = {view_options, ARRAY_SIZE(view_options)};
const struct option_table script_option_table = {script_options, ARRAY_SIZE(script_options)};
