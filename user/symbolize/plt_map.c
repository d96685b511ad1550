/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/plt_map.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "base/vec.h"
#include "decode/elf/elf_plt.h"

#define SUFFIX "@plt"

/* Names under construction. The text moves as it grows, so spans hold offsets in `id` at first. */
struct plt_names {
	VEC(char) text;
	VEC(struct symbol_span) spans;
	const struct symbol_map *symbols;
	struct symbol_names *symbol_names;
};

static void plt_names_deinit(struct plt_names *names)
{
	vec_deinit(&names->text);
	vec_deinit(&names->spans);
}

/* Returns the name of an entry's function; room is used if no name is known. */
static const char *function_of(const struct elf_plt_entry *entry, const struct plt_names *names,
			       char room[32])
{
	const char *name = entry->name;
	uint64_t offset;
	uint32_t id;

	if (!name && symbol_map_find(names->symbols, entry->resolver, &id, &offset) && !offset)
		name = symbol_names_get(names->symbol_names, id);
	if (!name) {
		snprintf(room, 32, "*ABS*+0x%" PRIx64, entry->resolver);
		name = room;
	}
	return name;
}

static int add_entry(struct plt_names *names, const struct elf_plt_entry *entry)
{
	char room[32];
	const char *name = function_of(entry, names, room);
	size_t length = strnlen(name, PLT_NAME_BYTES_MAX), offset = names->text.size;
	struct symbol_span span = {
		.start = entry->address,
		.end = entry->address + entry->size_bytes,
		.id = (uint32_t)offset,
		.sized = true,
		.scope = SYMBOL_GLOBAL,
	};

	if (span.end < span.start || offset + length > PLT_NAMES_BYTES_MAX)
		return 0;
	if (vec_reserve(&names->text, offset + length + sizeof(SUFFIX)) ||
	    vec_push(&names->spans, span))
		return -ENOMEM;
	memcpy(names->text.data + offset, name, length);
	memcpy(names->text.data + offset + length, SUFFIX, sizeof(SUFFIX));
	names->text.size += length + sizeof(SUFFIX);
	return 0;
}

int plt_map_init(struct plt_map *ret, const struct elf_file *elf, const struct symbol_map *symbols,
		 struct symbol_names *symbol_names)
{
	CLEANUP(plt_names_deinit)
	struct plt_names names = {.symbols = symbols, .symbol_names = symbol_names};
	CLEANUP(elf_plt_deinit) struct elf_plt plt = {0};
	struct symbol_map map;
	int err = elf_file_plt(elf, &plt);

	if (err == -ENOMEM)
		return err;
	vec_for_each (entry, &plt.entries) {
		err = add_entry(&names, entry);
		if (err)
			return err;
	}
	vec_for_each (span, &names.spans)
		span->name = names.text.data + span->id;
	err = symbol_map_init(&map, names.spans.data, names.spans.size);
	if (err)
		return err;
	vec_fit(&names.text);
	*ret = (struct plt_map){
		.map = map,
		.names = TAKE_PTR(names.text.data),
		.names_bytes = names.text.capacity,
	};
	return 0;
}

void plt_map_deinit(struct plt_map *plt)
{
	symbol_map_deinit(&plt->map);
	free(plt->names);
	*plt = (struct plt_map){0};
}
