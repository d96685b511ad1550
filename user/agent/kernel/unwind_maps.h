/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The unwind feed of record: BPF maps. The feed's arrays are our own memory, of which
 * what is published is copied into the programs' arrays. Those count as resident where they are
 * mapped, touched or not, so that is done piece by piece: a recording uses a small part.
 */
#ifndef JITBPF_AGENT_KERNEL_UNWIND_MAPS_H
#define JITBPF_AGENT_KERNEL_UNWIND_MAPS_H

#include "jitbpf.skel.h"
#include "unwind/unwind_feed.h"

#define UNWIND_ARRAY_PIECES  64
#define UNWIND_PIECES_MAPPED 8 /* at a time: all that is mapped counts as ours */

struct unwind_array {
	int fd; /* the skeleton's */
	uint32_t count;
	size_t element_bytes, piece_bytes;
	uint8_t *ours;
	/* Of the programs'. New rows stand behind the ones before: a piece is used for a while. */
	struct unwind_piece {
		size_t number;
		uint8_t *bytes; /* NULL: none */
	} pieces[UNWIND_PIECES_MAPPED];
	uint32_t oldest; /* of them */
};

/* Zero-initialized is empty. */
struct unwind_maps {
	int pages_fd, processes_fd;
	struct unwind_array rows, mappings;
};

/* Of a loaded skeleton, which outlives *ret. Returns 0 or -ENOMEM. */
int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf);
void unwind_maps_deinit(struct unwind_maps *maps);

/* *ret borrows maps. */
void unwind_maps_init_feed(struct unwind_maps *maps, struct unwind_feed *ret);

#endif
