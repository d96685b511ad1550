/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/code_compare.h"

#include <Zydis/Zydis.h>
#include <string.h>

#include "runtimes/hotspot_patches.h"

#define WORD_BYTES sizeof(uint64_t)

/* Limit of patched instructions: one for each PATCH_BYTES of code, plus one. */
#define PATCH_BYTES 128

#define LOWEST_ADDRESS 0x10000 /* of mappings: vm.mmap_min_addr */

struct comparison {
	ZydisDecoder decoder;
	const uint8_t *was, *is;
	size_t size_bytes;
	bool objects_move;
	struct hotspot_colour colour;
	size_t patches_left;
};

static uint64_t word_at(const uint8_t *bytes)
{
	uint64_t word;

	memcpy(&word, bytes, sizeof(word));
	return word;
}

/*
 * An old value of 0 is not linked yet. Programs that are not position-independent, such as Debian's
 * python3, have addresses below 4 GB.
 */
static bool is_address_in_both(const uint8_t *was, const uint8_t *is)
{
	uint64_t before = word_at(was), now = word_at(is);

	if (!before && now >= LOWEST_ADDRESS && now < 1ull << 32)
		return true;
	return (!before || may_be_address(before)) && may_be_address(now);
}

static uint32_t field(uint32_t offset, uint32_t bits)
{
	return ((1u << bits / 8) - 1) << offset;
}

/* Returns the bytes of an instruction that hold an address, one bit each. */
static uint32_t address_bytes(const ZydisDecodedInstruction *instruction, const uint8_t *was,
			      const uint8_t *is)
{
	const __typeof__(instruction->raw.imm[0]) *immediate = &instruction->raw.imm[0];
	const __typeof__(instruction->raw.disp) *displacement = &instruction->raw.disp;
	uint32_t bytes = 0;

	if (immediate->is_relative ||
	    (immediate->size == 64 &&
	     is_address_in_both(was + immediate->offset, is + immediate->offset)))
		bytes |= field(immediate->offset, immediate->size);
	if (displacement->size == 32 && instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
	    !instruction->raw.modrm.mod && instruction->raw.modrm.rm == 5)
		bytes |= field(displacement->offset, displacement->size);
	return bytes;
}

/* Returns the length of the instruction at an offset of the old code, or 0 if there is none. */
static size_t decode(const struct comparison *c, size_t at, ZydisDecodedInstruction *ret)
{
	ZydisDecoderContext context;

	return ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&c->decoder, &context, c->was + at,
							  c->size_bytes - at, ret))
		       ? ret->length
		       : 0;
}

/*
 * Returns the offset of the first byte of an instruction that differs, except for addresses.
 * Returns the length of the instruction if none differs.
 */
static size_t first_difference(struct comparison *c, size_t at,
			       const ZydisDecodedInstruction *instruction)
{
	const uint8_t *was = c->was + at, *is = c->is + at;
	uint32_t addresses;
	size_t i = 0;

	if (!memcmp(was, is, instruction->length))
		return instruction->length;
	addresses = address_bytes(instruction, was, is);
	if (c->objects_move)
		addresses |=
			hotspot_patched_bytes(&c->colour, instruction, was, is, c->size_bytes - at);
	while (i < instruction->length && (was[i] == is[i] || addresses >> i & 1))
		i++;
	return i;
}

/*
 * Returns the length of an instruction that compares a word at r15 (HotSpot's thread) with a
 * number, else 0. At the beginning of methods, HotSpot's garbage collectors change that number. The
 * instruction counts as a patch.
 */
static size_t same_barrier(struct comparison *c, size_t at)
{
	static const uint8_t compare[] = {0x41, 0x81, 0x7f}; /* cmp dword [r15 + disp8], imm32 */
	const size_t length = sizeof(compare) + 1 + sizeof(uint32_t);

	if (!c->objects_move || !c->patches_left || c->size_bytes - at < length ||
	    memcmp(c->was + at, compare, sizeof(compare)) ||
	    memcmp(c->was + at, c->is + at, sizeof(compare) + 1))
		return 0;
	c->patches_left--;
	return length;
}

