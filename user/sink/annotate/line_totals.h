/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Counts the samples that functions of runtimes, such as interpreters, have in their stacks: by
 * function, and by source line. A sample counts once for each, however often it recurs in its
 * stack.
 */
#ifndef JITBPF_SINK_ANNOTATE_LINE_TOTALS_H
#define JITBPF_SINK_ANNOTATE_LINE_TOTALS_H

#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/sink.h"

#define LINE_NONE UINT32_MAX

struct line_total {
	uint32_t function; /* number in the frame table */
	uint32_t line;	   /* 0: not known */
	uint32_t whole;	   /* number of the entry of the whole function */
	uint32_t counted;  /* node whose samples were added last, plus 1 */
	uint64_t samples;
};

/* Zero-initialized is empty. */
struct line_totals {
	VEC(struct line_total) lines; /* that of a whole function has the line LINE_NONE */
	struct index_map index;	      /* by function and line */
	uint32_t *of_location;	      /* number in `lines` plus 1; 0: none */
	uint32_t location_count;
};

/* Returns 0 or -ENOMEM; the caller calls line_totals_deinit() in both cases. */
int line_totals_init(struct line_totals *ret, uint32_t location_count);
void line_totals_deinit(struct line_totals *totals);

/*
 * Count for a location of a runtime, below location_count, from now on. Returns 0 or -ENOMEM; a
 * location without a function is left out.
 */
int line_totals_add(struct line_totals *totals, const struct view *view, uint32_t location);

/* Add the samples of a node. Returns the number of frames that were looked at. */
uint32_t line_totals_count(struct line_totals *totals, const struct profile *profile,
			   uint32_t node);

/*
 * Returns the samples of the line of a location, and sets *ret_whole to those of its function; 0 if
 * the location was not added.
 */
uint64_t line_totals_get(const struct line_totals *totals, uint32_t location, uint64_t *ret_whole);

#endif
