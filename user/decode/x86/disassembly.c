/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/disassembly.h"

#include <errno.h>
#include <stdio.h>

int disassembler_init(struct disassembler *ret, enum disassembly_style style, bool is_32_bit)
{
	ZydisMachineMode mode =
		is_32_bit ? ZYDIS_MACHINE_MODE_LEGACY_32 : ZYDIS_MACHINE_MODE_LONG_64;
	ZydisStackWidth width = is_32_bit ? ZYDIS_STACK_WIDTH_32 : ZYDIS_STACK_WIDTH_64;
	ZydisFormatterStyle words = style == DISASSEMBLY_INTEL ? ZYDIS_FORMATTER_STYLE_INTEL
							       : ZYDIS_FORMATTER_STYLE_ATT;
	struct disassembler made;

	if (!ZYAN_SUCCESS(ZydisDecoderInit(&made.decoder, mode, width)) ||
	    !ZYAN_SUCCESS(ZydisFormatterInit(&made.formatter, words)))
		return -EINVAL;
	/* Numbers without leading zeros, as objdump writes them. */
	ZydisFormatterSetProperty(&made.formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&made.formatter, ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&made.formatter, ZYDIS_FORMATTER_PROP_DISP_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&made.formatter, ZYDIS_FORMATTER_PROP_IMM_PADDING,
				  ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&made.formatter, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	*ret = made;
	return 0;
}

static void find_target(const ZydisDecodedInstruction *instruction,
			const ZydisDecodedOperand *operands, uint64_t address,
			struct disassembled *ret)
{
	ZyanU64 target;

	if (instruction->meta.category != ZYDIS_CATEGORY_COND_BR &&
	    instruction->meta.category != ZYDIS_CATEGORY_UNCOND_BR &&
	    instruction->meta.category != ZYDIS_CATEGORY_CALL)
		return;
	if (!instruction->operand_count || operands[0].type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    !operands[0].imm.is_relative ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, &operands[0], address, &target)))
		return;
	ret->has_target = true;
	ret->target = target;
}

void disassemble(const struct disassembler *disassembler, const uint8_t *code, size_t left_bytes,
		 uint64_t address, struct disassembled *ret)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;

	*ret = (struct disassembled){.length = 1};
	if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&disassembler->decoder, code, left_bytes,
						&instruction, operands)) &&
	    ZYAN_SUCCESS(
		    ZydisFormatterFormatInstruction(&disassembler->formatter, &instruction,
						    operands, instruction.operand_count_visible,
						    ret->text, sizeof(ret->text), address, NULL))) {
		ret->length = instruction.length;
		ret->valid = true;
		find_target(&instruction, operands, address, ret);
		return;
	}
	snprintf(ret->text, sizeof(ret->text), ".byte 0x%02x", code[0]);
}
