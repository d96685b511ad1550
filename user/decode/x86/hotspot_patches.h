/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What HotSpot writes to code after it has reported it: data of call sites, addresses of objects,
 * and the colour of object pointers (ZGC since JDK 21).
 *
 * A colour is 16 bits: R (4 bits, one is set), old and young marks (2 bits each, one of both is
 * set), 2 bits that are 0, remembered (2 bits, one is set), 4 bits that are 0. When it changes, the
 * masks and shifts that are derived from it change in all code before a thread enters the code.
 */
#ifndef JITBPF_DECODE_X86_HOTSPOT_PATCHES_H
#define JITBPF_DECODE_X86_HOTSPOT_PATCHES_H

#include <Zydis/Zydis.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The present colour of one piece of code, as far as differences show it. Begins as zero. */
struct hotspot_colour {
	uint16_t known, bits;
};

/* Returns true for what may be an address of user space above 4 GB. */
static inline bool may_be_address(uint64_t value)
{
	return value >= 1ull << 32 && value < 1ull << 47;
}

/*
 * Returns the bytes of an instruction, one bit each, that HotSpot may have changed. was and is have
 * left_bytes, the instruction's at least; it is decoded from was. A sample may have seen only one
 * end of a word: the other bytes of is are those of was.
 *
 * These are 8-byte immediates that hold an address in one of both: of the class of a call site,
 * whose other value is all ones, or of a callee, whose other value is 0; 4-byte immediates of moves
 * and of comparisons with registers that may be compressed addresses of objects; and masks and
 * shifts of colours in the instructions of ZGC's barriers. Colours that differ from was must agree
 * with *colour, which they complete.
 */
uint32_t hotspot_patched_bytes(struct hotspot_colour *colour,
			       const ZydisDecodedInstruction *instruction, const uint8_t *was,
			       const uint8_t *is, size_t left_bytes);

#endif
