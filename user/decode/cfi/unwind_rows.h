/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of a range of code, as decoders make them: of a file's call frame information
 * (decode/cfi/unwind_file.h), or of machine code (decode/x86/code_unwind.h). Rows are ascending by
 * offset, no two at one offset; each holds up to the next one.
 */
#ifndef JITBPF_DECODE_CFI_UNWIND_ROWS_H
#define JITBPF_DECODE_CFI_UNWIND_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "uapi/unwind.h"

struct unwind_wide_row {
	uint32_t offset; /* from the beginning of the range */
	int32_t cfa;	 /* as struct unwind_row */
	int16_t rbp;
	uint16_t reserved;
};

/* Zero-initialized is empty. */
struct unwind_rows {
	VEC(struct unwind_wide_row) rows;
};

/*
 * What holds from offset on: takes the place of a row at the same offset, and is left out
 * where it says the same as the one before. Offsets come in ascending order, -EINVAL
 * otherwise. Returns 0 or -ENOMEM.
 */
int unwind_rows_add(struct unwind_rows *rows, uint32_t offset, int32_t cfa, int16_t rbp);

/* The row that holds at offset; UNWIND_NOT_MADE's where that is before the first. pc is 0. */
struct unwind_row unwind_rows_at(const struct unwind_rows *rows, uint32_t offset);

/* The number of the first row behind offset. */
size_t unwind_rows_behind(const struct unwind_rows *rows, uint32_t offset);

/*
 * Cut out what holds in [offset, offset + UNWIND_PAGE_BYTES), as the rows of a page, of which
 * the first has pc 0. Where there are more than max, the last one says UNWIND_UNKNOWN.
 * Returns how many there are: 1..max. max is at least 1.
 */
uint32_t unwind_rows_page(const struct unwind_rows *rows, uint32_t offset, struct unwind_row *ret,
			  uint32_t max);

void unwind_rows_deinit(struct unwind_rows *rows);

#endif
