/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The frame of a function's body, for code that continues in it. */
#ifndef JITBPF_DECODE_CFI_BODY_ROW_H
#define JITBPF_DECODE_CFI_BODY_ROW_H

#include "decode/cfi/unwind_file.h"

/*
 * Find the row that covers most bytes of a dynamic symbol's code. Returns 0, -ENOENT, -ENOMEM,
 * -EBADMSG or the blob's error.
 */
int body_row_find(struct unwind_file *file, const char *symbol, struct unwind_row *ret);

#endif
