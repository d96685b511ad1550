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

struct search {
	struct runtime_symbol symbols[ARRAY_SIZE(names)];
	struct v8_file *file;
	uint64_t left; /* of V8_TRAMPOLINE_CODE_MAX */
};

static void take(struct search *search, uint64_t address, uint64_t file_offset)
{
	struct v8_trampoline found = {address, file_offset, sizeof(dispatch)};
	struct v8_file *file = search->file;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct runtime_symbol *symbol = &search->symbols[i];
		uint64_t before = address - symbol->address;

		if (symbol->is_found && address >= symbol->address && before < symbol->size_bytes &&
		    before <= file_offset)
			found = (struct v8_trampoline){symbol->address, file_offset - before,
						       symbol->size_bytes};
	}
	if (file->trampoline_count < V8_TRAMPOLINES_MAX)
		file->trampolines[file->trampoline_count++] = found;
}

static int search_segment(struct search *search, const struct elf_file *elf,
			  const struct elf_segment *segment, uint8_t *piece)
{
	uint64_t bytes = segment->file_bytes < search->left ? segment->file_bytes : search->left;
	uint64_t at = 0, now;
	int err = 0;

	search->left -= bytes;
	for (; !err && bytes - at >= sizeof(dispatch); at += now - (sizeof(dispatch) - 1)) {
		const uint8_t *found = piece;

		now = bytes - at < PIECE_BYTES ? bytes - at : PIECE_BYTES;
		err = blob_read(elf->blob, segment->file_offset + at, piece, now);
		while (!err && (found = memmem(found, (size_t)(piece + now - found), dispatch,
					       sizeof(dispatch)))) {
			take(search, segment->address + at + (uint64_t)(found - piece),
			     segment->file_offset + at + (uint64_t)(found - piece));
			found += sizeof(dispatch);
		}
	}
	return err;
}

int v8_trampolines_find(const struct elf_file *elf, struct v8_file *ret)
{
	struct search search = {.file = ret, .left = V8_TRAMPOLINE_CODE_MAX};
	AUTO_FREE uint8_t *piece = malloc(PIECE_BYTES);
	int err;

	if (!piece)
		return -ENOMEM;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		search.symbols[i].name = names[i];
	ret->trampoline_count = 0;
	err = runtime_symbols_find(elf, search.symbols, ARRAY_SIZE(names));
	if (err && err != -ENOENT)
		return err;
	err = 0;
	vec_for_each (segment, &elf->segments) {
		if (segment->executable && !err)
			err = search_segment(&search, elf, segment, piece);
	}
	return err ?: ret->trampoline_count ? 0 : -ENOENT;
}
