/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of a range of code, as the decoders produce them: from call frame
 * information (decode/cfi/unwind_file.h) or from machine code
 * (decode/x86/code_unwind.h). Rows are sorted by offset, with distinct offsets.
 * A row holds up to the next row.
 */
#ifndef JITBPF_DECODE_CFI_UNWIND_ROWS_H
#define JITBPF_DECODE_CFI_UNWIND_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"
#include "uapi/unwind.h"

struct unwind_wide_row {
	uint32_t offset; /* relative to the start of the range */
	int32_t cfa;	 /* as in struct unwind_row */
	int16_t rbp;
	uint16_t reserved;
};

/* Zero-initialized is empty. */
struct unwind_rows {
	VEC(struct unwind_wide_row) rows;
};

/*
 * Append a row that holds from offset on. It replaces a row at the same offset,
 * and is dropped if it equals the row before. Returns 0, -EINVAL if offset is
 * lower than the last one, or -ENOMEM.
 */
int unwind_rows_add(struct unwind_rows *rows, uint32_t offset, int32_t cfa, int16_t rbp);

/* Returns the row at offset, with pc 0; UNWIND_NOT_MADE before the first row. */
struct unwind_row unwind_rows_at(const struct unwind_rows *rows, uint32_t offset);

/* Returns the index of the first row after offset. */
size_t unwind_rows_behind(const struct unwind_rows *rows, uint32_t offset);

/*
 * Copy the rows of [offset, offset + UNWIND_PAGE_BYTES) to ret, at most max >=
 * 1 of them. The first row has pc 0. If there are more than max, the last row
 * is UNWIND_UNKNOWN. Returns the number of rows, at least 1.
 */
uint32_t unwind_rows_page(const struct unwind_rows *rows, uint32_t offset, struct unwind_row *ret,
			  uint32_t max);

/*
 * Add rows from the bytes of `rows.data` of another process, which is not trusted, to *ret, which
 * must be empty. Returns 0, -EBADMSG or -ENOMEM; the caller releases *ret in any case.
 */
int unwind_rows_decode(const void *bytes, size_t size_bytes, struct unwind_rows *ret);

void unwind_rows_deinit(struct unwind_rows *rows);

#endif
