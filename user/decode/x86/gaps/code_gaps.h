/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of a file's code without call frame information, from its instructions: a source for
 * unwind_file_add_source(). Code is followed in parts of up to CODE_FUNCTIONS_BYTES_MAX around the
 * rows that are wanted, and the last part is kept. Where nearly all functions have frame pointers,
 * code that cannot be placed has them, too. Builtins of engines have rows of their own
 * (decode/x86/gaps/builtins.h).
 */
#ifndef JITBPF_DECODE_X86_GAPS_CODE_GAPS_H
#define JITBPF_DECODE_X86_GAPS_CODE_GAPS_H

#include "decode/cfi/unwind_file.h"

struct code_gaps; /* see code_gaps.c */

/* blob is the file, and must outlive *ret. Nothing is read before rows are wanted. */
int code_gaps_create(const struct blob *blob, struct code_gaps **ret);
void code_gaps_destroy(struct code_gaps *gaps); /* NULL is allowed */

/*
 * While quick is set, code that would have to be followed, which takes long, has UNWIND_NOT_MADE
 * instead. The default is false.
 */
void code_gaps_set_quick(struct code_gaps *gaps, bool quick);

/* Returns the source, which borrows gaps. */
struct unwind_gap_source code_gaps_source(struct code_gaps *gaps);

/* Memory in use, in bytes. */
size_t code_gaps_bytes(const struct code_gaps *gaps);

#endif
