/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A worklist of the control flow analysis, in the order of addresses: all paths forward
 * to a place join before the code there is followed.
 */
#ifndef JITBPF_DECODE_X86_CODE_EDGES_H
#define JITBPF_DECODE_X86_CODE_EDGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

/* A way from one instruction to another, with the frame there. */
struct code_edge {
	uint32_t from, to; /* offsets */
	uint16_t frame;
	bool behind_call; /* only padding since the call */
};

typedef VEC(struct code_edge) code_edges; /* a heap: the least `to` is the first */

/* Returns 0 or -ENOMEM. */
int code_edges_push(code_edges *edges, struct code_edge edge);

/* Remove the edge with the least `to`. The list must not be empty. */
struct code_edge code_edges_pop(code_edges *edges);

#endif
