/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of Go's functions in a file without call frame information, from the frame sizes in
 * its function table (decode/elf/go_table.h): a source for unwind_file_add_source().
 */
#ifndef JITBPF_DECODE_CFI_GO_ROWS_H
#define JITBPF_DECODE_CFI_GO_ROWS_H

#include "base/blob.h"
#include "decode/cfi/unwind_file.h"

struct go_rows; /* see go_rows.c */

/*
 * blob is the file, and must outlive *ret. rest, which is copied, makes the rows of code between
 * those of Go: a program can have C, too. Nothing is read before rows are wanted. Returns 0 or
 * -ENOMEM.
 */
int go_rows_create(const struct blob *blob, const struct unwind_gap_source *rest,
		   struct go_rows **ret);
void go_rows_destroy(struct go_rows *rows); /* NULL is allowed */

/* Returns the source, which borrows rows. It knows nothing of files of other languages. */
struct unwind_gap_source go_rows_source(struct go_rows *rows);

/* Memory in use, in bytes. */
size_t go_rows_bytes(const struct go_rows *rows);

#endif
