/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Ranges of addresses, marked with numbers one after the other: which is the
 * greatest number on any part of a range? All ranges must be known beforehand;
 * between their ends the address space falls into cells, and over those stands a
 * tree. Marking and asking take O(log n).
 */
#ifndef JITBPF_SHIM_RANGE_MARKS_H
#define JITBPF_SHIM_RANGE_MARKS_H

#include <stddef.h>
#include <stdint.h>

#include "jitapi-shim/scratch.h"

struct range_marks {
	uint64_t *ends; /* of all ranges, sorted, each once: cell i is [ends[i], ends[i + 1]) */
	uint32_t end_count;
	struct range_mark {
		uint32_t whole; /* the greatest number on all of the node's cells */
		uint32_t any;	/* the greatest on any of them */
	} * nodes;		/* those of the cells from end_count on; the parent of i is i / 2 */
};

/* What range_marks_init() takes from the scratch for so many ranges. */
uint64_t range_marks_bytes(uint32_t range_count);

/* Begins with no marks: number 0. starts_and_ends (2 of each range) is sorted in place. */
void range_marks_init(struct range_marks *marks, uint64_t *starts_and_ends, uint32_t count,
		      struct scratch *scratch);
void range_marks_clear(struct range_marks *marks);

/* The cell that begins at an end of one of the ranges; found at once at near, or behind it. */
uint32_t range_marks_cell(const struct range_marks *marks, uint64_t address, uint32_t near);

/* Mark cells [from, to). number: greater than all before. */
void range_marks_set(struct range_marks *marks, uint32_t from, uint32_t to, uint32_t number);

/* The greatest number on any of the cells [from, to); 0: none. */
uint32_t range_marks_get(const struct range_marks *marks, uint32_t from, uint32_t to);

#endif
