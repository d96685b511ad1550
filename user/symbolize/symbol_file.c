/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_file.h"

#include <elf.h>

#include "base/scope.h"
#include "base/vec.h"
#include "decode/elf/debug_link.h"
#include "decode/elf/elf_file.h"
#include "symbolize/plt_map.h"
#include "symbolize/symbol_map.h"
#include "symbolize/symbol_names.h"

struct symbol_file {
	struct elf_file elf; /* its blob is not valid after symbol_file_create() */
	struct symbol_names names;
	struct symbol_map map; /* ids are numbers in `names` */
	struct plt_map plt;
};

DEFINE_CLEANUP(struct symbol_file *, symbol_file_destroy);

static uint8_t scope_of_bind(uint8_t bind)
{
	if (bind == STB_LOCAL)
		return SYMBOL_LOCAL;
	return bind == STB_WEAK ? SYMBOL_WEAK : SYMBOL_GLOBAL;
}

/*
 * Convert a symbol. complete: the table has all functions. Code after an
 * unsized symbol of a table with exported functions only may belong to any
 * function.
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

	/* Without a known section, an unsized symbol is empty. */
	if (!span.sized && symbol->section && complete) {
		const struct elf_section *section = &elf->sections.data[symbol->section];

		if (section->size_bytes <= UINT64_MAX - section->address)
			span.end = section->address + section->size_bytes;
	}
	return span;
}

/* Symbols collected from the tables, and the files of their names. */
struct gathered {
	struct symbol_file *file;
	VEC(struct symbol_span) spans;
	struct blob *blobs[SYMBOL_NAMES_TABLES]; /* NULL if the names exist in memory only */
};

static void gathered_deinit(struct gathered *gathered)
{
	vec_deinit(&gathered->spans);
}

/* Add the symbols of one table. Returns -ENOENT if the table is missing or damaged. */
static int gather(struct gathered *gathered, const struct elf_file *elf, struct blob *blob,
		  bool dynamic, bool complete)
{
	CLEANUP(elf_symbols_deinit) struct elf_symbols symbols = {0};
	struct symbol_names *names = &gathered->file->names;
	const char *strings;
	uint32_t base;
	int err = elf_file_symbols(elf, dynamic, &symbols);

	if (err == -EBADMSG || err == -E2BIG)
		return -ENOENT;
	if (!err)
		err = vec_reserve(&gathered->spans, gathered->spans.size + symbols.symbols.size);
	strings = symbols.strings;
	err = err ?: symbol_names_add(names, &symbols, &base);
	if (err)
		return err;
	gathered->blobs[names->count - 1] = blob;
	vec_for_each (symbol, &symbols.symbols) {
		struct symbol_span span = span_of_symbol(elf, symbol, complete);

		span.id = base + (uint32_t)(symbol->name - strings);
		gathered->spans.data[gathered->spans.size++] = span;
	}
	return 0;
}

/* Add the symbols of .gnu_debugdata, which a stripped program has besides .dynsym. */
static int gather_mini_debug(struct gathered *gathered)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	AUTO_FREE uint8_t *bytes = NULL;
	struct blob blob;
	size_t size_bytes;
	int err;

	err = mini_debug_inflate(&gathered->file->elf, &bytes, &size_bytes);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	blob = blob_of_memory(bytes, size_bytes);
	err = elf_file_init(&elf, &blob);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	return gather(gathered, &elf, NULL, false, false);
}

static int gather_debug(struct gathered *gathered, struct blob *debug)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err;

	if (!debug)
		return -ENOENT;
	err = elf_file_init(&elf, debug);
	if (err)
		return err == -ENOMEM ? err : -ENOENT;
	return gather(gathered, &elf, debug, false, true);
}

/* Collect symbols from the best source available. */
static int gather_best(struct gathered *gathered, struct blob *blob, struct blob *debug)
{
	int err = gather(gathered, &gathered->file->elf, blob, false, true);

	if (err == -ENOENT)
		err = gather_debug(gathered, debug);
	if (err != -ENOENT)
		return err;
	err = gather_mini_debug(gathered);
	if (err && err != -ENOENT)
		return err;
	err = gather(gathered, &gathered->file->elf, blob, true, false);
	return err == -ENOENT ? 0 : err;
}

/* Free what only building the map needs. */
static int free_build_data(struct gathered *gathered)
{
	struct symbol_names *names = &gathered->file->names;
	int err = 0;

	vec_deinit(&gathered->spans);
	for (uint32_t i = 0; i < names->count && !err; i++) {
		if (gathered->blobs[i])
			err = symbol_names_release(names, i, gathered->blobs[i]);
	}
	return err;
}

int symbol_file_create(struct blob *blob, struct blob *debug, struct symbol_file **ret)
{
	CLEANUP(symbol_file_destroyp) struct symbol_file *file = calloc(1, sizeof(*file));
	CLEANUP(gathered_deinit) struct gathered gathered = {.file = file};
	int err;

	if (!file)
		return -ENOMEM;
	err = elf_file_init(&file->elf, blob);
	err = err ?: gather_best(&gathered, blob, debug);
	err = err ?: symbol_map_init(&file->map, gathered.spans.data, gathered.spans.size);
	err = err ?: free_build_data(&gathered);
	err = err ?: plt_map_init(&file->plt, &file->elf, &file->map, &file->names);
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
	plt_map_deinit(&file->plt);
	symbol_names_deinit(&file->names);
	free(file);
}

bool symbol_file_address(const struct symbol_file *file, uint64_t file_offset, uint64_t *ret)
{
	return elf_file_address(&file->elf, file_offset, ret);
}

const char *symbol_file_find(struct symbol_file *file, uint64_t address, uint64_t *ret_offset)
{
	const char *name = NULL;
	uint64_t offset;
	uint32_t id;

	if (symbol_map_find(&file->plt.map, address, &id, &offset))
		name = file->plt.names + id;
	else if (symbol_map_find(&file->map, address, &id, &offset))
		name = symbol_names_get(&file->names, id);
	if (name)
		*ret_offset = offset;
	return name;
}

uint64_t symbol_file_text_start(const struct symbol_file *file)
{
	uint64_t start = UINT64_MAX;

	vec_for_each (segment, &file->elf.segments) {
		if (segment->executable && segment->address < start)
			start = segment->address;
	}
	/* Address 0 has the ELF headers; the linker also places discarded functions at 0. */
	return start ? start : 1;
}

size_t symbol_file_bytes(const struct symbol_file *file)
{
	size_t ranges = file->map.count + file->plt.map.count;

	return sizeof(*file) + symbol_names_bytes(&file->names) + file->plt.names_bytes +
	       ranges * sizeof(*file->map.ranges) +
	       file->elf.segments.capacity * sizeof(*file->elf.segments.data);
}

bool symbol_file_open(const struct symbol_file *file)
{
	return symbol_names_open(&file->names);
}

size_t symbol_file_count(const struct symbol_file *file)
{
	return file->map.count;
}
