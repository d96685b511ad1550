/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/view_options.h"

#include <stddef.h>

/* The values of --kernel. */
const char *const view_kernel_names[] = {
	[VIEW_KERNEL_SHOWN] = "yes",
	[VIEW_KERNEL_HIDDEN] = "no",
	NULL,
};

/* The values of --interpreter. */
const char *const view_interpreter_names[] = {
	[VIEW_INTERPRETER_HIDDEN] = "no",
	[VIEW_INTERPRETER_SHOWN] = "yes",
	NULL,
};

const char *const view_by_names[] = {
	[VIEW_BY_COMM] = "comm",
	[VIEW_BY_PID] = "pid",
	[VIEW_BY_TID] = "tid",
	[VIEW_BY_CONTAINER] = "container",
	NULL,
};

const char *const view_merge_names[] = {
	[VIEW_MERGE_GRAPHS] = "graphs",
	[VIEW_MERGE_ALL] = "all",
	[VIEW_MERGE_TABLES] = "tables",
	[VIEW_MERGE_NONE] = "none",
	NULL,
};

const char *const script_field_names[] = {
	[SCRIPT_COMM] = "comm",	     [SCRIPT_PID] = "pid",	   [SCRIPT_TID] = "tid",
	[SCRIPT_CPU] = "cpu",	     [SCRIPT_TIME] = "time",	   [SCRIPT_EVENT] = "event",
	[SCRIPT_IP] = "ip",	     [SCRIPT_SYM] = "sym",	   [SCRIPT_SYMOFF] = "symoff",
	[SCRIPT_DSO] = "dso",	     [SCRIPT_SRCLINE] = "srcline", [SCRIPT_TIER] = "tier",
	[SCRIPT_FIELD_COUNT] = NULL,
};

const char *const view_sort_names[] = {"self", "total", NULL};

const char *const view_color_names[] = {
	[VIEW_COLOR_AUTO] = "auto",
	[VIEW_COLOR_ALWAYS] = "always",
	[VIEW_COLOR_NEVER] = "never",
	NULL,
};
