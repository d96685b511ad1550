/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Unwind rows of machine code without call frame information. The code is
 * followed from its entry along all paths, with the effect of each instruction
 * on rsp and rbp. Where joining paths disagree, rows are UNWIND_UNKNOWN.
 * Compiler-generated code gets exact rows, including prologues and epilogues.
 * Where rsp has moved by an unknown distance, rows use a word in the frame from
 * which the code restores rsp.
 *
 * The code must be one function, as engines report it. With several functions,
 * code after a call that does not return would be taken for a part of the
 * caller.
 */
#ifndef JITBPF_DECODE_X86_CODE_UNWIND_H
#define JITBPF_DECODE_X86_CODE_UNWIND_H

#include <stddef.h>
#include <stdint.h>

#include "decode/x86/code_entry.h"

#define CODE_UNWIND_BYTES_MAX (1u << 20) /* limit of one region; 0.5 s at worst */

/*
 * Add the rows of code_bytes of code to *ret, which must be empty. `address` is
 * where the code runs; `entry` describes the frame at its first byte. The first
 * row is at offset 0. Code that is not reached from the entry (switch cases,
 * exception handlers) is tried with likely frames; the frame that fits the
 * following code is used. Rows that cannot be determined are UNWIND_UNKNOWN.
 * Work is linear in the code size. Returns 0, -EINVAL (empty or too large), -ENOENT (the entry is
 * doubted, and does not hold; no rows were added) or -ENOMEM.
 */
int code_unwind(const uint8_t *code, size_t code_bytes, uint64_t address,
		const struct code_entry *entry, struct unwind_rows *ret);

#endif
