/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_step.h"

#include <errno.h>
#include <string.h>

#include "decode/x86/frame_effect.h"

int code_decoder_init(struct code_decoder *ret)
{
	ret->shapes = NULL;
	return ZYAN_SUCCESS(ZydisDecoderInit(&ret->zydis, ZYDIS_MACHINE_MODE_LONG_64,
					     ZYDIS_STACK_WIDTH_64))
		       ? 0
		       : -EINVAL;
}

static enum code_way way_of(const ZydisDecodedInstruction *instruction)
{
	bool relative = instruction->raw.imm[0].is_relative;

	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_UD0:
	case ZYDIS_MNEMONIC_UD1:
	case ZYDIS_MNEMONIC_UD2:
	case ZYDIS_MNEMONIC_HLT:
	case ZYDIS_MNEMONIC_INT3:
		return CODE_TRAP;
	case ZYDIS_MNEMONIC_RET:
		return CODE_RETURN;
	case ZYDIS_MNEMONIC_XABORT:
		return CODE_ON;
	default:
		break;
	}
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_CALL:
		return CODE_CALL;
	case ZYDIS_CATEGORY_COND_BR:
		return relative ? CODE_BRANCH : CODE_ON;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return relative ? CODE_JUMP : CODE_INDIRECT;
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return CODE_PADDING;
	case ZYDIS_CATEGORY_RET: /* IRET and far returns */
	case ZYDIS_CATEGORY_SYSRET:
		return CODE_TRAP;
	default:
		return CODE_ON;
	}
}

/* Returns the set of register numbers that the instruction names, except in addresses. */
static uint32_t named(const ZydisDecodedInstruction *instruction,
		      const ZydisDecoderContext *context)
{
	uint32_t b = (uint32_t)(context->vector_unified.B & 1) << 3;
	uint32_t mask;

	if (!(instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM))
		return 1u << ((instruction->opcode & 7) | b);
	mask = 1u << (instruction->raw.modrm.reg | (context->vector_unified.R & 1) << 3);
	if (instruction->raw.modrm.mod == 3)
		mask |= 1u << (instruction->raw.modrm.rm | b);
	if (instruction->encoding != ZYDIS_INSTRUCTION_ENCODING_LEGACY)
		mask |= 1u << (context->vector_unified.vvvv & 15);
	return mask;
}

/* Returns the base register of a memory operand, as a bit. */
static uint32_t base_of(const ZydisDecodedInstruction *instruction,
			const ZydisDecoderContext *context)
{
	uint32_t base = instruction->raw.modrm.rm == 4 ? instruction->raw.sib.base
						       : instruction->raw.modrm.rm;

	return 1u << (base | (context->vector_unified.B & 1) << 3);
}

/* Returns true if a memory operand is relative to a register with a known value. */
static bool names_frame(const ZydisDecodedInstruction *instruction,
			const ZydisDecoderContext *context, uint32_t watched)
{
	return instruction->attributes & ZYDIS_ATTRIB_HAS_MODRM &&
	       instruction->raw.modrm.mod != 3 && base_of(instruction, context) & watched;
}

/* Fast filter: returns false for instructions that cannot change the frame state. */
static bool may_change(const ZydisDecodedInstruction *instruction,
		       const ZydisDecoderContext *context, const struct frame_state_entry *frame)
{
	switch (instruction->meta.category) {
	case ZYDIS_CATEGORY_PUSH:
	case ZYDIS_CATEGORY_POP:
		return true;
	case ZYDIS_CATEGORY_COND_BR: /* some branches count in rcx */
		return frame->watch_all;
	case ZYDIS_CATEGORY_UNCOND_BR:
	case ZYDIS_CATEGORY_NOP:
	case ZYDIS_CATEGORY_WIDENOP:
		return false;
	default:
		break;
	}
	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_ENTER:
	case ZYDIS_MNEMONIC_LEAVE:
	case ZYDIS_MNEMONIC_CALL:
		return true;
	case ZYDIS_MNEMONIC_LEA:
		if (base_of(instruction, context) & frame->watched)
			return true;
	/* fall through */
	default:
		return frame->watch_all || named(instruction, context) & frame->watched ||
		       (frame->has_slots && names_frame(instruction, context, frame->watched));
	}
}

/*
 * Returns the register that the instruction compares with rsp, as loops that probe the stack do; or
 * FRAME_REGISTERS.
 */
static uint8_t compared_with_rsp(const ZydisDecodedInstruction *instruction,
				 const ZydisDecodedOperand *a, const ZydisDecodedOperand *b)
{
	if (instruction->mnemonic != ZYDIS_MNEMONIC_CMP || a->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    b->type != ZYDIS_OPERAND_TYPE_REGISTER || a->size != 64)
		return FRAME_REGISTERS;
	if (a->reg.value == ZYDIS_REGISTER_RSP)
		return (uint8_t)code_register_number(b->reg.value);
	if (b->reg.value == ZYDIS_REGISTER_RSP)
		return (uint8_t)code_register_number(a->reg.value);
	return FRAME_REGISTERS;
}

static const struct code_shape *shape_of(const struct code_decoder *decoder, const uint8_t *code,
					 size_t left_bytes)
{
	return decoder->shapes && left_bytes >= CODE_SHAPES_AHEAD
		       ? code_shapes_find(decoder->shapes, code)
		       : NULL;
}

static void take_shape(const struct code_shape *shape, struct code_step *ret)
{
	ret->way = shape->is_padding ? CODE_PADDING : CODE_ON;
	ret->length = shape->length;
	ret->target = 0;
	ret->compared = FRAME_REGISTERS;
	ret->on_if_equal = ret->changes = false;
}

