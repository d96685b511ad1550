/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/entry_code.h"

#include <Zydis/Zydis.h>
#include <errno.h>
#include <stdbool.h>

#include "base/scope.h"

#define START_BYTES  1024 /* that are decoded */
#define STACK_STORES 96
#define NO_PLACE     INT64_MIN

/* rbx, rbp, r12 to r15 */
#define KEPT_BY_CALLS 0xf028

/* A write to the function's own stack frame. */
struct stack_store {
	ZydisRegister base;
	int64_t place, bytes;
	uint64_t behind; /* address of the next instruction */
	bool is_thread;	 /* what is written is the first argument */
};

/* What registers have, by their numbers in an encoding, as far as it matters. */
struct start {
	const struct cpython_layout *layout;
	uint16_t threads; /* bits: the first argument, a PyThreadState */
	struct {
		ZydisRegister base;
		int64_t place; /* an address in the stack frame; NO_PLACE: another value */
	} points_to[16];
	struct stack_store stores[STACK_STORES];
	uint32_t store_count;
	bool is_stored; /* to the member of the thread: */
	uint64_t stored_behind;
	ZydisRegister object_base; /* the object on the stack whose address was stored */
	int64_t object_place;
};

/* Returns the number of a whole general purpose register, or -1. */
static int register_number(ZydisRegister reg)
{
	ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);

	return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15
		       ? whole - ZYDIS_REGISTER_RAX
		       : -1;
}

static bool is_stack(ZydisRegister reg)
{
	return reg == ZYDIS_REGISTER_RSP || reg == ZYDIS_REGISTER_RBP;
}

static bool has_thread(const struct start *start, int number)
{
	return number >= 0 && (start->threads >> number & 1);
}

/* Returns true if the last write to a place of the stack frame was the first argument. */
static bool is_saved_thread(const struct start *start, const ZydisDecodedOperand *from)
{
	int64_t place = from->mem.disp.value;

	if (!is_stack(from->mem.base) || from->mem.index != ZYDIS_REGISTER_NONE)
		return false;
	for (uint32_t i = start->store_count; i-- > 0;) {
		const struct stack_store *store = &start->stores[i];

		if (store->base == from->mem.base && store->place < place + 8 &&
		    store->place + store->bytes > place)
			return store->is_thread && store->place == place;
	}
	return false;
}

static void take_store(struct start *start, const ZydisDecodedOperand *to,
		       const ZydisDecodedOperand *from, uint64_t behind)
{
	int base = register_number(to->mem.base), value = -1;

	if (to->mem.index != ZYDIS_REGISTER_NONE || base < 0)
		return;
	if (from->type == ZYDIS_OPERAND_TYPE_REGISTER)
		value = register_number(from->reg.value);
	if (is_stack(to->mem.base) && !has_thread(start, base)) {
		if (start->store_count < STACK_STORES)
			start->stores[start->store_count++] = (struct stack_store){
				.base = to->mem.base,
				.place = to->mem.disp.value,
				.bytes = to->size / 8,
				.behind = behind,
				.is_thread = has_thread(start, value),
			};
		return;
	}
	if (start->is_stored || !has_thread(start, base) ||
	    to->mem.disp.value != start->layout->thread_frame)
		return;
	start->is_stored = true;
	start->stored_behind = behind;
	start->object_place = value < 0 ? NO_PLACE : start->points_to[value].place;
	if (value >= 0)
		start->object_base = start->points_to[value].base;
}

static void points_to(struct start *start, int number, ZydisRegister base, int64_t place)
{
	start->points_to[number].base = base;
	start->points_to[number].place = place;
}

