/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * One address space in which all locations of a profile stand, for formats that
 * know code by address and mapping. There is none such: files are mapped
 * differently in each process, and JIT code stands where other code stood
 * before. So a file's addresses are its offsets, behind a start of its own; each
 * region of JIT code gets addresses of its own, in a range for its module;
 * kernel code stands where it does, and so does anonymous memory.
 *
 * Files and JIT code do not overlap one another, and start at multiples of
 * 4 GiB, so that one reads the offset from an address.
 */
#ifndef JITBPF_SINK_ADDRESS_LAYOUT_H
#define JITBPF_SINK_ADDRESS_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index_map.h"
#include "base/vec.h"
#include "sink/sink.h"

#define ADDRESS_LAYOUT_NONE UINT32_MAX

enum address_range_kind {
	ADDRESS_RANGE_FILE,
	ADDRESS_RANGE_JIT,
	ADDRESS_RANGE_KERNEL,
	ADDRESS_RANGE_ANON,
};

/* [start, limit) in whole pages, from the first that locations have to the last. */
struct address_range {
	enum address_range_kind kind;
	uint32_t owner;	  /* of a file: its module's number */
	const char *name; /* the file's path, or the module as frames have it; as hostile as ever */
	const struct module *module; /* NULL: none */
	uint64_t start, limit;
	uint64_t file_offset;			/* of start */
	bool has_files, has_lines, has_inlined; /* some frame in it */
	bool is_program;			/* a file that is no library */
	uint64_t program_samples; /* whose stacks come through it before any other program */
	uint32_t first_part, last_part;
};

/* What is kept together in a range: one region of JIT code, or all there is. */
struct address_part {
	uint32_t range;
	uint32_t next; /* of the same range, or ADDRESS_LAYOUT_NONE */
	uint64_t owner;
	uint64_t first, last; /* offsets that locations have in it */
	uint64_t base;	      /* what is to be added to an offset */
};

/* Zero-initialized is empty. */
struct address_layout {
	VEC(struct address_range) ranges; /* in the order of their first locations */
	VEC(struct address_part) parts;
	struct index_map range_index, part_index;
	uint32_t *part_of; /* by location number; ADDRESS_LAYOUT_NONE: not used, or nowhere */
	size_t location_count;
	uint32_t main; /* the range of the main program's file; ADDRESS_LAYOUT_NONE: not known */
};

/*
 * Lay out the locations of all profile nodes that have any of `totals`, the
 * samples at and below each node. Borrows from the view. Returns 0 or -ENOMEM;
 * address_layout_deinit() is due in both cases.
 */
int address_layout_build(struct address_layout *layout, const struct view *view,
			 const uint64_t *totals);

/*
 * Where a location stands: sets *ret_address and returns its range.
 * ADDRESS_LAYOUT_NONE where it is in none: nothing is known of its address, or
 * it is at an offset that no file and no code has, and then *ret_address is 0.
 */
uint32_t address_layout_find(const struct address_layout *layout, const struct view *view,
			     uint32_t location, uint64_t *ret_address);

void address_layout_deinit(struct address_layout *layout);

#endif
