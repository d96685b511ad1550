/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/code_step.h"

#include <errno.h>
#include <string.h>

struct decoded {
	const ZydisDecodedInstruction *instruction;
	uint64_t address;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

static const struct frame_value nothing;

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

/* Returns the value of a 64-bit register; parts of a register hold no address. */
static struct frame_value register_value(const struct frame_state *frame, ZydisRegister name)
{
	return name >= ZYDIS_REGISTER_RAX && name <= ZYDIS_REGISTER_R15
		       ? frame->registers[name - ZYDIS_REGISTER_RAX]
		       : nothing;
}

static struct frame_value memory_address(const struct frame_state *frame,
					 const ZydisDecodedOperandMem *memory)
{
	struct frame_value index = register_value(frame, memory->index);
	int64_t distance = memory->disp.value;

	if (memory->segment == ZYDIS_REGISTER_FS || memory->segment == ZYDIS_REGISTER_GS)
		return nothing;
	if (index.base == FRAME_CONSTANT)
		distance += (int64_t)index.offset * memory->scale;
	else if (memory->index != ZYDIS_REGISTER_NONE)
		return nothing;
	return frame_value_add(register_value(frame, memory->base), distance);
}

static struct frame_value operand_value(const struct frame_state *frame,
					const ZydisDecodedOperand *operand)
{
	if (operand->size != 64)
		return nothing;
	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER)
		return register_value(frame, operand->reg.value);
	if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY)
		return frame_state_load(frame, memory_address(frame, &operand->mem));
	return nothing;
}

static void set_operand(struct frame_state *frame, const ZydisDecodedOperand *operand,
			struct frame_value value)
{
	int reg;

	if (operand->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		reg = code_register_number(operand->reg.value);
		if (reg >= 0)
			frame_state_set(frame, (uint32_t)reg,
					operand->size == 64 ? value : nothing);
	} else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY && operand->size == 64) {
		frame_state_store(frame, memory_address(frame, &operand->mem), value);
	} else if (operand->type == ZYDIS_OPERAND_TYPE_MEMORY) {
		frame_state_overwrite(frame, memory_address(frame, &operand->mem),
				      operand->size / 8);
	}
}

