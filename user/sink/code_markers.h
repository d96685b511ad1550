/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * JIT code that came and went, by thread, for formats that show it over time.
 * There may be millions: past a budget, they are only counted.
 */
#ifndef JITBPF_SINK_CODE_MARKERS_H
#define JITBPF_SINK_CODE_MARKERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"
#include "sink/sink.h"

#define CODE_MARKER_NONE UINT32_MAX

#define CODE_MARKERS_MAX      100000u
#define CODE_MARKER_NAMES_MAX (16u << 20) /* bytes of names, of all together */

struct code_marker {
	uint64_t time_ns;
	uint64_t address, size_bytes;
	uint64_t method_id;
	uint32_t name, module, source; /* numbers of strings, as hostile as ever; 0: not known */
	bool gone;		       /* else it came */
	uint32_t next;		       /* of the same thread, or CODE_MARKER_NONE */
};

/* What a thread did. */
struct code_thread {
	uint32_t first, last;		   /* or CODE_MARKER_NONE */
	uint64_t left_out;		   /* past the budget: */
	uint64_t left_from_ns, left_to_ns; /* first and last of them */
};

/* Zero-initialized is empty. */
struct code_markers {
	VEC(struct code_marker) markers; /* in the order in which they came */
	VEC(struct code_thread) threads; /* by the number that the caller gives them */
	struct string_pool *strings;
	uint32_t string_count;
	uint64_t name_bytes;
	uint64_t left_out;
	uint64_t earlier; /* the caller's count of those from before the start */
};

/* Keep one of a thread, its name as the view wants names. Returns 0 or -ENOMEM. */
int code_markers_add(struct code_markers *markers, const struct view *view, uint32_t thread,
		     const struct sink_code *code);

/* What a thread did; one that did nothing has zeros and no markers. */
struct code_thread code_markers_thread(const struct code_markers *markers, uint32_t thread);

void code_markers_deinit(struct code_markers *markers);

#endif