/* Returns true if the instruction is of a known shape, and does not change the frame. */
static bool skip(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
		 const struct frame_state_entry *frame, struct code_step *ret)
{
	const struct code_shape *shape = frame->frame.registers[FRAME_RSP].base == FRAME_NOTHING
						 ? NULL
						 : shape_of(decoder, code, left_bytes);

	if (!shape || shape->matters & frame->watched)
		return false;
	take_shape(shape, ret);
	return true;
}

/* Instructions that compilers write with a distance and no prefix, and the trap of one byte. */
struct usual {
	enum code_way way;
	uint8_t opcode_bytes, distance_bytes;
};

static bool usual_of(const uint8_t *code, size_t left_bytes, struct usual *ret)
{
	switch (code[0]) {
	case 0xcc: /* INT3 */
		*ret = (struct usual){CODE_TRAP, 1, 0};
		return true;
	case 0xe8:
		*ret = (struct usual){CODE_CALL, 1, 4};
		return true;
	case 0xe9:
		*ret = (struct usual){CODE_JUMP, 1, 4};
		return true;
	case 0xeb:
		*ret = (struct usual){CODE_JUMP, 1, 1};
		return true;
	case 0x0f:
		*ret = (struct usual){CODE_BRANCH, 2, 4};
		return left_bytes > 1 && (code[1] & 0xf0) == 0x80;
	default:
		*ret = (struct usual){CODE_BRANCH, 1, 1};
		return (code[0] & 0xf0) == 0x70;
	}
}

static uint64_t distance(const uint8_t *code, size_t size_bytes)
{
	int32_t wide = 0;

	if (size_bytes < sizeof(wide))
		return size_bytes ? (uint64_t)(int64_t)(int8_t)*code : 0;
	memcpy(&wide, code, sizeof(wide));
	return (uint64_t)(int64_t)wide;
}

/*
 * Steps over a usual instruction, without the decoder, which takes several times as long. They are
 * half of what is not of a shape.
 */
static bool step_usual(const uint8_t *code, size_t left_bytes, uint64_t address,
		       const struct frame_state_entry *frame, struct code_step *ret)
{
	struct usual usual;
	size_t length;

	if (!left_bytes || !usual_of(code, left_bytes, &usual))
		return false;
	length = usual.opcode_bytes + usual.distance_bytes;
	if (length > left_bytes)
		return false;
	ret->way = usual.way;
	ret->length = (uint8_t)length;
	ret->target = usual.distance_bytes
			      ? address + length +
					distance(code + usual.opcode_bytes, usual.distance_bytes)
			      : 0;
	ret->compared = FRAME_REGISTERS;
	ret->on_if_equal = usual.way == CODE_BRANCH && (code[usual.opcode_bytes - 1] & 15) == 5;
	ret->changes = usual.way == CODE_CALL;
	if (ret->changes) {
		ret->after = frame->frame;
		frame_effect_call(&ret->after, ret->target, address + length);
	}
	return true;
}

/* Returns true if the shape of the instruction is to be kept, which needs its operands. */
static bool keeps_shape(const struct code_decoder *decoder, size_t left_bytes,
			const struct code_step *step)
{
	return decoder->shapes && left_bytes >= CODE_SHAPES_AHEAD &&
	       (step->way == CODE_ON || step->way == CODE_PADDING);
}

bool code_step(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
	       uint64_t address, const struct frame_state_entry *frame, struct code_step *ret)
{
	ZydisDecoderContext context;
	ZydisDecodedInstruction instruction;
	/* The operands are large: they are set when they are decoded. */
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t next;
	bool keeps;

	if (skip(decoder, code, left_bytes, frame, ret) ||
	    (decoder->shapes && step_usual(code, left_bytes, address, frame, ret)))
		return true;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeInstruction(&decoder->zydis, &context, code, left_bytes,
							&instruction)))
		return false;
	next = address + instruction.length;
	ret->way = way_of(&instruction);
	ret->length = instruction.length;
	ret->target = instruction.raw.imm[0].is_relative
			      ? next + (uint64_t)instruction.raw.imm[0].value.s
			      : 0;
	ret->compared = FRAME_REGISTERS;
	ret->on_if_equal = instruction.mnemonic == ZYDIS_MNEMONIC_JNZ;
	/* What a trap does is not looked at, since nothing follows it. */
	ret->changes = ret->way != CODE_TRAP && may_change(&instruction, &context, frame);
	keeps = keeps_shape(decoder, left_bytes, ret);
	if (!ret->changes && !keeps)
		return true;
	if (ret->way == CODE_CALL) {
		ret->after = frame->frame;
		frame_effect_call(&ret->after, ret->target, next);
		return true;
	}
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder->zydis, &context, &instruction,
						     operands, instruction.operand_count)))
		return !ret->changes;
	if (keeps)
		code_shapes_add(decoder->shapes, code, &instruction, operands,
				ret->way == CODE_PADDING);
	if (!ret->changes)
		return true;
	ret->compared = compared_with_rsp(&instruction, &operands[0], &operands[1]);
	ret->after = frame->frame;
	frame_effect_apply(&ret->after, &instruction, operands, address);
	ret->changes = memcmp(&ret->after, &frame->frame, sizeof(ret->after)) != 0;
	return true;
}

bool code_step_way(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
		   uint64_t address, const struct frame_state_entry *frame, struct code_step *ret)
{
	const struct code_shape *shape = shape_of(decoder, code, left_bytes);

	if (!shape)
		return code_step(decoder, code, left_bytes, address, frame, ret);
	take_shape(shape, ret);
	return true;
}
