/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The unwind feed of record: BPF maps, of which the arrays are mapped. */
#ifndef JITBPF_AGENT_UNWIND_MAPS_H
#define JITBPF_AGENT_UNWIND_MAPS_H

#include "jitbpf.skel.h"
#include "locate/unwind_feed.h"

struct unwind_maps {
	int pages_fd, processes_fd;
	struct unwind_row *rows;
	struct unwind_mapping *mappings;
	size_t rows_bytes, mappings_bytes;
};

/*
 * Map the arrays of a loaded skeleton, which outlives *ret; the source of what is published
 * is *ret_feed, which borrows ret. Returns 0 or negative errno.
 */
int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf,
		     struct unwind_feed *ret_feed);
void unwind_maps_deinit(struct unwind_maps *maps); /* zero-initialized is allowed */

#endif
