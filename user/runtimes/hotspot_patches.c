/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot_patches.h"

#include <string.h>

#define OPCODE_CALL 0xe8
#define OPCODE_JUMP 0xe9

#define OBJECT_LOWEST	 (2ull << 30) /* HeapBaseMinAddress */
#define OBJECT_ALIGNMENT 8

/* The parts of a colour. */
#define COLOUR_R	  0xf000
#define COLOUR_OLD	  0x0c00
#define COLOUR_YOUNG	  0x0300
#define COLOUR_FINAL	  0x00c0
#define COLOUR_REMEMBERED 0x0030
#define COLOUR_MARK	  (COLOUR_R | COLOUR_OLD | COLOUR_YOUNG | COLOUR_FINAL)
#define COLOUR_ALL	  (COLOUR_MARK | COLOUR_REMEMBERED)

#define SHIFT_MIN 13 /* drops the lowest bit of R */
#define SHIFT_MAX 16

static uint64_t value_at(const uint8_t *bytes, uint32_t bits)
{
	uint64_t value = 0;

	memcpy(&value, bytes, bits / 8);
	return value;
}

static uint32_t field(uint32_t offset, uint32_t bits)
{
	return ((1u << bits / 8) - 1) << offset;
}

/* --- words ------------------------------------------------------------------------- */

/* Returns true for a move of a constant to one of the lower eight registers. */
static bool loads(const ZydisDecodedInstruction *instruction, uint8_t opcode)
{
	return instruction->opcode == opcode && !instruction->raw.rex.B;
}

/*
 * Returns true for the class of a call site: an address, or all ones while the site has no class.
 * Of a sampled word that is only seen in part, the other part may still be that of the other kind.
 */
static bool is_class_or_ones(uint64_t word)
{
	const uint64_t low = (1ull << 48) - 1;
	uint64_t high = word >> 48;

	if (high == 0xffff || word == low || word == (low | 0xffull << 48))
		return true;
	return may_be_address(high == 0xff00 ? word & low : word);
}

/*
 * Returns true if a word can have changed from or to all ones: the class of a call site. In "mov
 * rax, imm64; call", the seen word may be a part of an address, followed by ones.
 */
static bool is_cached_class(const ZydisDecodedInstruction *instruction, uint64_t was, uint64_t is,
			    uint8_t next)
{
	bool at_call = loads(instruction, 0xb8) && next == OPCODE_CALL;

	if (!was && is == UINT64_MAX)
		return true;
	if (was == UINT64_MAX || at_call)
		return is_class_or_ones(was) && is_class_or_ones(is);
	for (uint32_t shift = 0; shift < 64; shift += 8) {
		if ((was ^ is) >> shift & UINT8_MAX && (is >> shift & UINT8_MAX) != UINT8_MAX)
			return false;
	}
	return may_be_address(was);
}

/*
 * Returns true for the callee of a call site, in the stub behind the code: mov rbx, imm64; jmp. It
 * is 0 while the site is not linked. The seen word may be a part of an address, followed by zeros.
 */
static bool is_callee(const ZydisDecodedInstruction *instruction, uint64_t was, uint64_t is,
		      uint8_t next)
{
	return loads(instruction, 0xbb) && next == OPCODE_JUMP && was < 1ull << 47 &&
	       is < 1ull << 47;
}

/*
 * HotSpot places its heap at the end of 4 or 32 GB if possible. Small negative numbers are
 * constants.
 */
static bool may_be_compressed(uint64_t value)
{
	return value >= 1u << 24 && value < UINT32_MAX - (1u << 16);
}

/*
 * Returns true for a 32-bit immediate that may be the compressed address of an object, which the
 * garbage collector moves. Comparisons with memory are left out: they compare classes, and two
 * methods may differ only in the class.
 */
static bool is_object(const ZydisDecodedInstruction *instruction, uint64_t was, uint64_t is)
{
	return (instruction->mnemonic == ZYDIS_MNEMONIC_MOV ||
		(instruction->mnemonic == ZYDIS_MNEMONIC_CMP && instruction->raw.modrm.mod == 3)) &&
	       may_be_compressed(was) && may_be_compressed(is);
}

/*
 * Returns true for the address of an object. HotSpot places a heap of up to 2 GB between 2 and 4
 * GB, so that compressed addresses need no shift. A word with parts of two addresses is aligned,
 * too.
 */
static bool is_object_address(uint64_t word)
{
	return word >= OBJECT_LOWEST && word < 1ull << 47 && !(word % OBJECT_ALIGNMENT);
}

/* Returns true for an instruction that moves the address of an object to a register. */
static bool moves_object(const ZydisDecodedInstruction *instruction, uint64_t was, uint64_t is)
{
	return instruction->mnemonic == ZYDIS_MNEMONIC_MOV && is_object_address(was) &&
	       is_object_address(is);
}

/* --- colours ----------------------------------------------------------------------- */

/* How an immediate is derived from the bits of the colour that it contains. */
enum colour_use {
	COLOUR_GOOD,  /* these bits */
	COLOUR_BAD,   /* the complement of these bits */
	COLOUR_SHIFT, /* the number of bits up to that of R */
};

/*
 * Returns the bits of the colour that an instruction of a barrier contains; 0 for other
 * instructions.
 */
