/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_shapes.h"

#include <string.h>

#include "base/hash.h"

#define WORD_BYTES 8u /* of code_shape.bytes */

static uint64_t mask_of(uint32_t count)
{
	return count < WORD_BYTES ? (1ull << 8 * count) - 1 : UINT64_MAX;
}

static uint64_t word_at(const uint8_t *code)
{
	uint64_t word;

	memcpy(&word, code, sizeof(word));
	return word;
}

/* Returns how many bytes select the slot: about as many as most shapes have that begin like this.
 */
static uint32_t selecting_bytes(uint8_t first)
{
	switch (first) {
	case 0x62: /* EVEX */
		return 6;
	case 0xc4: /* VEX */
		return 5;
	case 0xc5:
	case 0x66:
	case 0xf2:
	case 0xf3:
		return 4;
	case 0x0f:
		return 3;
	default:
		return (first & 0xf0) == 0x40 ? 3 : 2; /* REX */
	}
}

static uint32_t slot_of(uint64_t word)
{
	uint64_t selects = word & mask_of(selecting_bytes((uint8_t)word));

	return (uint32_t)(hash_mix(selects, 0) % CODE_SHAPES_MAX);
}

int code_register_number(ZydisRegister name)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, name);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? (int)(whole - ZYDIS_REGISTER_RAX)
		       : -1;
}

const struct code_shape *code_shapes_find(const struct code_shapes *shapes, const uint8_t *code)
{
	uint64_t word = word_at(code);
	const struct code_shape *shape = &shapes->slots[slot_of(word)];

	return shape->length && (word & shape->mask) == shape->bytes ? shape : NULL;
}

static uint16_t bit_of(ZydisRegister name)
{
	int number = code_register_number(name);

	return number < 0 ? 0 : (uint16_t)(1u << number);
}

/*
 * Registers that are written, bases of memory that is written, and what MOV, LEA and CMP read: they
 * copy known values, or compare them.
 */
static uint16_t registers_of(const ZydisDecodedInstruction *instruction,
			     const ZydisDecodedOperand *operands)
{
	bool reads = instruction->mnemonic == ZYDIS_MNEMONIC_MOV ||
		     instruction->mnemonic == ZYDIS_MNEMONIC_LEA ||
		     instruction->mnemonic == ZYDIS_MNEMONIC_CMP;
	uint16_t registers = 0;

	for (uint32_t i = 0; i < instruction->operand_count; i++) {
		const ZydisDecodedOperand *operand = &operands[i];

		if (!reads && !(operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			continue;
		if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
			registers |= bit_of(operand->reg.value);
		else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
			registers |= bit_of(operand->mem.base);
	}
	return registers;
}

/* Returns true if the bytes before displacement and immediate determine the instruction. */
static bool has_shape(const ZydisDecodedInstruction *instruction)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
		return false;
	default:
		break;
	}
	if (instruction->mnemonic == ZYDIS_MNEMONIC_ENTER ||
	    instruction->mnemonic == ZYDIS_MNEMONIC_LEAVE)
		return false;
	return instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_LEGACY ||
	       instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX ||
	       instruction->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX;
}

void code_shapes_add(struct code_shapes *shapes, const uint8_t *code,
		     const ZydisDecodedInstruction *instruction,
		     const ZydisDecodedOperand *operands, bool is_padding)
{
	uint32_t count = instruction->length;
	uint64_t word = word_at(code);

	if (instruction->raw.imm[0].size)
		count = instruction->raw.imm[0].offset;
	if (instruction->raw.disp.size)
		count = instruction->raw.disp.offset;
	if (count > WORD_BYTES || !has_shape(instruction))
		return;
	shapes->slots[slot_of(word)] = (struct code_shape){
		.bytes = word & mask_of(count),
		.mask = mask_of(count),
		.matters = registers_of(instruction, operands),
		.length = instruction->length,
		.is_padding = is_padding,
	};
}
