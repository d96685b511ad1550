/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches in the tables of uapi/unwind.h, for BPF and user space. The includer defines
 * `unwind_mapping_at(index)` and `unwind_row_at(index)`, which return pointers into the
 * arrays, or NULL. A search terminates for any contents.
 */
#ifndef JITBPF_BPF_UNWIND_SEARCH_H
#define JITBPF_BPF_UNWIND_SEARCH_H

#include "uapi/unwind.h"

/* A range of an array: count entries from first on. */
struct unwind_range {
	__u32 first, count;
};

enum unwind_search {
	UNWIND_ABSENT,
	UNWIND_FOUND,
	UNWIND_MORE, /* the range is narrower, and the search must go on */
};

/*
 * A search takes turns, of some steps of a binary search each. The verifier checks the function for
 * a turn once. Each step that the verifier checks delays the start of a run by about 1 us.
 */
#define UNWIND_MAPPING_STEPS 4
#define UNWIND_MAPPING_TURNS 4
#define UNWIND_ROW_STEPS     7
#define UNWIND_ROW_TURNS     2

_Static_assert(UNWIND_PROCESS_MAPPINGS_MAX < 1u << UNWIND_MAPPING_STEPS * UNWIND_MAPPING_TURNS,
	       "all steps");
_Static_assert(UNWIND_PAGE_ROWS_MAX <= 1u << UNWIND_ROW_STEPS * UNWIND_ROW_TURNS, "all steps");

/* One turn of the search for the mapping of an address. */
static inline __attribute__((always_inline)) enum unwind_search unwind_search_mappings(
	struct unwind_range *range, __u64 address, struct unwind_mapping *ret)
{
	__u32 first = range->first, count = range->count, middle;
	const struct unwind_mapping *mapping;

	for (int i = 0; i < UNWIND_MAPPING_STEPS; i++) {
		if (!count)
			return UNWIND_ABSENT;
		middle = first + count / 2;
		mapping = unwind_mapping_at(middle);
		if (!mapping)
			return UNWIND_ABSENT;
		if (address < mapping->start) {
			count /= 2;
		} else if (address >= mapping->end) {
			first = middle + 1;
			count -= count / 2 + 1;
		} else {
			*ret = *mapping;
			return UNWIND_FOUND;
		}
	}
	*range = (struct unwind_range){first, count};
	return UNWIND_MORE;
}

/*
 * One turn of the search for the last row at or before an offset. On UNWIND_FOUND, range->first is
 * that row. Returns UNWIND_ABSENT if the page is only reserved.
 */
static inline __attribute__((always_inline)) enum unwind_search unwind_search_rows(
	struct unwind_range *range, __u32 offset)
{
	__u32 first = range->first, count = range->count, half, middle;
	const struct unwind_row *row;
	__u64 above;

	if (!count)
		return UNWIND_ABSENT;
	for (int i = 0; i < UNWIND_ROW_STEPS; i++) {
		if (count == 1) {
			range->first = first;
			return UNWIND_FOUND;
		}
		half = count / 2;
		middle = first + half;
		row = unwind_row_at(middle);
		if (!row)
			return UNWIND_ABSENT;
		/* No branch: the verifier would follow both ways of each step. */
		above = ((__u64)offset - row->pc) >> 63;
		asm volatile("" : "+r"(above));
		first += half & ((__u32)above - 1);
		count -= half;
	}
	*range = (struct unwind_range){first, count};
	return UNWIND_MORE;
}

#endif
