/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/options/view_options.h"

#include "base/scope.h"

#define FIELD(name) offsetof(struct view_options, name)

static const struct option_spec view_options[] = {
	{0, "by", OPTION_CHOICE, FIELD(by), "WHAT",
	 "rows of the summary, and first frame of folded stacks and flame graphs: the process name, "
	 "the name and the pid, the thread name and both ids, or the container or unit",
	 .choices = view_by_names},
	{0, "kernel", OPTION_CHOICE, FIELD(kernel), "yes|no",
	 "show kernel frames; with no, a sample counts for the caller of the kernel",
	 .choices = view_kernel_names},
	{0, "interpreter", OPTION_CHOICE, FIELD(interpreter), "yes|no",
	 "show the native code of a runtime, such as the loop of an interpreter, that its functions "
	 "stand for; with no, which is the default, they alone are shown",
	 .choices = view_interpreter_names},
	{0, "color", OPTION_CHOICE, FIELD(color), "WHEN",
	 "colours in text; auto: on a terminal, unless NO_COLOR is set or TERM is dumb",
	 .choices = view_color_names},
	{0, "no-inline", OPTION_FLAG, FIELD(no_inline),
	 .help = "hide inlined frames; their samples count for the enclosing function"},
	{0, "merge", OPTION_CHOICE, FIELD(merge), "WHERE",
	 "count all code of a function as one, its cold parts, clones, tiers and traces: in graphs, "
	 "folded stacks, tables and searches; in formats of single samples, too (all); in tables and "
	 "searches only; or nowhere (none)",
	 .choices = view_merge_names},
	{0, "no-demangle", OPTION_FLAG, FIELD(no_demangle),
	 .help = "show linkage names; a recording keeps the names that it was made with"},
};

static const struct option_spec script_options[] = {
	{0, "fields", OPTION_SET, FIELD(fields), "[+|-]FIELD,...",
	 "fields of the script format, or additions (+) and removals (-) to the default",
	 .empty_set = SCRIPT_FIELDS_DEFAULT, .choices = script_field_names},
};

const struct option_table view_option_table = {view_options, ARRAY_SIZE(view_options)};
const struct option_table script_option_table = {script_options, ARRAY_SIZE(script_options)};
