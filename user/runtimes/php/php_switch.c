/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/php/php_switch.h"

#include <errno.h>

#include <Zydis/Zydis.h>

#define FUNCTION_BYTES_MAX 4096

/* Returns the address behind the first call of a function, or 0. */
static uint64_t behind_call(const uint8_t *code, size_t size_bytes, uint64_t address,
			    uint64_t function)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	ZyanU64 target;

	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < size_bytes; at += instruction.length) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size_bytes - at,
							 &instruction, operands)))
			return 0;
		if (instruction.mnemonic == ZYDIS_MNEMONIC_CALL &&
		    operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operands[0], address + at,
							  &target)) &&
		    target == function)
			return address + at + instruction.length;
	}
	return 0;
}

int php_switch_find(const struct elf_file *elf, struct runtime_range function,
		    struct runtime_range jump, struct runtime_range ret[RUNTIME_SWITCHES_MAX])
{
	uint64_t size_bytes = function.end - function.start, offset, behind;
	uint8_t code[FUNCTION_BYTES_MAX];
	int err;

	ret[0] = function;
	ret[1] = jump;
	if (size_bytes > sizeof(code) || jump.start == jump.end ||
	    !elf_file_offset(elf, function.start, &offset))
		return 0;
	err = blob_read(elf->blob, offset, code, size_bytes);
	if (err)
		return err == -EBADMSG ? 0 : err;
	behind = behind_call(code, size_bytes, function.start, jump.start);
	if (behind)
		ret[0].start = behind;
	return 0;
}
