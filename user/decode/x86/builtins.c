/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/builtins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "decode/x86/code_unwind.h"

#define NAMES_MAX     65536 /* that are read */
#define NAME_BYTES    128   /* of each of them */
#define WORK_PER_BYTE 4	    /* of the page's work budget, since following costs more than reading */

struct search {
	const struct elf_file *elf;
	const struct elf_symbol_table *table;
	uint64_t low, high;
	uint32_t names_left;
	struct builtins *builtins;
};

/* Returns the kind of the symbol with a number; V8_NO_BUILTIN for what cannot be read. */
static int read_kind(const struct search *search, uint32_t number, enum v8_builtin *ret)
{
	const struct elf_symbol_table *table = search->table;
	uint64_t at, left;
	char name[NAME_BYTES + 1] = "";
	struct elf_symbol ignored;
	int err = elf_symbol_table_read(search->elf->blob, table, number, &ignored, &at);

	*ret = V8_NO_BUILTIN;
	if (!err) {
		left = table->strings_offset + table->strings_bytes - at;
		err = blob_read(search->elf->blob, at, name, left < NAME_BYTES ? left : NAME_BYTES);
	}
	if (!err)
		*ret = v8_builtin_of(name);
	return err == -EBADMSG ? 0 : err;
}

static int take_symbol(void *search_, const struct elf_symbol *symbol, uint32_t number)
{
	struct search *search = search_;
	struct builtin builtin = {.start = symbol->address};
	int err;

	if (symbol->address < search->low || symbol->address >= search->high ||
	    !symbol->size_bytes || !search->names_left ||
	    search->builtins->all.size == BUILTINS_MAX)
		return 0;
	search->names_left--;
	builtin.size_bytes = symbol->size_bytes < CODE_UNWIND_BYTES_MAX
				     ? (uint32_t)symbol->size_bytes
				     : CODE_UNWIND_BYTES_MAX;
	if (builtin.size_bytes > search->high - builtin.start)
		builtin.size_bytes = (uint32_t)(search->high - builtin.start);
	err = read_kind(search, number, &builtin.kind);
	if (err || builtin.kind == V8_NO_BUILTIN)
		return err;
	return vec_push(&search->builtins->all, builtin);
}

static int by_start(const void *a_, const void *b_)
{
	const struct builtin *a = a_, *b = b_;

	return a->start < b->start ? -1 : a->start > b->start;
}

/* Sort the builtins, and end each where the next one begins. */
static void arrange(struct builtins *builtins)
{
	struct builtin *all = builtins->all.data;
	size_t count = 0;

	if (builtins->all.size)
		qsort(all, builtins->all.size, sizeof(*all), by_start);
	for (size_t i = 0; i < builtins->all.size; i++) {
		if (count && all[count - 1].start == all[i].start)
			continue;
		if (count && all[i].start - all[count - 1].start < all[count - 1].size_bytes)
			all[count - 1].size_bytes = (uint32_t)(all[i].start - all[count - 1].start);
		all[count++] = all[i];
	}
	builtins->all.size = count;
}

int builtins_init(struct builtins *ret, const struct elf_file *elf, uint64_t low, uint64_t high)
{
	CLEANUP(builtins_deinit) struct builtins builtins = {0};
	struct elf_symbol_table table;
	struct search search = {elf, &table, low, high, NAMES_MAX, &builtins};
	int err = elf_symbol_table_find(elf, false, &table);

	err = err ?: elf_symbol_table_each(elf, elf->blob, &table, take_symbol, &search);
	if (err && err != -ENOENT && err != -EBADMSG && err != -E2BIG)
		return err;
	arrange(&builtins);
	*ret = builtins;
	builtins = (struct builtins){0};
	return 0;
}

void builtins_deinit(struct builtins *builtins)
{
	vec_deinit(&builtins->all);
}

/* Returns 0, -ENOENT (the entry is unknown, or the code is not in the file), or another error. */
static int follow(const struct builtin *builtin, const struct elf_file *elf,
		  struct unwind_rows *ret)
{
	AUTO_FREE uint8_t *code = malloc(builtin->size_bytes);
	struct code_entry entry = code_entry_called;
	uint64_t offset;
	int err;

	if (!code)
		return -ENOMEM;
	if (!elf_file_offset(elf, builtin->start, &offset))
		return -ENOENT;
	err = blob_read(elf->blob, offset, code, builtin->size_bytes);
	if (err)
		return err == -EBADMSG ? -ENOENT : err;
	entry.doubted = builtin->kind != V8_CALLED_BUILTIN;
	return code_unwind(code, builtin->size_bytes, builtin->start, &entry, ret);
}

static int add_command(const struct frame_window *window, uint64_t address,
		       enum unwind_command command)
{
	return frame_window_add(window, address, UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

/* Add the rows of a builtin that are in the window, of which `at` is the first address. */
static int add_builtin(const struct builtin *builtin, const struct elf_file *elf,
		       const struct frame_window *window, uint64_t at)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	int err = follow(builtin, elf, &rows);
	struct unwind_row first;

	if (err == -ENOENT)
		return add_command(window, at, UNWIND_FRAME_POINTER);
	if (err)
		return err;
	first = unwind_rows_at(&rows, (uint32_t)(at - builtin->start));
	err = frame_window_add(window, at, first.cfa, first.rbp);
	for (size_t i = unwind_rows_behind(&rows, (uint32_t)(at - builtin->start));
	     !err && i < rows.rows.size; i++) {
		const struct unwind_wide_row *row = &rows.rows.data[i];

		if (builtin->start + row->offset >= window->end)
			break;
		err = frame_window_add(window, builtin->start + row->offset, row->cfa, row->rbp);
	}
	return err;
}

int builtins_add(const struct builtins *builtins, const struct elf_file *elf,
		 const struct frame_window *window, uint64_t *work_bytes)
{
	const struct builtin *all = builtins->all.data;
	size_t i = partition_point((size_t)0, builtins->all.size, next,
				   all[next].start + all[next].size_bytes <= window->start);
	uint64_t at = window->start;
	int err = 0;

	if (i == builtins->all.size || all[i].start >= window->end)
		return -ENOENT;
	for (; !err && i < builtins->all.size && all[i].start < window->end; i++) {
		uint64_t work = (uint64_t)all[i].size_bytes * WORK_PER_BYTE;

		if (all[i].start > at)
			err = add_command(window, at, UNWIND_FRAME_POINTER);
		at = all[i].start > at ? all[i].start : at;
		if (work > *work_bytes)
			return err ?: add_command(window, at, UNWIND_UNKNOWN);
		*work_bytes -= work;
		err = err ?: add_builtin(&all[i], elf, window, at);
		at = all[i].start + all[i].size_bytes;
	}
	if (!err && at < window->end)
		err = add_command(window, at, UNWIND_FRAME_POINTER);
	return err;
}
