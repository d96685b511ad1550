/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Finds the block of HotSpot's code cache that an address is in. */
#ifndef JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_HEAP_H
#define JITBPF_RUNTIMES_HOTSPOT_HOTSPOT_HEAP_H

#include "runtimes/hotspot/hotspot_tables.h"
#include "runtimes/process_memory.h"

/* The most that a search costs, whatever the process has written. */
#define HOTSPOT_HEAP_HOPS_MAX  2048
#define HOTSPOT_HEAP_READS_MAX (HOTSPOT_HEAP_HOPS_MAX + 64)

/* Memory of one blob: [start, end). */
struct hotspot_block {
	uint64_t start, end;
};

/*
 * A heap has segments of equal size. A map has a byte for each of them: 255: it is free; 0: a block
 * begins here; else, how many segments to go back.
 *
 * Returns 0; -ENOENT if the address is in no block that is used; -EBADMSG; or the error of the
 * memory.
 */
int hotspot_heap_find(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		      uint64_t address, struct hotspot_block *ret);

#endif
