/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind feed of record: BPF maps. The feed's arrays are our own memory, of which just
 * what is published is copied into the programs' arrays: to have those mapped would count all
 * of them as resident, and a recording uses a small part.
 */
#ifndef JITBPF_AGENT_UNWIND_MAPS_H
#define JITBPF_AGENT_UNWIND_MAPS_H

#include "jitbpf.skel.h"
#include "locate/unwind_feed.h"

/* Zero-initialized is empty. */
struct unwind_maps {
	int rows_fd, mappings_fd, pages_fd, processes_fd; /* the skeleton's */
	struct unwind_row *rows;
	struct unwind_mapping *mappings;
	uint32_t row_count, mapping_count;
};

/* Of a loaded skeleton, which outlives *ret. Returns 0 or -ENOMEM. */
int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf);
void unwind_maps_deinit(struct unwind_maps *maps);

/* *ret borrows maps. */
void unwind_maps_init_feed(struct unwind_maps *maps, struct unwind_feed *ret);

#endif
