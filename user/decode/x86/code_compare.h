/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares machine code with an earlier copy of it. Engines write to code that they have reported:
 * the targets of jumps and calls, the addresses of data, and jumps over single instructions.
 */
#ifndef JITBPF_DECODE_X86_CODE_COMPARE_H
#define JITBPF_DECODE_X86_CODE_COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CODE_COMPARE_BYTES_MAX (32u << 10) /* about 0.5 ms if the code was written to */

/*
 * Returns true if both are the same code: all bytes are equal, except for addresses. These are
 * targets of relative branches, displacements from rip, and 8-byte immediates that are or may be
 * addresses of user space above 4 GB, or all ones, if the old one is that or 0, or any address if
 * the old one is 0; 4-byte immediates of moves and of comparisons with registers that may be
 * compressed addresses of objects; and aligned words of tables of addresses. A few instructions may
 * be jumps, calls or nops in only one of them, or compare a word at r15 with another number. Other
 * differences, such as constants, make it different code. Both are size_bytes long and begin with
 * an instruction.
 */
bool code_is_same(const uint8_t *was, const uint8_t *is, size_t size_bytes);

#endif
