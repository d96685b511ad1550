/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/cpython/loop_code.h"

#include <Zydis/Zydis.h>
#include <errno.h>

#include "base/scope.h"
#include "decode/cfi/fde_table.h"
#include "decode/cfi/unwind_rows.h"

#define TARGETS_MAX	 4096 /* jumps out of the loop that are looked up */
#define FRAME_WORK_BYTES (4u << 20)

/* Machine code of a file. */
struct code {
	ZydisDecoder decoder;
	uint8_t *bytes;
	size_t size_bytes;
	uint64_t address;
};

static void code_free(struct code *code)
{
	free(code->bytes);
}

static int code_read(const struct elf_file *elf, uint64_t start, uint64_t size_bytes,
		     struct code *ret)
{
	uint64_t offset;

	if (!size_bytes || size_bytes > CPYTHON_LOOP_BYTES_MAX ||
	    !elf_file_offset(elf, start, &offset))
		return -EBADMSG;
	if (!ZYAN_SUCCESS(ZydisDecoderInit(&ret->decoder, ZYDIS_MACHINE_MODE_LONG_64,
					   ZYDIS_STACK_WIDTH_64)))
		return -EINVAL;
	ret->bytes = malloc(size_bytes);
	if (!ret->bytes)
		return -ENOMEM;
	ret->size_bytes = size_bytes;
	ret->address = start;
	return blob_read(elf->blob, offset, ret->bytes, size_bytes);
}

struct cold_search {
	struct fde_table table;
	struct section_budget budget;
	const struct runtime_range *loop;
	struct runtime_range *found;
	size_t count, max;
	uint32_t targets_left;
};

static bool is_in(uint64_t address, const struct runtime_range *range)
{
	return address >= range->start && address < range->end;
}

/*
 * A part of a function begins with the function's frame, where a function begins with a return
 * address only.
 */
static int begins_with_frame(const struct call_frame *frame, bool *ret)
{
	struct unwind_rows rows = {0};
	struct frame_window window = {frame->start, frame->start + 1, 0, &rows};
	int err = call_frame_rows(frame, &window);

	if (!err)
		*ret = unwind_rows_at(&rows, 0).cfa != UNWIND_CFA(UNWIND_CFA_RSP, 8);
	unwind_rows_deinit(&rows);
	return err;
}

/* Errors of a damaged table are no errors: the part is not found. */
static int look_up(struct cold_search *search, uint64_t target)
{
	struct fde_table_entry entry;
	struct call_frame frame;
	uint64_t i, ignored;
	bool is_part;
	int err;

	if (is_in(target, search->loop) || search->count == search->max || !search->targets_left)
		return 0;
	for (size_t k = 0; k < search->count; k++) {
		if (is_in(target, &search->found[k]))
			return 0;
	}
	search->targets_left--;
	err = fde_table_find(&search->table, target, &i);
	if (!err && i >= search->table.count)
		return 0;
	err = err ?: fde_table_at(&search->table, i, &entry);
	err = err ?: call_frame_read(&search->table.section, entry.fde, &frame, &ignored);
	if (!err && (target < frame.start || target >= frame.end || frame.is_opaque))
		return 0;
	err = err ?: begins_with_frame(&frame, &is_part);
	if (err)
		return err == -ENOMEM ? err : 0;
	if (is_part)
		search->found[search->count++] = (struct runtime_range){frame.start, frame.end};
	return 0;
}

static int look_up_jumps(struct cold_search *search, const struct code *code)
{
	ZydisDecodedInstruction instruction;
	int err = 0;

	for (size_t at = 0; at < code->size_bytes && !err;) {
		if (!ZYAN_SUCCESS(
			    ZydisDecoderDecodeInstruction(&code->decoder, NULL, code->bytes + at,
							  code->size_bytes - at, &instruction))) {
			at++;
			continue;
		}
		at += instruction.length;
		if (instruction.raw.imm[0].is_relative &&
		    instruction.meta.category != ZYDIS_CATEGORY_CALL)
			err = look_up(search, code->address + at +
						      (uint64_t)instruction.raw.imm[0].value.s);
	}
	return err;
}

int cpython_cold_parts(const struct elf_file *elf, const struct runtime_range *loop, size_t max,
		       struct runtime_range *ret)
{
	CLEANUP(code_free) struct code code = {0};
	struct cold_search search = {
		.budget = {.work_bytes = FRAME_WORK_BYTES},
		.loop = loop,
		.found = ret,
		.max = max,
		.targets_left = TARGETS_MAX,
	};
	int err = code_read(elf, loop->start, loop->end - loop->start, &code);

	err = err ?: fde_table_init_eh(&search.table, elf, 0, UINT64_MAX, &search.budget);
	if (err)
		return err;
	err = look_up_jumps(&search, &code);
	fde_table_deinit(&search.table);
	return err ?: (int)search.count;
}
