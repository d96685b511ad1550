/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_switch.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/elf_plt.h"
#include "decode/elf/elf_widen.h"
#include "runtimes/loop_parts.h"

#define TRANSFER_BYTES_MAX 128
#define CODE_BYTES_MAX	   (64u << 20)
#define CODE_AT_ONCE	   (64u << 10)
#define TABLE_WORK_BYTES   (4u << 20)
#define CALL		   0xe8
#define CALL_BYTES	   5
#define RETURN		   0xc3

struct search {
	const struct elf_file *elf;
	struct fde_table table;
	uint64_t transfer, stub;   /* stub: of the PLT, through which a library calls it; or 0 */
	struct runtime_range *ret; /* RUNTIME_SWITCHES_MAX */
	uint32_t count;
};

/* coroutine_transfer() is written by hand: its symbol has no size. It ends with its return. */
static int add_transfer(struct search *search)
{
	uint8_t code[TRANSFER_BYTES_MAX], *end;
	uint64_t offset;
	int err;

	if (!elf_file_offset(search->elf, search->transfer, &offset))
		return 0;
	err = blob_read(search->elf->blob, offset, code, sizeof(code));
	end = err ? NULL : memchr(code, RETURN, sizeof(code));
	if (end)
		search->ret[search->count++] = (struct runtime_range){
			.start = search->transfer,
			.end = search->transfer + (uint64_t)(end + 1 - code),
		};
	return err == -EBADMSG ? 0 : err;
}

/* Find the stub. Without one, all calls are direct. */
static int find_stub(struct search *search)
{
	CLEANUP(elf_plt_deinit) struct elf_plt plt = {0};
	const struct elf_file *elf = search->elf;
	struct elf_symbol_table table;
	int err = elf_symbol_table_find(elf, true, &table);

	err = err ?: elf_file_plt(elf, &plt);
	vec_for_each (entry, &plt.entries) {
		Elf64_Sym symbol;

		if (err || search->stub || !entry->symbol || entry->symbol >= table.count)
			continue;
		err = elf_symbols_read(elf->blob, !table.narrow,
				       table.offset + entry->symbol * elf_symbol_bytes(&table), 1,
				       &symbol);
		if (!err && symbol.st_shndx != SHN_UNDEF && symbol.st_value == search->transfer)
			search->stub = entry->address;
	}
	return err == -ENOENT || err == -EBADMSG || err == -E2BIG ? 0 : err;
}

/* Add the rest of a function behind its call of coroutine_transfer(). */
static int add_caller(struct search *search, uint64_t behind)
{
	struct runtime_range function;
	int err = loop_parts_function_at(&search->table, behind - 1, &function);

	if (!err && behind < function.end && search->count < RUNTIME_SWITCHES_MAX)
		search->ret[search->count++] =
			(struct runtime_range){.start = behind, .end = function.end};
	return err == -ENOENT ? 0 : err;
}

/* Find calls in code at an address. One across the end of the piece begins in the next one, too. */
static int search_code(struct search *search, const uint8_t *code, size_t size_bytes,
		       uint64_t address)
{
	int err = 0;

	for (size_t at = 0; at + CALL_BYTES <= size_bytes && !err; at++) {
		const uint8_t *call = memchr(code + at, CALL, size_bytes - CALL_BYTES + 1 - at);
		int32_t distance;
		uint64_t behind, target;

		if (!call)
			break;
		at = (size_t)(call - code);
		behind = address + at + CALL_BYTES;
		memcpy(&distance, call + 1, sizeof(distance));
		target = behind + (uint64_t)(int64_t)distance;
		if (target == search->transfer || (search->stub && target == search->stub))
			err = add_caller(search, behind);
	}
	return err;
}

static int search_section(struct search *search, const struct elf_section *section)
{
	AUTO_FREE uint8_t *code = malloc(CODE_AT_ONCE);
	uint64_t size_bytes = section->size_bytes;
	int err = 0;

	if (!code)
		return -ENOMEM;
	if (size_bytes > CODE_BYTES_MAX)
		size_bytes = CODE_BYTES_MAX;
	for (uint64_t at = 0; at + CALL_BYTES <= size_bytes && !err;
	     at += CODE_AT_ONCE - CALL_BYTES + 1) {
		uint64_t left = size_bytes - at;
		size_t now = left < CODE_AT_ONCE ? (size_t)left : CODE_AT_ONCE;

		err = blob_read(search->elf->blob, section->file_offset + at, code, now);
		err = err ?: search_code(search, code, now, section->address + at);
	}
	return err == -EBADMSG ? 0 : err;
}

int ruby_switch_find(const struct elf_file *elf, uint64_t transfer,
		     struct runtime_range ret[RUNTIME_SWITCHES_MAX])
{
	struct section_budget budget = {.work_bytes = TABLE_WORK_BYTES};
	struct search search = {.elf = elf, .transfer = transfer, .ret = ret};
	int err = add_transfer(&search);

	if (err || !search.count)
		return err;
	err = find_stub(&search);
	if (err)
		return err;
	err = fde_table_init_eh(&search.table, elf, 0, UINT64_MAX, &budget);
	if (err)
		return err == -ENOMEM ? err : 0;
	vec_for_each (section, &elf->sections) {
		if (section->flags & SHF_EXECINSTR && section->type == SHT_PROGBITS && !err)
			err = search_section(&search, section);
	}
	fde_table_deinit(&search.table);
	return err;
}
