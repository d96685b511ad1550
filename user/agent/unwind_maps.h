/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind feed of record: BPF maps, of which the arrays are mapped. */
#ifndef JITBPF_AGENT_UNWIND_MAPS_H
#define JITBPF_AGENT_UNWIND_MAPS_H

#include "jitbpf.skel.h"
#include "locate/unwind_feed.h"

/* Zero-initialized is empty. */
struct unwind_maps {
	int pages_fd, processes_fd;
	struct unwind_row *rows;
	struct unwind_mapping *mappings;
	uint32_t row_count, mapping_count;
	size_t rows_bytes, mappings_bytes; /* as mapped */
};

/* Map the arrays of a loaded skeleton, which outlives *ret. Returns 0 or negative errno. */
int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf);
void unwind_maps_deinit(struct unwind_maps *maps);

/* *ret borrows maps. */
void unwind_maps_init_feed(struct unwind_maps *maps, struct unwind_feed *ret);

#endif
