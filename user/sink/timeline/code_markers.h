/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Markers: loads and unloads of JIT code by thread, for formats that show them over time. There may
 * be millions, so beyond a budget they are only counted.
 */
#ifndef JITBPF_SINK_TIMELINE_CODE_MARKERS_H
#define JITBPF_SINK_TIMELINE_CODE_MARKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/sink.h"

#define CODE_MARKER_NONE UINT32_MAX

#define CODE_MARKERS_MAX      100000u
#define CODE_MARKER_NAMES_MAX (16u << 20) /* bytes of all names */

struct code_marker {
	uint64_t time_ns;
	uint64_t address, size_bytes;
	uint64_t method_id;
	uint32_t name, module, source; /* string numbers, untrusted; 0: not known */
	bool gone;		       /* an unload; else a load */
	uint32_t next;		       /* next of the thread, or CODE_MARKER_NONE */
};

/* The markers of a thread. */
struct code_thread {
	uint32_t first, last;		   /* or CODE_MARKER_NONE */
	uint64_t left_out;		   /* number of dropped markers */
	uint64_t left_from_ns, left_to_ns; /* times of the first and the last dropped marker */
};

/* Zero-initialized is empty. */
struct code_markers {
	VEC(struct code_marker) markers; /* in order of arrival */
	VEC(struct code_thread) threads; /* by the caller's thread number */
	struct string_pool *strings;
	uint32_t string_count;
	uint64_t name_bytes;
	uint64_t left_out;
	uint64_t earlier; /* loads before the start; counted by the caller */
};

/* Add a marker of a thread; the name follows the options of the view. Returns 0 or -ENOMEM. */
int code_markers_add(struct code_markers *markers, const struct view *view, uint32_t thread,
		     const struct sink_code *code);

/* Returns the markers of a thread, which may have none. */
struct code_thread code_markers_thread(const struct code_markers *markers, uint32_t thread);

void code_markers_deinit(struct code_markers *markers);

#endif
