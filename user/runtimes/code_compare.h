/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Compares machine code with an earlier copy of it. Engines write to code that they have reported:
 * the targets of jumps and calls, the addresses of data, and jumps over single instructions.
 */
#ifndef JITBPF_RUNTIMES_CODE_COMPARE_H
#define JITBPF_RUNTIMES_CODE_COMPARE_H

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
 * Returns true if both copies are the same code. All bytes must be equal, except for these:
 * - Targets of relative branches, and displacements from rip.
 * - 8-byte immediates. Both values must look like addresses of user space above 4 GB. The old value
 *   may also be 0 (not linked yet); then the new one may be below 4 GB.
 * - Aligned words of tables of addresses.
 * - With objects_move, bytes that HotSpot patches (runtimes/hotspot_patches.h).
 * - A few instructions that are a jump, call, nop or int3 in one of the copies only; or, with
 *   objects_move, that compare a word at r15 with another number.
 * Other differences, such as constants, make it different code. Code is decoded from its beginning,
 * so a difference inside an instruction is never taken for another instruction.
 */
bool code_is_same(const struct code_pair *pair);

#endif
