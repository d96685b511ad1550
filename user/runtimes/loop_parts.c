/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/loop_parts.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include <Zydis/Zydis.h>

#include "base/scope.h"

#define LOOP_BYTES_MAX	 (1u << 20)
#define TARGETS_MAX	 1024
#define TABLE_WORK_BYTES (4u << 20)

struct cold_search {
	struct runtime_range *loops; /* RUNTIME_LOOPS_MAX */
	uint32_t count;
	struct fde_table table;
	uint32_t targets_left;
};

/* Returns true if an address is in a range of the loop. */
static bool is_known(const struct cold_search *search, uint64_t address)
{
	for (uint32_t i = 0; i < search->count; i++) {
		if (address >= search->loops[i].start && address < search->loops[i].end)
			return true;
	}
	return false;
}

/* Returns true if an error is one of the file's contents. */
static bool is_damage(int err)
{
	return err == -EBADMSG || err == -E2BIG || err == -ENOENT || err == -ENOTSUP;
}

int loop_parts_function_at(struct fde_table *table, uint64_t address, struct runtime_range *ret)
{
	struct fde_table_entry entry;
	struct call_frame frame;
	uint64_t index, next;
	int err = fde_table_find(table, address, &index);

	err = err ?: fde_table_at(table, index, &entry);
	err = err ?: call_frame_read(&table->section, entry.fde, &frame, &next);
	if (is_damage(err) || (!err && (address < frame.start || address >= frame.end)))
		return -ENOENT;
	if (!err)
		*ret = (struct runtime_range){.start = frame.start, .end = frame.end};
	return err;
}

/* A branch to the start of a function is a call of it, in the place of a return. */
static int add_target(struct cold_search *search, uint64_t target)
{
	struct runtime_range part;
	int err;

	if (is_known(search, target) || search->count == RUNTIME_LOOPS_MAX || !search->targets_left)
		return 0;
	search->targets_left--;
	err = loop_parts_function_at(&search->table, target, &part);
	if (!err && target > part.start)
		search->loops[search->count++] = part;
	return err == -ENOENT ? 0 : err;
}

/* Returns the target of a direct branch, or 0. */
static uint64_t branch_target(const ZydisDecodedInstruction *instruction,
			      const ZydisDecodedOperand *operand, uint64_t address)
{
	ZyanU64 target;

	if (instruction->meta.category != ZYDIS_CATEGORY_COND_BR &&
	    instruction->meta.category != ZYDIS_CATEGORY_UNCOND_BR)
		return 0;
	if (!instruction->operand_count || operand->type != ZYDIS_OPERAND_TYPE_IMMEDIATE ||
	    !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(instruction, operand, address, &target)))
		return 0;
	return target;
}

static int search_code(struct cold_search *search, const uint8_t *code, size_t size_bytes,
		       uint64_t address)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction instruction;
	ZydisDecoder decoder;
	int err = 0;

	if (!ZYAN_SUCCESS(
		    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)))
		return -ENOMEM;
	for (size_t at = 0; at < size_bytes && !err; at += instruction.length) {
		uint64_t target;

		if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, code + at, size_bytes - at,
							 &instruction, operands))) {
			instruction.length = 1;
			continue;
		}
		target = branch_target(&instruction, operands, address + at);
		if (target)
			err = add_target(search, target);
	}
	return err;
}

int loop_parts_add_cold(const struct elf_file *elf, struct runtime_range loops[RUNTIME_LOOPS_MAX],
			uint32_t *count)
{
	struct section_budget budget = {.work_bytes = TABLE_WORK_BYTES};
	struct cold_search search = {.loops = loops, .count = *count, .targets_left = TARGETS_MAX};
	uint64_t size_bytes = loops[0].end - loops[0].start, offset;
	AUTO_FREE uint8_t *code = NULL;
	int err;

	if (size_bytes > LOOP_BYTES_MAX || !elf_file_offset(elf, loops[0].start, &offset))
		return 0;
	code = malloc(size_bytes);
	if (!code)
		return -ENOMEM;
	err = blob_read(elf->blob, offset, code, size_bytes);
	if (err)
		return err == -EBADMSG ? 0 : err;
	err = fde_table_init_eh(&search.table, elf, 0, UINT64_MAX, &budget);
	if (err)
		return is_damage(err) ? 0 : err;
	err = search_code(&search, code, size_bytes, loops[0].start);
	fde_table_deinit(&search.table);
	*count = search.count;
	return err;
}