/* What a register has after an instruction that writes to it. */
static void take_register(struct start *start, const ZydisDecodedInstruction *instruction,
			  const ZydisDecodedOperand *to, const ZydisDecodedOperand *from)
{
	int number = register_number(to->reg.value);
	bool is_thread = false;

	if (number < 0)
		return;
	start->points_to[number].place = NO_PLACE;
	if (instruction->mnemonic == ZYDIS_MNEMONIC_LEA && is_stack(from->mem.base) &&
	    from->mem.index == ZYDIS_REGISTER_NONE)
		points_to(start, number, from->mem.base, from->mem.disp.value);
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV && to->size == 64 &&
	    from->type == ZYDIS_OPERAND_TYPE_MEMORY)
		is_thread = is_saved_thread(start, from);
	if (instruction->mnemonic == ZYDIS_MNEMONIC_MOV && to->size == 64 &&
	    from->type == ZYDIS_OPERAND_TYPE_REGISTER) {
		is_thread = has_thread(start, register_number(from->reg.value));
		if (from->reg.value == ZYDIS_REGISTER_RSP)
			points_to(start, number, ZYDIS_REGISTER_RSP, 0);
	}
	start->threads = (uint16_t)((start->threads & ~(1u << number)) | is_thread << number);
}

static void take(struct start *start, const ZydisDecodedInstruction *instruction,
		 const ZydisDecodedOperand *operands, uint64_t behind)
{
	if (instruction->meta.category == ZYDIS_CATEGORY_CALL)
		start->threads &= KEPT_BY_CALLS;
	if (!instruction->operand_count)
		return;
	if (operands[0].type == ZYDIS_OPERAND_TYPE_MEMORY &&
	    (operands[0].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
		take_store(start, &operands[0], &operands[1], behind);
	for (uint32_t i = 0; i < instruction->operand_count; i++) {
		if (operands[i].type == ZYDIS_OPERAND_TYPE_REGISTER &&
		    (operands[i].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
			take_register(start, instruction, &operands[i],
				      &operands[instruction->operand_count > 1 && !i]);
	}
}

/* Returns true, with *ret, once the code is found. */
static bool is_settled(const struct start *start, struct runtime_range *ret)
{
	uint64_t end = start->stored_behind;
	bool found = false;

	if (!start->is_stored)
		return false;
	if (!start->layout->has_cframe) {
		*ret = (struct runtime_range){end, end};
		return true;
	}
	for (uint32_t i = 0; i < start->store_count; i++) {
		const struct stack_store *store = &start->stores[i];
		int64_t place = start->object_place + start->layout->cframe_frame;

		if (start->object_place == NO_PLACE || store->base != start->object_base ||
		    store->place > place || store->place + store->bytes < place + 8)
			continue;
		found = true;
		if (store->behind > end)
			end = store->behind;
	}
	*ret = (struct runtime_range){start->stored_behind, end};
	return found;
}

static bool find(const uint8_t *code, size_t bytes, uint64_t address,
		 const struct cpython_layout *layout, struct runtime_range *ret)
{
	struct start start = {.layout = layout,
			      .threads = 1u << register_number(ZYDIS_REGISTER_RDI)};
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;

	for (int i = 0; i < 16; i++)
		start.points_to[i].place = NO_PLACE;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	for (size_t at = 0; at < bytes;) {
		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, bytes - at,
							 &instruction, operands)))
			return false;
		at += instruction.length;
		take(&start, &instruction, operands, address + at);
		if (is_settled(&start, ret))
			return true;
	}
	return false;
}

int cpython_unsettled_code(const struct elf_file *elf, const struct runtime_range *loop,
			   const struct cpython_layout *layout, struct runtime_range *ret)
{
	uint64_t bytes = loop->end - loop->start, offset;
	uint8_t code[START_BYTES];
	int err;

	if (bytes > sizeof(code))
		bytes = sizeof(code);
	if (!elf_file_offset(elf, loop->start, &offset))
		return -EBADMSG;
	err = blob_read(elf->blob, offset, code, bytes);
	if (err)
		return err;
	if (!find(code, bytes, loop->start, layout, ret))
		*ret = (struct runtime_range){loop->start, loop->start + bytes};
	return 0;
}
