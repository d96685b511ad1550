/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of an interpreter that is generated at run time, as HotSpot's is: pieces of code that
 * jump to each other in frames of one layout. rbp is a frame pointer, and the word below the saved
 * rbp is the caller's rsp (UNWIND_INTERPRETER).
 */
#ifndef JITBPF_RUNTIMES_CODE_INTERPRETER_H
#define JITBPF_RUNTIMES_CODE_INTERPRETER_H

#include <stddef.h>
#include <stdint.h>

#include "decode/cfi/unwind_rows.h"

/*
 * Add the rows of code_bytes of code that runs at `address` to *ret, which must be empty. The first
 * row is at offset 0. Until a piece has set up its frame, it is unwound like a called function.
 * Returns 0, -EINVAL (empty or larger than CODE_UNWIND_BYTES_MAX) or -ENOMEM.
 */
int code_interpreter(const uint8_t *code, size_t code_bytes, uint64_t address,
		     struct unwind_rows *ret);

#endif
