/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/frame_effect.h"

#include "decode/x86/code_shapes.h"

/* An instruction whose effect is applied. */
struct decoded {
	const ZydisDecodedInstruction *instruction;
	const ZydisDecodedOperand *operands;
	uint64_t address;
};

static const struct frame_value nothing;

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

void frame_effect_apply(struct frame_state *frame, const ZydisDecodedInstruction *instruction,
			const ZydisDecodedOperand *operands, uint64_t address)
{
	const struct decoded decoded = {instruction, operands, address}, *d = &decoded;
	uint32_t word = instruction->attributes & ZYDIS_ATTRIB_HAS_OPERANDSIZE ? 2 : 8;

	switch (instruction->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
		frame_state_push(frame, operand_value(frame, &operands[0]), word);
		break;
	case ZYDIS_MNEMONIC_PUSHF:
	case ZYDIS_MNEMONIC_PUSHFQ:
		frame_state_push(frame, nothing, word);
		break;
	case ZYDIS_MNEMONIC_POP:
		set_operand(frame, &operands[0], frame_state_pop(frame, word));
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
		set_operand(frame, &operands[0], memory_address(frame, &operands[1].mem));
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
		frame_state_rebase(frame, FRAME_RSP, frame_base_at(FRAME_MOVED, address));
}

/* A direct call of the next instruction only pushes the address (a position-independent idiom). */
void frame_effect_call(struct frame_state *frame, uint64_t target, uint64_t next)
{
	if (target == next)
		frame_state_push(frame, nothing, 8);
	else
		frame_state_called(frame);
}