/* Returns true if a word inside the code looks like an address near another one. */
static bool is_near(const struct comparison *c, size_t at, uint64_t near)
{
	uint64_t was, is;

	if (at > c->size_bytes || c->size_bytes - at < WORD_BYTES)
		return false;
	was = word_at(c->was + at);
	is = word_at(c->is + at);
	return may_be_address(is) && is >> 32 == near >> 32 && was >> 32 == near >> 32;
}

/*
 * Returns the number of bytes from an offset to the end of its word, if the word is part of a table
 * of addresses: the word before or behind it holds an address near to its own. Else 0.
 */
static size_t same_word(const struct comparison *c, size_t at)
{
	size_t begin = at / WORD_BYTES * WORD_BYTES;
	uint64_t is = c->size_bytes - begin < WORD_BYTES ? 0 : word_at(c->is + begin);

	return is_near(c, begin, is) && (is_near(c, begin - WORD_BYTES, is) ||
					 is_near(c, begin + WORD_BYTES, is))
		       ? begin + WORD_BYTES - at
		       : 0;
}

/*
 * Returns true for an instruction that engines write over others. Sets *ret_length to its length, 0
 * if there is no valid instruction.
 */
static bool is_patch(const struct comparison *c, const uint8_t *code, size_t left_bytes,
		     size_t *ret_length)
{
	ZydisDecodedInstruction instruction;
	ZydisDecoderContext context;

	*ret_length = 0;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&c->decoder, &context, code, left_bytes,
							&instruction)))
		return false;
	*ret_length = instruction.length;
	return instruction.raw.imm[0].is_relative ||
	       instruction.meta.category == ZYDIS_CATEGORY_NOP ||
	       instruction.meta.category == ZYDIS_CATEGORY_WIDENOP ||
	       instruction.mnemonic == ZYDIS_MNEMONIC_INT3;
}

/*
 * If the old or the new instruction at an offset is a patch, returns the length of the longer one,
 * else 0.
 */
static size_t patched(struct comparison *c, size_t at)
{
	size_t was_length, is_length, left_bytes = c->size_bytes - at;
	bool was_patch = is_patch(c, c->was + at, left_bytes, &was_length);
	bool now_patch = is_patch(c, c->is + at, left_bytes, &is_length);

	if (c->was[at] == c->is[at] || !(was_patch || now_patch) || !was_length || !is_length ||
	    !c->patches_left)
		return 0;
	c->patches_left--;
	return was_length > is_length ? was_length : is_length;
}

/*
 * Returns the number of bytes from an offset on that are the same code, 0 if they differ.
 * Instructions are compared as a whole, since a changed constant inside an instruction can look
 * like a jump.
 */
static size_t same_bytes(struct comparison *c, size_t at)
{
	ZydisDecodedInstruction instruction;
	size_t length = decode(c, at, &instruction);
	size_t same = length ? first_difference(c, at, &instruction) : 0, word;

	if (length && same == length)
		return length;
	/* Data, or an instruction that is cut off. */
	if (!length && c->was[at] == c->is[at])
		return 1;
	word = same_word(c, at + same);
	return word ? same + word : same_barrier(c, at) ?: patched(c, at);
}

bool code_is_same(const struct code_pair *pair)
{
	struct comparison c = {
		.was = pair->was,
		.is = pair->is,
		.size_bytes = pair->size_bytes,
		.objects_move = pair->objects_move,
		.patches_left = 1 + pair->size_bytes / PATCH_BYTES,
	};
	size_t same;

	if (!memcmp(c.was, c.is, c.size_bytes))
		return true;
	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&c.decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return false;
	for (size_t at = 0; at < c.size_bytes; at += same) {
		same = same_bytes(&c, at);
		if (!same)
			return false;
	}
	return true;
}
