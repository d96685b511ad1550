/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/v8/v8_trampoline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "runtimes/runtime_symbols.h"

/*
 * mov rcx, [r15 + r10 * 8]; call rcx. r15 is the table of handlers; r10 was loaded from r12 + r9,
 * the current bytecode. Handlers, and builtins that continue in a frame, jump instead.
 */
static const uint8_t dispatch[] = {0x4b, 0x8b, 0x0c, 0xd7, 0xff, 0xd1};

#define PIECE_BYTES (256u << 10)

static const char *const names[] = {
	"Builtins_InterpreterEntryTrampoline",
	"Builtins_InterpreterEntryTrampolineForProfiling",
};

/* Handlers are behind all other builtins, in an order of their own: the first and the last one. */
static const char *const handler_names[] = {
	"Builtins_WideHandler",
	"Builtins_AbortExtraWideHandler",
};

#define HANDLERS_BYTES_MAX (8u << 20)

struct search {
	struct runtime_symbol symbols[ARRAY_SIZE(names)];
	struct v8_file *file;
	uint64_t left; /* of V8_TRAMPOLINE_CODE_MAX */
};

static void take(struct search *search, uint64_t address, uint64_t file_offset)
{
	struct v8_code found = {address, file_offset, sizeof(dispatch)};
	struct v8_file *file = search->file;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct runtime_symbol *symbol = &search->symbols[i];
		uint64_t before = address - symbol->address;

		if (symbol->is_found && address >= symbol->address && before < symbol->size_bytes &&
		    before <= file_offset)
			found = (struct v8_code){symbol->address, file_offset - before,
						 symbol->size_bytes};
	}
	if (file->trampoline_count < V8_TRAMPOLINES_MAX)
		file->trampolines[file->trampoline_count++] = found;
}

static int search_code(struct search *search, const struct elf_file *elf, uint64_t address,
		       uint64_t file_offset, uint64_t size_bytes, uint8_t *piece)
{
	uint64_t bytes = size_bytes < search->left ? size_bytes : search->left, at = 0, now;
	int err = 0;

	search->left -= bytes;
	for (; !err && bytes - at >= sizeof(dispatch); at += now - (sizeof(dispatch) - 1)) {
		const uint8_t *found = piece;

		now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
		err = blob_read(elf->blob, file_offset + at, piece, now);
		while (!err && (found = memmem(found, (size_t)(piece + now - found), dispatch,
					       sizeof(dispatch)))) {
			take(search, address + at + (uint64_t)(found - piece),
			     file_offset + at + (uint64_t)(found - piece));
			found += sizeof(dispatch);
		}
	}
	return err;
}

/* Searches the builtins that have names or, without names, all code. */
static int search_file(struct search *search, const struct elf_file *elf, uint8_t *piece)
{
	bool is_named = false;
	uint64_t offset;
	int err = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names) && !err; i++) {
		const struct runtime_symbol *symbol = &search->symbols[i];

		if (!symbol->is_found || !elf_file_offset(elf, symbol->address, &offset))
			continue;
		is_named = true;
		err = search_code(search, elf, symbol->address, offset, symbol->size_bytes, piece);
	}
	vec_for_each (segment, &elf->segments) {
		if (!is_named && segment->executable && !err)
			err = search_code(search, elf, segment->address, segment->file_offset,
					  segment->file_bytes, piece);
	}
	return err;
}

static struct v8_code handlers_of(const struct elf_file *elf, const struct runtime_symbol *first,
				  const struct runtime_symbol *last)
{
	uint64_t bytes = last->address - first->address, offset;

	if (!first->is_found || !last->is_found || first->address > last->address ||
	    bytes > HANDLERS_BYTES_MAX || last->size_bytes > HANDLERS_BYTES_MAX ||
	    !elf_file_offset(elf, first->address, &offset))
		return (struct v8_code){0};
	return (struct v8_code){first->address, offset, bytes + last->size_bytes};
}

int v8_trampolines_find(const struct elf_file *elf, struct v8_file *ret)
{
	struct runtime_symbol symbols[ARRAY_SIZE(names) + ARRAY_SIZE(handler_names)] = {0};
	struct search search = {.file = ret, .left = V8_TRAMPOLINE_CODE_MAX};
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);
	int err;

	if (!piece)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++)
		symbols[i].name =
			i < ARRAY_SIZE(names) ? names[i] : handler_names[i - ARRAY_SIZE(names)];
	err = runtime_symbols_find(elf, symbols, ARRAY_SIZE(symbols));
	if (err && err != -ENOENT)
		return err;
	ret->trampoline_count = 0;
	memcpy(search.symbols, symbols, sizeof(search.symbols));
	ret->handlers =
		handlers_of(elf, &symbols[ARRAY_SIZE(names)], &symbols[ARRAY_SIZE(names) + 1]);
	err = search_file(&search, elf, piece);
	return err ?: ret->trampoline_count ? 0 : -ENOENT;
}
