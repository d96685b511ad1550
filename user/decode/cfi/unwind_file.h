/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of an ELF file, by its .eh_frame, and .debug_frame where that says nothing: made
 * a page at a time, of just those functions that lie in it. .eh_frame_hdr finds them; where
 * there is none, or it does not fit the rest, all of the section is gone through once for an
 * index. What signal handlers return to is known by its instructions.
 *
 * Pages are of file offsets, so that nobody else has to know the file's addresses.
 */
#ifndef JITBPF_DECODE_CFI_UNWIND_FILE_H
#define JITBPF_DECODE_CFI_UNWIND_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "decode/cfi/unwind_rows.h"

struct unwind_file; /* see unwind_file.c */

/*
 * Read what is needed to find functions. blob outlives *ret. A file without call
 * frame information is none the worse: see unwind_file_page(). Returns 0, -ENOEXEC,
 * -EBADMSG, -E2BIG, -ENOMEM or the blob's error.
 */
int unwind_file_create(const struct blob *blob, struct unwind_file **ret);
void unwind_file_destroy(struct unwind_file *file); /* NULL is allowed */

/*
 * The rows of [page << UNWIND_PAGE_SHIFT, + UNWIND_PAGE_BYTES) of the file, offsets from there;
 * the first is at 0. Added to *ret, which is empty. Code of which nothing is said has
 * UNWIND_FRAME_POINTER, rules that rows cannot express or that make no sense UNWIND_UNKNOWN;
 * so has all behind what may be looked at for one page. Returns 0, -ENOMEM or the blob's error.
 */
int unwind_file_page(struct unwind_file *file, uint32_t page, struct unwind_rows *ret);

/*
 * The row that holds in most of the dynamic symbol's code: the frame of a function's
 * body. Returns 0, -ENOENT, -ENOMEM, -EBADMSG or the blob's error.
 */
int unwind_file_body_row(struct unwind_file *file, const char *symbol, struct unwind_row *ret);

/* Memory that it takes. */
size_t unwind_file_bytes(const struct unwind_file *file);

#endif