static uint16_t colour_bits(const ZydisDecodedInstruction *instruction, uint64_t value,
			    enum colour_use *ret_use)
{
	uint32_t bits = instruction->raw.imm[0].size, width = instruction->operand_width;
	bool in_register = instruction->raw.modrm.mod == 3;

	*ret_use = COLOUR_GOOD;
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_SHL:
	case ZYDIS_MNEMONIC_SHR:
		*ret_use = COLOUR_SHIFT;
		return bits == 8 && width == 64 && in_register ? COLOUR_R : 0;
	case ZYDIS_MNEMONIC_OR:
		return bits == 32 && width == 64 && in_register ? COLOUR_ALL : 0;
	case ZYDIS_MNEMONIC_MOV:
		return bits == 32 && width == 64 && !in_register ? COLOUR_ALL : 0;
	case ZYDIS_MNEMONIC_CMP:
		return bits == 16 && !in_register ? COLOUR_ALL : 0;
	case ZYDIS_MNEMONIC_TEST:
		*ret_use = COLOUR_BAD;
		if (bits != 32 || width != 32)
			return 0;
		if (!in_register)
			return COLOUR_ALL;
		/* The masks of a load, and of a load from a weak reference. */
		return value & (COLOUR_MARK ^ COLOUR_R) ? COLOUR_MARK : COLOUR_R;
	default:
		return 0;
	}
}

static bool has_one_bit(uint64_t value)
{
	return value && !(value & (value - 1));
}

static bool is_valid(uint64_t colour, uint16_t bits)
{
	return !(colour & ~(uint64_t)bits) && !(colour & COLOUR_FINAL) &&
	       has_one_bit(colour & COLOUR_R) &&
	       (!(bits & COLOUR_OLD) ||
		(has_one_bit(colour & COLOUR_OLD) && has_one_bit(colour & COLOUR_YOUNG))) &&
	       (!(bits & COLOUR_REMEMBERED) || has_one_bit(colour & COLOUR_REMEMBERED));
}

/* Returns true for "or r64, imm32": behind a shift, it sets the colour of a pointer. */
static bool is_coloured_next(const uint8_t *next, size_t left_bytes)
{
	return left_bytes >= 2 && (next[0] & 0xfe) == 0x48 && next[1] == 0x81;
}

/*
 * Find the colour that an immediate is derived from. *ret_bits is the mask of the colour's bits
 * that the immediate contains.
 */
static bool colour_of(const ZydisDecodedInstruction *instruction, uint64_t value, uint64_t *ret,
		      uint16_t *ret_bits)
{
	enum colour_use use;
	uint16_t bits = colour_bits(instruction, value, &use);

	if (!bits || (use == COLOUR_SHIFT && (value < SHIFT_MIN || value > SHIFT_MAX)))
		return false;
	if (use == COLOUR_SHIFT)
		value = 1ull << (value - 1);
	else if (use == COLOUR_BAD)
		value ^= bits;
	*ret = value;
	*ret_bits = bits;
	return is_valid(value, bits);
}

/* Returns a mask of the bytes that differ. A sample may not have seen the other bytes. */
static uint16_t different_bytes(uint64_t was, uint64_t is)
{
	return ((was ^ is) & 0xff00 ? 0xff00 : 0) | ((was ^ is) & 0x00ff ? 0x00ff : 0);
}

static bool is_barrier(struct hotspot_colour *colour, const ZydisDecodedInstruction *instruction,
		       uint64_t was, uint64_t is)
{
	uint16_t was_bits, is_bits, known;
	uint64_t was_colour, is_colour;

	if (!colour_of(instruction, was, &was_colour, &was_bits) ||
	    !colour_of(instruction, is, &is_colour, &is_bits) || was_bits != is_bits)
		return false;
	known = is_bits & different_bytes(was_colour, is_colour);
	if ((is_colour ^ colour->bits) & known & colour->known)
		return false;
	colour->bits |= is_colour & known;
	colour->known |= known;
	return true;
}

uint32_t hotspot_patched_bytes(struct hotspot_colour *colour,
			       const ZydisDecodedInstruction *instruction, const uint8_t *was,
			       const uint8_t *is, size_t left_bytes)
{
	uint32_t at = instruction->raw.imm[0].offset, bits = instruction->raw.imm[0].size;
	const uint8_t *behind = was + instruction->length;
	size_t bytes_behind = left_bytes - instruction->length;
	uint8_t next = bytes_behind ? *behind : 0;
	uint64_t before, now;
	bool patched = false;

	if (!bits || !memcmp(was + at, is + at, bits / 8))
		return 0;
	before = value_at(was + at, bits);
	now = value_at(is + at, bits);
	if (bits == 64)
		patched = is_cached_class(instruction, before, now, next) ||
			  is_callee(instruction, before, now, next) ||
			  moves_object(instruction, before, now);
	else if (bits == 32)
		patched = is_object(instruction, before, now);
	if (!patched &&
	    (instruction->mnemonic != ZYDIS_MNEMONIC_SHL || is_coloured_next(behind, bytes_behind)))
		patched = is_barrier(colour, instruction, before, now);
	return patched ? field(at, bits) : 0;
}