/* Sets all operands that an instruction writes to unknown. */
static void overwrite(struct frame_state *frame, const struct decoded *d)
{
	for (uint32_t i = 0; i < d->instruction->operand_count; i++) {
		const ZydisDecodedOperand *operand = &d->operands[i];

		if (operand->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			set_operand(frame, operand, nothing);
	}
}

static void add(struct frame_state *frame, const struct decoded *d, int sign)
{
	const ZydisDecodedOperand *by = &d->operands[1];
	struct frame_value distance = operand_value(frame, by);

	if (by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		distance = (struct frame_value){FRAME_CONSTANT, (int32_t)by->imm.value.s};
	if (d->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER && distance.base == FRAME_CONSTANT)
		set_operand(frame, &d->operands[0],
			    frame_value_add(operand_value(frame, &d->operands[0]),
					    sign * (int64_t)distance.offset));
	else
		overwrite(frame, d);
}

/*
 * The CFA is a multiple of 16 by the ABI, and a FRAME_ALIGNED base is one, too. So up to that
 * alignment the result is known: a rounded address, or the address modulo 16 as a constant.
 * More alignment starts a new base.
 */
static void mask(struct frame_state *frame, const struct decoded *d)
{
	const ZydisDecodedOperand *to = &d->operands[0], *by = &d->operands[1];
	int reg =
		to->type == ZYDIS_OPERAND_TYPE_REGISTER ? code_register_number(to->reg.value) : -1;
	int64_t bits = by->type == ZYDIS_OPERAND_TYPE_IMMEDIATE ? by->imm.value.s : 0;
	bool modulo = bits > 0 && bits < 16;
	struct frame_value value = reg < 0 ? nothing : frame->registers[reg];
	enum frame_base kind = (enum frame_base)(value.base & FRAME_BASE_MASK);

	if (!frame_value_is_address(value) || (to->size != 64 && !(to->size == 32 && modulo))) {
		overwrite(frame, d);
	} else if ((modulo || (bits < 0 && bits >= -16)) &&
		   (kind == FRAME_CFA || kind == FRAME_ALIGNED)) {
		value.offset &= (int32_t)bits;
		if (modulo)
			value.base = FRAME_CONSTANT;
		frame_state_set(frame, (uint32_t)reg, value);
	} else if (bits < 0 && bits % 16 == 0) {
		frame_state_rebase(frame, (uint32_t)reg, frame_base_at(FRAME_ALIGNED, d->address));
	} else {
		overwrite(frame, d);
	}
}

static void leave(struct frame_state *frame)
{
	frame_state_set(frame, FRAME_RSP, frame->registers[FRAME_RBP]);
	frame->registers[FRAME_RBP] = frame_state_pop(frame, 8);
}

static void enter(struct frame_state *frame, const struct decoded *d)
{
	frame_state_push(frame, frame->registers[FRAME_RBP], 8);
	frame->registers[FRAME_RBP] = frame->registers[FRAME_RSP];
	if (d->operands[1].imm.value.u & 31) /* nested frames, which no compiler uses */
		frame_state_set(frame, FRAME_RSP, nothing);
	else
		frame_state_set(frame, FRAME_RSP,
				frame_value_add(frame->registers[FRAME_RSP],
						-(int64_t)d->operands[0].imm.value.u));
}

/* After a restore of rbp, the slot of the saved rbp may be reused. */
static void move(struct frame_state *frame, const struct decoded *d)
{
	struct frame_value value = operand_value(frame, &d->operands[1]);

	set_operand(frame, &d->operands[0], value);
	if (value.base == FRAME_CALLER_RBP && d->operands[1].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    frame->registers[FRAME_RBP].base == FRAME_CALLER_RBP)
		frame->rbp_at = nothing;
}

static void exchange(struct frame_state *frame, const struct decoded *d)
{
	struct frame_value first = operand_value(frame, &d->operands[0]);

	if (d->operands[0].type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    d->operands[1].type != ZYDIS_OPERAND_TYPE_REGISTER) {
		overwrite(frame, d);
		return;
	}
	set_operand(frame, &d->operands[0], operand_value(frame, &d->operands[1]));
	set_operand(frame, &d->operands[1], first);
}

/* A direct call of the next instruction only pushes the address (a position-independent idiom). */
static void call(struct frame_state *frame, uint64_t target, uint64_t next)
{
	if (target == next)
		frame_state_push(frame, nothing, 8);
	else
		frame_state_called(frame);
}

/*
 * Returns the register that the instruction compares with rsp, as loops that probe the stack do; or
 * FRAME_REGISTERS.
 */
static uint8_t compared_with_rsp(const struct decoded *d)
{
	const ZydisDecodedOperand *a = &d->operands[0], *b = &d->operands[1];

	if (d->instruction->mnemonic != ZYDIS_MNEMONIC_CMP ||
	    a->type != ZYDIS_OPERAND_TYPE_REGISTER || b->type != ZYDIS_OPERAND_TYPE_REGISTER ||
	    a->size != 64)
		return FRAME_REGISTERS;
	if (a->reg.value == ZYDIS_REGISTER_RSP)
		return (uint8_t)code_register_number(b->reg.value);
	if (b->reg.value == ZYDIS_REGISTER_RSP)
		return (uint8_t)code_register_number(a->reg.value);
	return FRAME_REGISTERS;
}

static void apply(struct frame_state *frame, const struct decoded *d)
{
	uint32_t word = d->instruction->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE ? 2 : 8;

	switch (d->instruction->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		frame_state_push(frame, operand_value(frame, &d->operands[0]), word);
		break;
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		frame_state_push(frame, nothing, word);
		break;
	case ZYDIS_MNEMONIC_POP:
		set_operand(frame, &d->operands[0], frame_state_pop(frame, word));
		break;
	case ZYDIS_MNEMONIC_POPF:
	case ZYDIS_MNEMONIC_POPFQ:
		frame_state_pop(frame, word);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		leave(frame);
		break;
	case ZYDIS_MNEMONIC_ENTER:
		enter(frame, d);
		break;
	case ZYDIS_MNEMONIC_ADD:
		add(frame, d, 1);
		break;
	case ZYDIS_MNEMONIC_SUB:
		add(frame, d, -1);
		break;
	case ZYDIS_MNEMONIC_LEA:
		set_operand(frame, &d->operands[0], memory_address(frame, &d->operands[1].mem));
		break;
	case ZYDIS_MNEMONIC_MOV:
		move(frame, d);
		break;
	case ZYDIS_MNEMONIC_AND:
		mask(frame, d);
		break;
	case ZYDIS_MNEMONIC_XCHG:
		exchange(frame, d);
		break;
	default:
		overwrite(frame, d);
		break;
	}
	if (frame->registers[FRAME_RSP].base == FRAME_NOTHING)
		frame_state_rebase(frame, FRAME_RSP, frame_base_at(FRAME_MOVED, d->address));
}

/* Returns true if the instruction is of a known shape, and does not change the frame. */
static bool skip(const struct code_decoder *decoder, const uint8_t *code, size_t left_bytes,
		 const struct frame_state_entry *frame, struct code_step *ret)
{
	const struct code_shape *shape;

	if (!decoder->shapes || left_bytes < CODE_SHAPES_AHEAD ||
	    frame->frame.registers[FRAME_RSP].base == FRAME_NOTHING)
		return false;
	shape = code_shapes_find(decoder->shapes, code);
	if (!shape || shape->matters & frame->watched)
		return false;
	ret->way = shape->is_padding ? CODE_PADDING : CODE_ON;
	ret->length = shape->length;
	ret->target = 0;
	ret->compared = FRAME_REGISTERS;
	ret->on_if_equal = ret->changes = false;
	return true;
}

static bool decode_operands(const struct code_decoder *decoder, const ZydisDecoderContext *context,
			    struct decoded *d)
{
	return ZYAN_SUCCESS(ZydisDecoderDecodeOperands(&decoder->zydis, context, d->instruction,
						       d->operands, d->instruction->operand_count));
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
	struct decoded d; /* its operands are large: they are set when they are decoded */
	uint64_t next;
	bool keeps;

	if (skip(decoder, code, left_bytes, frame, ret))
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
	ret->changes = may_change(&instruction, &context, frame);
	d.instruction = &instruction;
	d.address = address;
	keeps = keeps_shape(decoder, left_bytes, ret);
	if (!ret->changes && !keeps)
		return true;
	if (ret->way == CODE_CALL) {
		ret->after = frame->frame;
		call(&ret->after, ret->target, next);
		return true;
	}
	if (!decode_operands(decoder, &context, &d))
		return !ret->changes;
	if (keeps)
		code_shapes_add(decoder->shapes, code, &instruction, d.operands,
				ret->way == CODE_PADDING);
	if (!ret->changes)
		return true;
	ret->compared = compared_with_rsp(&d);
	ret->after = frame->frame;
	apply(&ret->after, &d);
	ret->changes = memcmp(&ret->after, &frame->frame, sizeof(ret->after)) != 0;
	return true;
}
