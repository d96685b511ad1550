/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Call paths that have no room for all of their frames in order (epoch_memory.h). */
#ifndef JITBPF_PIPELINE_ANALYSIS_EPOCH_CUT_PATHS_H
#define JITBPF_PIPELINE_ANALYSIS_EPOCH_CUT_PATHS_H

#include <stdbool.h>
#include <stdint.h>

struct epoch;
struct event_counts;

/* A call path, leaf first; the first locations are of the kernel. */
struct epoch_path {
	uint32_t row, comm; /* comm: a string */
	uint32_t *locations;
	uint32_t count, kernel_count;
};

/* The node of a path that has no room. */
struct epoch_inner {
	uint32_t node;
	uint32_t kept; /* innermost locations that are on the path to the node as they are */
	bool hides;    /* the others are not there without an order either */
};

/*
 * Get the node of a path that has no room, from the owner's reserve: all of its locations, or some
 * below LOCATION_UNORDERED or LOCATION_OTHERS. Returns 0 and sets *ret, or returns -ENOMEM or
 * -EDQUOT (no room).
 */
int epoch_inner_node(struct epoch *epoch, struct event_counts *counts,
		     const struct epoch_path *path, struct epoch_inner *ret);

#endif
