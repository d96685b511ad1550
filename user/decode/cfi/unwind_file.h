/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of an ELF file, made for one page of UNWIND_PAGE_BYTES at a time.
 * Rows come from .eh_frame, and from .debug_frame for code that .eh_frame does
 * not cover. Functions are found by .eh_frame_hdr; if that is missing or
 * invalid, the whole section is indexed once. Signal trampolines are detected
 * by their instructions. Files of 32-bit code (i386) have rows UNWIND_NARROW;
 * their code without call frame information gets UNWIND_FRAME_POINTER.
 *
 * Pages are numbered by file offset, so callers need not know the file's
 * addresses.
 */
#ifndef JITBPF_DECODE_CFI_UNWIND_FILE_H
#define JITBPF_DECODE_CFI_UNWIND_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "base/blob.h"
#include "decode/cfi/frame_program.h"
#include "decode/cfi/unwind_rows.h"

struct unwind_file; /* see unwind_file.c */

/*
 * Open a file. blob must outlive *ret. A file without call frame information is
 * not an error, see unwind_file_page(). Returns 0, -ENOEXEC, -EBADMSG, -E2BIG,
 * -ENOMEM or the blob's error.
 */
int unwind_file_create(const struct blob *blob, struct unwind_file **ret);
void unwind_file_destroy(struct unwind_file *file); /* NULL is allowed */

/*
 * Add the rows of one page to *ret, which must be empty. Row offsets are
 * relative to the start of the page; the first row is at 0. Code without call
 * frame information gets the rows of the first other source that knows it, or
 * UNWIND_FRAME_POINTER. Rules that are invalid or that
 * rows cannot express get UNWIND_UNKNOWN, and so does all code after the work
 * budget of the page is spent. Returns 0, -ENOMEM or the blob's error.
 */
int unwind_file_page(struct unwind_file *file, uint32_t page, struct unwind_rows *ret);

/*
 * Add the rows of a window of addresses, as for a page but without signal trampolines and without
 * corrections where stacks begin. Returns as unwind_file_page(), or -EBADMSG.
 */
int unwind_file_rows(struct unwind_file *file, const struct frame_window *window);

/* A part of the code without call frame information. */
struct unwind_gap {
	const struct frame_window *window; /* of the rows to add */
	/* The window lies in [low, high), of which nothing has call frame information. */
	uint64_t low, high;
};

/* Another source of rows, for code without call frame information. */
struct unwind_gap_source {
	/*
	 * Add rows for all of a gap's window. work_bytes is what is left of the page's work budget;
	 * the source reduces it. Returns 0, -ENOENT (no rows were added: the source knows nothing
	 * of this code), -E2BIG (no rows were added: over the budget), -ENOMEM or the blob's error.
	 */
	int (*add)(void *context, const struct unwind_gap *gap, uint64_t *work_bytes);
	void *context;
};

#define UNWIND_GAP_SOURCES_MAX 4

/* Add a source, which is borrowed. The sources are asked in this order. */
void unwind_file_add_source(struct unwind_file *file, const struct unwind_gap_source *source);

/* Returns the blob of unwind_file_create(). */
const struct blob *unwind_file_blob(const struct unwind_file *file);

/* Memory in use, in bytes. */
size_t unwind_file_bytes(const struct unwind_file *file);

#endif
