/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Implements struct unwind_tables over BPF maps. The unwinder writes into private arrays;
 * publishing copies a range of them into the BPF arrays. Only pieces of the BPF arrays are mapped,
 * since all of a mapped array counts as resident memory.
 */
#ifndef JITBPF_AGENT_KERNEL_BPF_UNWIND_MAPS_H
#define JITBPF_AGENT_KERNEL_BPF_UNWIND_MAPS_H

#include "jitbpf.skel.h"
#include "unwind/tables/unwind_tables.h"

#define UNWIND_ARRAY_PIECES  64
#define UNWIND_PIECES_MAPPED 8 /* at a time */

struct unwind_array {
	int fd; /* owned by the skeleton */
	uint32_t count;
	size_t element_bytes, piece_bytes;
	uint8_t *ours;
	/* Mapped pieces. Rows are written in order, so one piece is used many times. */
	struct unwind_piece {
		size_t number;
		uint8_t *bytes; /* NULL: free */
	} pieces[UNWIND_PIECES_MAPPED];
	uint32_t oldest; /* index of the piece to unmap next */
};

/* Empty if zero-initialized. */
struct unwind_maps {
	int pages_fd, processes_fd;
	uint64_t *removals; /* unwind_removals of the BPF programs */
	int recipes_fd, plain_programs_fd;
	uint64_t *recipe_count; /* runtime_recipe_count of the BPF programs */
	/* Wake-ups by the BPF programs for new functions, and from when on they come. */
	uint64_t *wake_ns, *wakes;
	uint64_t wakes_before, pause_ns;
	struct unwind_array rows, mappings;
};

/* The skeleton is loaded and outlives *ret. Returns 0 or -ENOMEM. */
int unwind_maps_init(struct unwind_maps *ret, const struct jitbpf_bpf *bpf);
void unwind_maps_deinit(struct unwind_maps *maps);

/* *ret borrows maps. */
void unwind_maps_init_tables(struct unwind_maps *maps, struct unwind_tables *ret);

#endif
