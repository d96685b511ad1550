/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/x86/gaps/builtins.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "decode/elf/v8_builtins_table.h"
#include "decode/x86/gaps/builtin_calls.h"
#include "decode/x86/code_unwind.h"

#define NAMES_MAX     65536 /* that are read */
#define NAME_BYTES    128   /* of each of them */
#define WORK_PER_BYTE 4	    /* of the page's work budget, since following costs more than reading */
#define FOLLOWED_MAX  8	    /* jumps to one builtin */

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

static int take_symbols(struct builtins *builtins, const struct elf_file *elf, uint64_t low,
			uint64_t high)
{
	struct elf_symbol_table table;
	struct search search = {elf, &table, low, high, NAMES_MAX, builtins};
	int err = elf_symbol_table_find(elf, false, &table);

	err = err ?: elf_symbol_table_each(elf, elf->blob, &table, take_symbol, &search);
	arrange(builtins);
	return err == -ENOENT || err == -EBADMSG || err == -E2BIG ? 0 : err;
}

static int take_table(struct builtins *builtins, const struct elf_file *elf, uint64_t low,
		      uint64_t high)
{
	v8_builtin_codes codes = {0};
	int err = v8_builtins_table_find(elf, low, high, &codes);

	for (size_t i = 0; i < codes.size && !err; i++) {
		const struct v8_builtin_code *code = &codes.data[i];

		err = vec_push(&builtins->all,
			       ((struct builtin){code->start, code->size_bytes, V8_BUILTIN}));
	}
	vec_deinit(&codes);
	builtins->unnamed = true;
	return err == -ENOENT ? 0 : err;
}

int builtins_init(struct builtins *ret, const struct elf_file *elf, uint64_t low, uint64_t high)
{
	CLEANUP(builtins_deinit) struct builtins builtins = {0};
	int err = take_symbols(&builtins, elf, low, high);

	if (!err && !builtins.all.size)
		err = take_table(&builtins, elf, low, high);
	err = err ?: builtin_calls_search(&builtins, elf);
	if (err)
		return err;
	*ret = builtins;
	builtins = (struct builtins){0};
	return 0;
}

void builtins_deinit(struct builtins *builtins)
{
	vec_deinit(&builtins->all);
	vec_deinit(&builtins->jumps);
}

/* Returns 0, -ENOENT (the entry is unknown, or the code is not in the file), or another error. */
static int follow(const struct builtin *builtin, const struct elf_file *elf, bool doubted,
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
	entry.doubted = doubted;
	return code_unwind(code, builtin->size_bytes, builtin->start, &entry, ret);
}

/*
 * Find out whether a builtin whose name is not known is called: another one, whose entry holds,
 * jumps to it with its own return address on the stack. Returns 0, -ENOENT or another error.
 */
static int find_jump(const struct builtins *builtins, const struct builtin *to,
		     const struct elf_file *elf, uint64_t *work_bytes)
{
	const struct builtin_jump *jumps = builtins->jumps.data;
	size_t first = partition_point((size_t)0, builtins->jumps.size, next,
				       jumps[next].target < to->start);

	for (size_t i = first; i < builtins->jumps.size && i - first < FOLLOWED_MAX; i++) {
		CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
		const struct builtin *from = builtin_at(builtins, jumps[i].site);
		struct unwind_row row;
		int err;

		if (jumps[i].target != to->start)
			break;
		if (!from || from->kind != V8_CALLED_BUILTIN ||
		    (uint64_t)from->size_bytes * WORK_PER_BYTE > *work_bytes)
			continue;
		*work_bytes -= (uint64_t)from->size_bytes * WORK_PER_BYTE;
		err = follow(from, elf, false, &rows);
		if (err == -ENOENT)
			continue;
		if (err)
			return err;
		row = unwind_rows_at(&rows, (uint32_t)(jumps[i].site - from->start));
		if (row.cfa == code_entry_called.cfa && row.rbp == code_entry_called.rbp)
			return 0;
	}
	return -ENOENT;
}

/*
 * Make the rows of a builtin without a name, whose entry nothing confirms. It is called, or it
 * continues in the frame of other code, which rbp points to. Where it has made a frame of its own,
 * both are the same; the rest is unknown.
 */
static int follow_doubted(const struct builtin *builtin, const struct elf_file *elf,
			  struct unwind_rows *ret)
{
	int err = follow(builtin, elf, false, ret);

	vec_for_each (row, &ret->rows) {
		if (row->cfa != UNWIND_CFA(UNWIND_CFA_RBP, 16)) {
			row->cfa = UNWIND_CFA_COMMAND(UNWIND_UNKNOWN);
			row->rbp = UNWIND_RBP_KEPT;
		}
	}
	return err;
}

/* Make the rows of a builtin. Returns as follow(). */
static int make_rows(const struct builtins *builtins, const struct builtin *builtin,
		     const struct elf_file *elf, uint64_t *work_bytes, struct unwind_rows *ret)
{
	bool doubted = builtin->kind != V8_CALLED_BUILTIN;
	int err = follow(builtin, elf, doubted, ret);

	if (err != -ENOENT || !doubted || !builtins->unnamed)
		return err;
	err = find_jump(builtins, builtin, elf, work_bytes);
	if (!err)
		return follow(builtin, elf, false, ret);
	return err == -ENOENT ? follow_doubted(builtin, elf, ret) : err;
}

static int add_command(const struct frame_window *window, uint64_t address,
		       enum unwind_command command)
{
	return frame_window_add(window, address, UNWIND_CFA_COMMAND(command), UNWIND_RBP_KEPT);
}

/* Add the rows of a builtin that are in the window, of which `at` is the first address. */
static int add_builtin(const struct builtins *builtins, const struct builtin *builtin,
		       const struct elf_file *elf, const struct frame_window *window, uint64_t at,
		       uint64_t *work_bytes)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows rows = {0};
	int err = make_rows(builtins, builtin, elf, work_bytes, &rows);
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
		err = err ?: add_builtin(builtins, &all[i], elf, window, at, work_bytes);
		at = all[i].start + all[i].size_bytes;
	}
	if (!err && at < window->end)
		err = add_command(window, at, UNWIND_FRAME_POINTER);
	return err;
}
