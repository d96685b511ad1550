/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/perl/perl_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <Zydis/Zydis.h>

#include "base/scope.h"
#include "runtimes/perl/perl_layout.h"

#define FUNCTION_BYTES_MAX (16u << 10)
#define FILLS_MAX	   32 /* instructions */

struct code {
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t address; /* of the instruction */
};

/* Receives an instruction. Returns true to end the search. */
typedef bool instruction_fn(const struct code *code, void *context);

static int search(const struct elf_file *elf, struct runtime_range function,
		  instruction_fn *is_found, void *context)
{
	uint64_t size_bytes = function.end - function.start, offset;
	AUTO_FREE uint8_t *bytes = NULL;
	ZydisDecoder decoder;
	struct code code;
	int err;

	if (size_bytes > FUNCTION_BYTES_MAX || !elf_file_offset(elf, function.start, &offset))
		return -ENOENT;
	bytes = malloc(size_bytes + 1);
	if (!bytes)
		return -ENOMEM;
	err = blob_read(elf->blob, offset, bytes, size_bytes);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size_bytes; at += code.instruction.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes + at, size_bytes - at,
							 &code.instruction, code.operands)))
			return -ENOENT;
		code.address = function.start + at;
		if (is_found(&code, context))
			return 0;
	}
	return -ENOENT;
}

static bool is_move(const struct code *code)
{
	return code->instruction.mnemonic == ZYDIS_MNEMONIC_MOV &&
	       code->instruction.operand_count_visible == 2;
}

static bool is_stack(const struct code *code, void *context)
{
	const ZydisDecodedOperand *from = &code->operands[1];
	int64_t *ret = context;

	if (!is_move(code) || from->type != ZYDIS_OPERAND_TYPE_MEMORY || from->size != 64 ||
	    from->mem.base != ZYDIS_REGISTER_RDI || from->mem.index != ZYDIS_REGISTER_NONE)
		return false;
	*ret = from->mem.disp.value;
	return true;
}

int perl_code_find_stack(const struct elf_file *elf, struct runtime_range function, int64_t *ret)
{
	int64_t offset;
	int err = search(elf, function, is_stack, &offset);

	if (!err && (offset + PERL_CURCOP_FROM_STACKINFO < 0 || offset > INT16_MAX || offset % 8))
		err = -ENOENT;
	if (!err)
		*ret = offset;
	return err;
}

struct fill {
	struct runtime_range range;
	ZydisRegister context; /* of the context, once its caller is stored */
	uint32_t left;	       /* instructions, once it is the newest one */
	bool has_function, has_retop;
};

/* Returns true if an instruction stores a register of so many bits at an offset. */
static bool stores(const struct code *code, uint16_t bits, int64_t offset)
{
	const ZydisDecodedOperand *to = &code->operands[0];

	return is_move(code) && to->type == ZYDIS_OPERAND_TYPE_MEMORY && to->size == bits &&
	       to->mem.disp.value == offset && to->mem.base != ZYDIS_REGISTER_RSP &&
	       code->operands[1].type == ZYDIS_OPERAND_TYPE_REGISTER;
}

static bool fills(const struct code *code, void *context)
{
	ZydisRegister base = code->operands[0].mem.base;
	uint64_t end = code->address + code->instruction.length;
	struct fill *fill = context;

	if (!fill->left) {
		if (stores(code, 32, PERL_CONTEXT_CALLER))
			fill->context = base;
		if (fill->context && base != fill->context && stores(code, 32, PERL_STACK_SUB)) {
			fill->range.start = end;
			fill->left = FILLS_MAX;
		}
		return false;
	}
	fill->left--;
	if (base == fill->context && stores(code, 64, PERL_CONTEXT_CV))
		fill->has_function = true;
	if (base == fill->context && stores(code, 64, PERL_CONTEXT_RETOP))
		fill->has_retop = true;
	fill->range.end = end;
	return (fill->has_function && fill->has_retop) || !fill->left;
}

int perl_code_find_unfilled(const struct elf_file *elf, struct runtime_range function,
			    struct runtime_range *ret)
{
	struct fill fill = {0};
	int err = search(elf, function, fills, &fill);

	if (!err && !(fill.has_function && fill.has_retop))
		err = -ENOENT;
	if (!err)
		*ret = fill.range;
	return err;
}

struct again {
	uint64_t self, target;
	bool has_self;
};

static bool is_again(const struct code *code, void *context)
{
	const ZydisDecodedInstruction *instruction = &code->instruction;
	struct again *again = context;
	ZyanU64 target = 0;

	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA) {
		ZydisCalcAbsoluteAddress(instruction, &code->operands[1], code->address, &target);
		again->has_self =
			target == again->self && code->operands[0].reg.value == ZYDIS_REGISTER_RSI;
		return false;
	}
	if (!again->has_self || (instruction->mnemonic != ZYDIS_MNEMONIC_JMP &&
				 instruction->mnemonic != ZYDIS_MNEMONIC_CALL))
		return false;
	return code->operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
	       ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, &code->operands[0], code->address,
						     &again->target));
}

int perl_code_find_again(const struct elf_file *elf, struct runtime_range function, uint64_t *ret)
{
	struct again again = {.self = function.start};
	int err = search(elf, function, is_again, &again);

	if (!err)
		*ret = again.target;
	return err;
}
