/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Finds the patches that HotSpot writes to code after the report of that code: data of call sites,
 * addresses of objects, and the colour of object pointers (ZGC since JDK 21).
 *
 * A colour is 16 bits: R (4 bits, one is set), old and young marks (2 bits each, one of both is
 * set), 2 bits that are 0, remembered (2 bits, one is set), 4 bits that are 0. When the colour
 * changes, HotSpot changes the masks and shifts that are derived from it in a piece of code, before
 * a thread enters that code.
 */
#ifndef JITBPF_RUNTIMES_HOTSPOT_PATCHES_H
#define JITBPF_RUNTIMES_HOTSPOT_PATCHES_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The present colour of one piece of code, as far as patches have shown it. Zero-initialized at
 * first.
 */
struct hotspot_colour {
	uint16_t known, bits;
};

/* Returns true if a value may be an address of user space above 4 GB. */
static inline bool may_be_address(uint64_t value)
{
	return value >= 1ull << 32 && value < 1ull << 47;
}

/*
 * Returns the bytes of an instruction, one bit each, that HotSpot may have changed. `was` and `is`
 * have left_bytes each, which cover the instruction; it is decoded from `was`. A sample may contain
 * only a part of a word; then the other bytes of `is` are copies of those of `was`.
 *
 * Patches are:
 * - 8-byte immediates with the class of a call site: an address, or all ones without a class.
 * - 8-byte immediates with the address of a callee, 0 while the call site is not linked.
 * - 8-byte immediates of moves with the address of an object, which may be below 4 GB.
 * - 4-byte immediates of moves, and of comparisons with registers, that may be compressed addresses
 *   of objects.
 * - Masks and shifts of colours, in instructions of ZGC's barriers. The new colours must agree with
 *   *colour, to which they are added.
 */
uint32_t hotspot_patched_bytes(struct hotspot_colour *colour,
			       const ZydisDecodedInstruction *instruction, const uint8_t *was,
			       const uint8_t *is, size_t left_bytes);

#endif
