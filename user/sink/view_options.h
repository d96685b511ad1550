/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * How a profile is looked at: the same for every format, and no part of what is
 * recorded. Zero-initialized shows everything, processes by their names.
 */
#ifndef JITBPF_SINK_VIEW_OPTIONS_H
#define JITBPF_SINK_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum view_kernel { VIEW_KERNEL_SHOWN, VIEW_KERNEL_HIDDEN };

/* What the outermost frames of a frame tree are: "php", "php-1234", "php-1234/1235". */
enum view_by { VIEW_BY_COMM, VIEW_BY_PID, VIEW_BY_TID };

/* Fields of the script format: those of `perf script -F`. */
enum script_field {
	SCRIPT_COMM,
	SCRIPT_PID,
	SCRIPT_TID,
	SCRIPT_CPU,
	SCRIPT_TIME,
	SCRIPT_EVENT,
	SCRIPT_IP,
	SCRIPT_SYM,
	SCRIPT_SYMOFF,
	SCRIPT_DSO,
	SCRIPT_SRCLINE,
	SCRIPT_FIELD_COUNT
};

#define SCRIPT_FIELDS_DEFAULT ((1u << SCRIPT_SRCLINE) - 1) /* all before it */

struct view_options {
	bool no_inline;	  /* what was inlined is its function's */
	bool no_demangle; /* names as they were linked, where they are not recorded otherwise */
	uint32_t kernel;  /* enum view_kernel; hidden: samples belong to the user code below */
	uint32_t by;	  /* enum view_by */
	uint32_t fields;  /* of 1 << enum script_field; 0: SCRIPT_FIELDS_DEFAULT */
};

/* The values' names, in the order of the enums, and a NULL. */
extern const char *const view_kernel_names[];
extern const char *const view_by_names[];
extern const char *const script_field_names[];

#endif
