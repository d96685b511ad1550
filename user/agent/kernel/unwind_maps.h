/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * struct unwind_tables over BPF maps, for `record`. The unwinder writes into arrays in our own
 * memory; publishing copies a range of them into the BPF arrays. The BPF arrays are mapped piece
 * by piece, since a mapped array counts as resident memory whether it is touched or not.
 */
#ifndef JITBPF_AGENT_KERNEL_UNWIND_MAPS_H
#define JITBPF_AGENT_KERNEL_UNWIND_MAPS_H

#include "jitbpf.skel.h"
#include "unwind/unwind_tables.h"

#define UNWIND_ARRAY_PIECES  64
#define UNWIND_PIECES_MAPPED 8 /* at a time */

struct unwind_array {
	int fd; /* the skeleton's */
	uint32_t count;
	size_t element_bytes, piece_bytes;
	uint8_t *ours;
	/* Mapped pieces of the BPF array. New rows follow older ones, so a piece is used for long.
	 */
	struct unwind_piece {
		size_t number;
		uint8_t *bytes; /* NULL: none */
	} pieces[UNWIND_PIECES_MAPPED];
	uint32_t oldest; /* of the pieces: the next to be unmapped */
};

/* Zero-initialized is empty. */
struct unwind_maps {
	int pages_fd, processes_fd;
	struct unwind_array rows, mappings;
};

/* The skeleton is loaded and outlives *ret. Returns 0 or -ENOMEM. */
int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf);
void unwind_maps_deinit(struct unwind_maps *maps);

/* *ret borrows maps. */
void unwind_maps_init_tables(struct unwind_maps *maps, struct unwind_tables *ret);

#endif
