/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An artificial address space for all locations of a profile, for formats that identify code by
 * address and mapping. Real addresses are ambiguous: each process maps files elsewhere, and JIT
 * code replaces other JIT code. So a file gets a range in which addresses are its offsets plus a
 * start; each region of JIT code gets a part of the range of its module. Kernel code and anonymous
 * memory keep their addresses.
 *
 * Ranges of files and JIT code do not overlap, and start at multiples of 4 GiB, so that the offset
 * can be read from an address.
 */
#ifndef JITBPF_SINK_ADDRESS_LAYOUT_H
#define JITBPF_SINK_ADDRESS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/sink.h"

#define ADDRESS_LAYOUT_NONE UINT32_MAX

/* [start, limit): whole pages, from the first to the last location. */
struct address_range {
	enum location_space space;
	uint32_t owner;		     /* of a file: its module number */
	const char *name;	     /* path of the file, or module of the frames; untrusted */
	const struct module *module; /* NULL: none */
	uint64_t start, limit;
	uint64_t file_offset;			/* file offset of start */
	bool has_files, has_lines, has_inlined; /* some frame in the range has one */
	bool is_program;			/* the file is a program, not a library */
	uint64_t program_samples; /* samples of stacks whose outermost program is this range */
	uint32_t first_part, last_part;
};

/* A contiguous part of a range: one region of JIT code, or the whole range. */
struct address_part {
	uint32_t range;
	uint32_t next; /* of the same range, or ADDRESS_LAYOUT_NONE */
	uint64_t owner;
	uint64_t first, last; /* lowest and highest offset of a location */
	uint64_t base;	      /* address = base + offset */
};

/* Zero-initialized is empty. */
struct address_layout {
	VEC(struct address_range) ranges; /* in the order of their first locations */
	VEC(struct address_part) parts;
	struct index_map range_index, part_index;
	uint32_t *part_of; /* by location number; ADDRESS_LAYOUT_NONE: not in use, or without
			      address */
	size_t location_count;
	uint32_t main; /* range of the main program; ADDRESS_LAYOUT_NONE: not known */
};

/*
 * Lay out the locations of all profile nodes with samples; totals[i] is the number of samples at
 * and below node i. Borrows from the view. Returns 0 or -ENOMEM; the caller calls
 * address_layout_deinit() in both cases.
 */
int address_layout_build(struct address_layout *layout, const struct view *view,
			 const uint64_t *totals);

/*
 * Set *ret_address to the address of a location, and return its range. Returns ADDRESS_LAYOUT_NONE
 * if the location is in no range: nothing is known at its address, or its offset is impossible, in
 * which case *ret_address is 0.
 */
uint32_t address_layout_find(const struct address_layout *layout, const struct view *view,
			     uint32_t location, uint64_t *ret_address);

void address_layout_deinit(struct address_layout *layout);

#endif
