/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Unwind rows of a page of anonymous or JIT memory, built from the rows of regions. */
#ifndef JITBPF_UNWIND_CODE_CODE_PAGE_H
#define JITBPF_UNWIND_CODE_CODE_PAGE_H

#include <stdbool.h>

#include "unwind/unwind_regions.h"

/*
 * Add the rows of [start, start + UNWIND_PAGE_BYTES) of a process to *ret, which must be empty.
 * Code of regions gets the regions' rows. Code of files and regions without rows get
 * UNWIND_NOT_MADE. Anonymous code without a region gets UNWIND_FRAME_POINTER, unless its load may
 * be late (code_map_is_late()) or, with finds_code, it may be found. *budget is the number of
 * regions and gaps that may be visited, and counts down; code beyond it gets UNWIND_NOT_MADE.
 * Returns 0 or -ENOMEM.
 */
int code_page_rows(const struct unwind_regions *regions, const struct process *process,
		   uint64_t start, bool finds_code, uint32_t *budget, struct unwind_rows *ret);

#endif
