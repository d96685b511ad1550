/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Options of how a profile is shown, the same for all formats. They do not affect what is recorded.
 * Zero-initialized: everything is shown, but the native code that serves frames of runtimes; and
 * processes by name.
 */
#ifndef JITBPF_SINK_VIEW_OPTIONS_H
#define JITBPF_SINK_VIEW_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum view_kernel { VIEW_KERNEL_SHOWN, VIEW_KERNEL_HIDDEN };

/* Whether native code is shown that serves the frames of a runtime: location.is_interpreter. */
enum view_interpreter { VIEW_INTERPRETER_HIDDEN, VIEW_INTERPRETER_SHOWN };

/*
 * The outermost frames of a frame tree: "php", "php-1234", "php-1234/1235", or the cgroup
 * (sink/cgroup_text.h) and below it "php".
 */
enum view_by { VIEW_BY_COMM, VIEW_BY_PID, VIEW_BY_TID, VIEW_BY_CONTAINER };

/* Returns true if the samples of one process can be below several of these frames. */
static inline bool view_by_thread(uint32_t by)
{
	return by == VIEW_BY_TID || by == VIEW_BY_CONTAINER;
}

/*
 * Where all code of a function (symbolize/named_functions.h) is one: in tables, searches and
 * graphs; in formats of single samples, too, which else have names in full beside addresses; in
 * tables and searches alone; or nowhere, which is an exact view.
 */
enum view_merge { VIEW_MERGE_GRAPHS, VIEW_MERGE_ALL, VIEW_MERGE_TABLES, VIEW_MERGE_NONE };

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
	SCRIPT_TIER, /* not of perf */
	SCRIPT_FIELD_COUNT
};

#define SCRIPT_FIELDS_DEFAULT ((1u << SCRIPT_SRCLINE) - 1) /* all before it */

/* Of the top format. */
enum view_sort { VIEW_SORT_SELF, VIEW_SORT_TOTAL };

/* Whether text has colours. AUTO: if it is written to a terminal that can show them. */
enum view_color { VIEW_COLOR_AUTO, VIEW_COLOR_ALWAYS, VIEW_COLOR_NEVER };

#define EVENT_NAME_BYTES 64 /* beyond the longest name that a run can choose */

#define TOP_ROWS_DEFAULT 30
#define TOP_ROWS_ALL	 UINT32_MAX

struct view_options {
	bool no_inline;	  /* samples of inlined frames count for their function */
	bool no_demangle; /* show linkage names, as far as the recording has them */
	uint32_t kernel;  /* enum view_kernel; hidden: samples count for the caller in user space */
	uint32_t interpreter; /* enum view_interpreter; hidden: as above, for its caller */
	uint32_t by;	      /* enum view_by */
	uint32_t merge;	      /* enum view_merge */
	uint32_t fields;      /* bits 1 << enum script_field; 0: SCRIPT_FIELDS_DEFAULT */
	uint32_t rows;	      /* limit of each table of the top format; 0: TOP_ROWS_DEFAULT */
	uint32_t sort;	      /* enum view_sort */
	uint32_t columns;     /* width of the terminal that the top format is for; 0: none */
	uint32_t color;	      /* enum view_color: what the user chose */
	/* Name of the event to show; NULL: CPU time. Invalid in messages between processes. */
	const char *event;
	bool colours; /* write escape sequences: the result of `color` and the terminal */
};

static inline bool view_is_exact(const struct view_options *options)
{
	return options->merge == VIEW_MERGE_NONE;
}

/* Returns true if a graph has one frame for all code of a function. */
static inline bool view_merges_graphs(const struct view_options *options)
{
	return options->merge == VIEW_MERGE_GRAPHS || options->merge == VIEW_MERGE_ALL;
}

/* Names of the values, in the order of the enums; terminated by NULL. */
extern const char *const view_kernel_names[];
extern const char *const view_interpreter_names[];
extern const char *const view_by_names[];
extern const char *const view_merge_names[];
extern const char *const view_sort_names[];
extern const char *const view_color_names[];
extern const char *const script_field_names[];

#endif
