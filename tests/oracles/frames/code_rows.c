/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * code_rows FILE...: compares rows made from machine code alone with the files'
 * call frame information, in all functions with a symbol. Instructions are
 * weighted by their bytes; padding is excluded. Fails if the differences exceed
 * a limit. Call frame information that is itself wrong, as in some epilogues,
 * is within the limits.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "agent/files/helper/file_blob.h"
#include "base/scope.h"
#include "decode/cfi/unwind_file.h"
#include "decode/elf/elf_file.h"
#include "decode/x86/code_step.h"
#include "decode/x86/code_unwind.h"

#define FUNCTION_BYTES_MAX (1u << 20)
#define COMPARED_BYTES_MIN 1000
#define WRONG_PERCENT	   0.2
#define UNKNOWN_PERCENT	   0.5

struct comparison {
	struct blob blob;
	struct elf_file elf;
	struct unwind_file *file;
	struct code_decoder decoder;
	struct frame_states frames;
	struct unwind_rows page_rows;
	uint64_t page; /* the page of the rows */
	uint64_t functions, bytes, same, unknown, wrong;
};

static int comparison_init(struct comparison *c, const char *path)
{
	int err = file_blob_open_path(&c->blob, path);

	c->page = UINT64_MAX;
	err = err ?: elf_file_init(&c->elf, &c->blob);
	err = err ?: unwind_file_create(&c->blob, &c->file);
	err = err ?: code_decoder_init(&c->decoder);
	return err ?: frame_states_init(&c->frames);
}

static void comparison_deinit(struct comparison *c)
{
	frame_states_deinit(&c->frames);
	unwind_rows_deinit(&c->page_rows);
	unwind_file_destroy(c->file);
	elf_file_deinit(&c->elf);
	blob_close(&c->blob);
}

/* Find the file's row at an offset. */
static int row_said(struct comparison *c, uint64_t offset, struct unwind_row *ret)
{
	uint64_t page = offset >> UNWIND_PAGE_SHIFT;
	int err = 0;

	if (page != c->page) {
		c->page_rows.rows.size = 0;
		err = unwind_file_page(c->file, (uint32_t)page, &c->page_rows);
		c->page = page;
	}
	if (!err)
		*ret = unwind_rows_at(&c->page_rows, offset & (UNWIND_PAGE_BYTES - 1));
	return err;
}

/* Rows agree if they differ only in rbp that is in its register and in its slot. */
static bool agree(struct unwind_row a, struct unwind_row b)
{
	return a.cfa == b.cfa &&
	       (a.rbp == b.rbp || a.rbp == UNWIND_RBP_KEPT || b.rbp == UNWIND_RBP_KEPT);
}

static void judge(struct comparison *c, uint32_t bytes, uint64_t address, struct unwind_row said,
		  struct unwind_row made)
{
	if ((said.cfa & UNWIND_RULE_MASK) == UNWIND_COMMAND)
		return;
	c->bytes += bytes;
	if (agree(said, made)) {
		c->same += bytes;
	} else if ((made.cfa & UNWIND_RULE_MASK) == UNWIND_COMMAND) {
		c->unknown += bytes;
	} else {
		c->wrong += bytes;
		fprintf(stderr, "%" PRIx64 ": cfa %#x rbp %d, said to be %#x %d\n", address,
			made.cfa, made.rbp, said.cfa, said.rbp);
	}
}

static int compare_rows(struct comparison *c, const struct elf_symbol *symbol, uint64_t offset,
			const uint8_t *code, const struct unwind_rows *made)
{
	const struct frame_state_entry *nothing = frame_states_get(&c->frames, FRAME_STATE_UNKNOWN);
	struct unwind_row said;
	struct code_step step;
	uint32_t at = 0;
	int err = 0;

	for (; !err && at < symbol->size_bytes; at += step.length) {
		if (!code_step(&c->decoder, code + at, symbol->size_bytes - at,
			       symbol->address + at, nothing, &step)) {
			step.length = 1;
			continue;
		}
		if (step.way == CODE_PADDING || step.way == CODE_TRAP)
			continue;
		err = row_said(c, offset + at, &said);
		if (!err)
			judge(c, step.length, symbol->address + at, said, unwind_rows_at(made, at));
	}
	return err;
}

/* Skips parts of functions that start inside a frame. */
static int compare_function(struct comparison *c, const struct elf_symbol *symbol)
{
	CLEANUP(unwind_rows_deinit) struct unwind_rows made = {0};
	AUTO_FREE uint8_t *code = malloc(symbol->size_bytes + 1);
	struct unwind_row said;
	uint64_t offset;
	int err;

	if (!code)
		return -ENOMEM;
	if (!symbol->size_bytes || symbol->size_bytes > FUNCTION_BYTES_MAX ||
	    !elf_file_offset(&c->elf, symbol->address, &offset) ||
	    blob_read(&c->blob, offset, code, symbol->size_bytes))
		return 0;
	err = row_said(c, offset, &said);
	if (err || said.cfa != code_entry_called.cfa || said.rbp != code_entry_called.rbp)
		return err;
	err = code_unwind(code, symbol->size_bytes, symbol->address, &code_entry_called, &made);
	c->functions++;
	return err ?: compare_rows(c, symbol, offset, code, &made);
}

static int by_address(const void *a_, const void *b_)
{
	const struct elf_symbol *a = a_, *b = b_;

	return (a->address > b->address) - (a->address < b->address);
}

static int compare_all(struct comparison *c)
{
	struct elf_symbols symbols;
	int err = elf_file_symbols(&c->elf, false, &symbols);

	if (err == -ENOENT)
		err = elf_file_symbols(&c->elf, true, &symbols);
	if (err)
		return err;
	qsort(symbols.symbols.data, symbols.symbols.size, sizeof(*symbols.symbols.data),
	      by_address);
	vec_for_each (symbol, &symbols.symbols) {
		if (symbol > symbols.symbols.data && symbol[-1].address == symbol->address)
			continue;
		err = err ?: compare_function(c, symbol);
	}
	elf_symbols_deinit(&symbols);
	return err;
}

static bool compare_file(const char *path)
{
	CLEANUP(comparison_deinit) struct comparison c = {0};
	int err = comparison_init(&c, path);
	double percent;

	err = err ?: compare_all(&c);
	if (err) {
		fprintf(stderr, "%s: %s\n", path, strerror(-err));
		return false;
	}
	percent = c.bytes ? 100.0 / (double)c.bytes : 0;
	printf("%s: %" PRIu64 " functions, %" PRIu64 " bytes: %.3f%% the same, %.3f%% unknown, "
	       "%.3f%% wrong\n",
	       path, c.functions, c.bytes, percent * (double)c.same, percent * (double)c.unknown,
	       percent * (double)c.wrong);
	return c.bytes >= COMPARED_BYTES_MIN && percent * (double)c.unknown <= UNKNOWN_PERCENT &&
	       percent * (double)c.wrong <= WRONG_PERCENT;
}

int main(int argc, char **argv)
{
	bool good = argc > 1;

	for (int i = 1; i < argc; i++)
		good = compare_file(argv[i]) && good;
	return good ? 0 : 1;
}
