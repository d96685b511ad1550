/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The rows of a page of memory that holds code without a file, put together from regions. */
#ifndef JITBPF_UNWIND_CODE_PAGE_H
#define JITBPF_UNWIND_CODE_PAGE_H

#include "unwind/unwind_regions.h"

/*
 * What is known now of [start, start + UNWIND_PAGE_BYTES) of a process, added to *ret, which is
 * empty: the rows of regions; UNWIND_NOT_MADE where those are not known, and where a file's code
 * stands; UNWIND_FRAME_POINTER where nobody told of code. *budget is how many stretches of
 * different things may be looked at: what is behind them has not been made either. Returns 0 or
 * -ENOMEM.
 */
int code_page_rows(const struct unwind_regions *regions, const struct process *process,
		   uint64_t start, uint32_t *budget, struct unwind_rows *ret);

#endif
