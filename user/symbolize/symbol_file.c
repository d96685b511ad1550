/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_file.h"

#include <elf.h>

#include "base/scope.h"
#include "base/vec.h"
#include "decode/elf_file.h"
#include "symbolize/symbol_map.h"

struct symbol_file {
	struct elf_file elf; /* for its segments; its blob is gone */
	char *strings;
	size_t strings_bytes;
	struct symbol_map map;
};

DEFINE_CLEANUP(struct symbol_file *, symbol_file_destroy);

static uint8_t scope_of_bind(uint8_t bind)
{
	if (bind == STB_LOCAL)
		return SYMBOL_LOCAL;
	return bind == STB_WEAK ? SYMBOL_WEAK : SYMBOL_GLOBAL;
}

/*
 * complete: the table has all functions. What stands behind an unsized symbol of
 * a table that has only those exported is anybody's.
 */
static struct symbol_span span_of_symbol(const struct elf_file *elf,
					 const struct elf_symbol *symbol, bool complete)
{
	struct symbol_span span = {
		.start = symbol->address,
		.end = symbol->address + symbol->size_bytes,
		.name = symbol->name,
		.sized = symbol->size_bytes,
		.scope = scope_of_bind(symbol->bind),
	};

	/* One of which not even the section is known reaches nowhere. */
	if (!span.sized && symbol->section && complete) {
		const struct elf_section *section = &elf->sections.data[symbol->section];

		if (section->size_bytes <= UINT64_MAX - section->address)
			span.end = section->address + section->size_bytes;
	}
	return span;
}

static int map_symbols(struct symbol_file *file, struct elf_symbols *symbols, bool complete)
{
	size_t count = symbols->symbols.size;
	AUTO_FREE struct symbol_span *spans = calloc(count ? count : 1, sizeof(*spans));
	int err;

	if (!spans)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		spans[i] = span_of_symbol(&file->elf, &symbols->symbols.data[i], complete);
	vec_deinit(&symbols->symbols); /* before the map takes as much again */
	err = symbol_map_init(&file->map, spans, count);
	if (err)
		return err;
	file->strings = TAKE_PTR(symbols->strings);
	file->strings_bytes = symbols->strings_bytes;
	return 0;
}

/* From the best source that there is. Other sources are tried here, in this order. */
static int load_symbols(struct symbol_file *file)
{
	CLEANUP(elf_symbols_deinit) struct elf_symbols symbols = {0};
	bool complete;
	int err;

	err = elf_file_symbols(&file->elf, false, &symbols);
	complete = !err;
	if (err && err != -ENOMEM)
		err = elf_file_symbols(&file->elf, true, &symbols);
	if (err)
		return err == -ENOENT || err == -EBADMSG || err == -E2BIG ? 0 : err;
	return map_symbols(file, &symbols, complete);
}

int symbol_file_create(const struct blob *blob, struct symbol_file **ret)
{
	CLEANUP(symbol_file_destroyp) struct symbol_file *file = calloc(1, sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	err = elf_file_init(&file->elf, blob);
	if (!err)
		err = load_symbols(file);
	if (err)
		return err;
	file->elf.blob = NULL;
	vec_deinit(&file->elf.sections);
	vec_deinit(&file->elf.notes);
	*ret = TAKE_PTR(file);
	return 0;
}

void symbol_file_destroy(struct symbol_file *file)
{
	if (!file)
		return;
	elf_file_deinit(&file->elf);
	symbol_map_deinit(&file->map);
	free(file->strings);
	free(file);
}

const char *symbol_file_find(const struct symbol_file *file, uint64_t file_offset,
			     uint64_t *ret_offset)
{
	uint64_t address;

	if (!elf_file_address(&file->elf, file_offset, &address))
		return NULL;
	return symbol_map_find(&file->map, address, ret_offset);
}

size_t symbol_file_bytes(const struct symbol_file *file)
{
	return sizeof(*file) + file->strings_bytes + file->map.count * sizeof(*file->map.ranges) +
	       file->elf.segments.capacity * sizeof(*file->elf.segments.data);
}

size_t symbol_file_count(const struct symbol_file *file)
{
	return file->map.count;
}
