/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Searches in the tables of uapi/unwind.h, for BPF and user space. The includer defines
 * `unwind_mapping_at(index)` and `unwind_row_at(index)`, which return pointers into the
 * arrays, or NULL. A search terminates for any contents.
 */
#ifndef JITBPF_BPF_UNWIND_SEARCH_H
#define JITBPF_BPF_UNWIND_SEARCH_H

#include "uapi/unwind.h"

/* Steps of a binary search in UNWIND_PROCESS_MAPPINGS_MAX, or UNWIND_PAGE_ROWS_MAX. */
#define UNWIND_MAPPING_STEPS 13
#define UNWIND_ROW_STEPS     14

/* Finds the mapping of an address among count mappings from first on. Returns 1 or 0. */
static inline __attribute__((always_inline)) int unwind_find_mapping(__u32 first, __u32 count,
								     __u64 address,
								     struct unwind_mapping *ret)
{
	__u32 low = first, high = first + count, middle;
	const struct unwind_mapping *mapping;

	for (int i = 0; i < UNWIND_MAPPING_STEPS && low < high; i++) {
		middle = low + (high - low) / 2;
		mapping = unwind_mapping_at(middle);
		if (!mapping)
			return 0;
		if (address < mapping->start) {
			high = middle;
		} else if (address >= mapping->end) {
			low = middle + 1;
		} else {
			*ret = *mapping;
			return 1;
		}
	}
	return 0;
}

/* Returns the last row at or before an offset; UNWIND_NOT_MADE if the page is only reserved. */
static inline __attribute__((always_inline)) struct unwind_row unwind_find_row(
	struct unwind_page page, __u32 offset)
{
	const struct unwind_row none = {.cfa = UNWIND_CFA_COMMAND(UNWIND_NOT_MADE)};
	__u32 low = page.first, high = page.first + page.count, middle;
	const struct unwind_row *row;

	for (int i = 0; i < UNWIND_ROW_STEPS && high - low > 1; i++) {
		middle = low + (high - low) / 2;
		row = unwind_row_at(middle);
		if (!row)
			return none;
		if (row->pc <= offset)
			low = middle;
		else
			high = middle;
	}
	row = page.count ? unwind_row_at(low) : (void *)0;
	return row ? *row : none;
}

#endif
