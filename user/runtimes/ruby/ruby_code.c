/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_code.h"

#include <errno.h>
#include <stdbool.h>

#include <Zydis/Zydis.h>

#define FUNCTION_BYTES_MAX 128

/* Receives an instruction. Returns true to end the search. */
typedef bool instruction_fn(const ZydisDecodedInstruction *instruction,
			    const ZydisDecodedOperand *operands, uint64_t address,
			    struct ruby_file *file);

static int search(const struct elf_file *elf, struct runtime_range function,
		  instruction_fn *is_found, struct ruby_file *file)
{
	uint64_t size_bytes = function.end - function.start, offset;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	uint8_t code[FUNCTION_BYTES_MAX];
	ZydisDecoder decoder;
	int err;

	if (size_bytes > sizeof(code) || !elf_file_offset(elf, function.start, &offset))
		return -ENOENT;
	err = blob_read(elf->blob, offset, code, size_bytes);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size_bytes; at += instruction.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size_bytes - at,
							 &instruction, operands)))
			return -ENOENT;
		if (is_found(&instruction, operands, function.start + at, file))
			return 0;
	}
	return -ENOENT;
}

/* Returns the address of an operand that is relative to the instruction, or 0. */
static uint64_t relative_address(const ZydisDecodedInstruction *instruction,
				 const ZydisDecodedOperand *operand, uint64_t address)
{
	ZyanU64 target;

	if (operand->type != ZYDIS_OPERAND_TYPE_MEMORY || operand->mem.base != ZYDIS_REGISTER_RIP ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, operand, address, &target)))
		return 0;
	return target;
}

/*
 * A library calls __tls_get_addr() with a number of a module and an offset, or reads at an offset
 * that the loader writes; a program reads at one that the linker knows.
 */
static bool is_context(const ZydisDecodedInstruction *instruction,
		       const ZydisDecodedOperand *operands, uint64_t address,
		       struct ruby_file *file)
{
	const ZydisDecodedOperand *from = &operands[1];
	uint64_t target = relative_address(instruction, from, address);

	if (instruction->operand_count_visible != 2)
		return false;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA && target &&
	    operands[0].reg.value == ZYDIS_REGISTER_RDI) {
		file->context_kind = RUBY_CONTEXT_BY_MODULE;
		file->context = target;
		return true;
	}
	if (instruction->mnemonic != ZYDIS_MNEMONIC_MOV ||
	    from->type != ZYDIS_OPERAND_TYPE_MEMORY || operands[0].size != 64)
		return false;
	if (target) {
		file->context_kind = RUBY_CONTEXT_BY_OFFSET;
		file->context = target;
		return true;
	}
	if (from->mem.segment != ZYDIS_REGISTER_FS || from->mem.base != ZYDIS_REGISTER_NONE ||
	    from->mem.disp.value >= 0)
		return false;
	file->context_kind = RUBY_CONTEXT_AT_OFFSET;
	file->context = (uint64_t)from->mem.disp.value;
	return true;
}

int ruby_code_find_context(const struct elf_file *elf, struct runtime_range function,
			   struct ruby_file *file)
{
	return search(elf, function, is_context, file);
}

static bool is_symbols(const ZydisDecodedInstruction *instruction,
		       const ZydisDecodedOperand *operands, uint64_t address,
		       struct ruby_file *file)
{
	uint64_t target = relative_address(instruction, &operands[1], address);

	if (instruction->operand_count_visible != 2 ||
	    instruction->mnemonic != ZYDIS_MNEMONIC_MOV || !target)
		return false;
	file->symbols = target;
	return true;
}

int ruby_code_find_symbols(const struct elf_file *elf, struct runtime_range function,
			   struct ruby_file *file)
{
	return search(elf, function, is_symbols, file);
}
