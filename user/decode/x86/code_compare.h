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

/* Two copies of code, which begin with an instruction; borrowed. */
struct code_pair {
	const uint8_t *was, *is;
	size_t size_bytes; /* of each */
	bool objects_move; /* see struct code_publisher */
};

/*
 * Returns true if both are the same code: all bytes are equal, except for addresses. These are
 * targets of relative branches, displacements from rip, and 8-byte immediates that are or may be
 * addresses of user space above 4 GB if the old one is that or 0, or any address if the old one is
 * 0; and aligned words of tables of addresses. With objects_move, they are also what HotSpot writes
 * (decode/x86/hotspot_patches.h). A few instructions may be jumps, calls or nops in only one of
 * them or, with objects_move, compare a word at r15 with another number. Other differences, such as
 * constants, make it different code. Code is decoded from its begin on; a difference inside of an
 * instruction is never taken for another instruction.
 */
bool code_is_same(const struct code_pair *pair);

#endif
