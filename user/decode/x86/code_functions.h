/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of a part of a file's code, with several functions and without call frame
 * information. A function is followed from a place where it may start, on trial: each return must
 * find its address, and joining paths must agree. The rest is tried with likely frames. Code whose
 * frame nothing confirms is UNWIND_UNKNOWN; functions that do not return are accepted if there is a
 * sign that they start there.
 */
#ifndef JITBPF_DECODE_X86_CODE_FUNCTIONS_H
#define JITBPF_DECODE_X86_CODE_FUNCTIONS_H

#include <stddef.h>
#include <stdint.h>

#include "decode/cfi/unwind_rows.h"
#include "decode/x86/code_starts.h"

#define CODE_FUNCTIONS_BYTES_MAX (256u << 10)

/*
 * Add the rows of code_bytes of code at `address` to *ret, which must be empty. The first row is at
 * offset 0. The code at the entry of a program is UNWIND_ROOT. Work is linear in the code size, and
 * what a budget does not suffice for is UNWIND_UNKNOWN. Returns 0, -EINVAL (empty or too large) or
 * -ENOMEM.
 */
int code_functions(const uint8_t *code, size_t code_bytes, uint64_t address,
		   const struct code_starts *starts, struct unwind_rows *ret);

#endif
