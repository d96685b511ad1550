/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_table.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"
#include "base/shared_blob.h"

#define FIRST_BYTES 256 /* most names are shorter */

/* Copy the symbols and the strings of a small table, one after the other. */
static int hold(struct symbol_table *table, const struct blob *blob)
{
	size_t symbols_bytes = (size_t)table->at.count * elf_symbol_bytes(&table->at);
	size_t held_bytes = symbols_bytes + table->at.strings_bytes;
	AUTO_FREE uint8_t *held = malloc(held_bytes + 1);
	int err;

	if (!held)
		return -ENOMEM;
	err = blob_read(blob, table->at.offset, held, symbols_bytes);
	err = err
		      ?: blob_read(blob, table->at.strings_offset, held + symbols_bytes,
				   table->at.strings_bytes);
	if (err)
		return err;
	table->at.offset = 0;
	table->at.strings_offset = symbols_bytes;
	table->held_bytes = held_bytes;
	table->held = TAKE_PTR(held);
	table->blob = blob_of_memory(table->held, held_bytes);
	return 0;
}

static bool is_small(const struct elf_symbol_table *at)
{
	return at->strings_bytes <= SYMBOL_TABLE_HELD_BYTES &&
	       (uint64_t)at->count * elf_symbol_bytes(at) + at->strings_bytes <=
		       SYMBOL_TABLE_HELD_BYTES;
}

int symbol_table_init(struct symbol_table *ret, const struct elf_file *elf, struct blob *blob,
		      bool dynamic)
{
	struct symbol_table table = {.held = NULL};
	int err = elf_symbol_table_find(elf, dynamic, &table.at);

	if (err)
		return err;
	err = !blob || is_small(&table.at) ? hold(&table, elf->blob)
					   : blob_share(blob, &table.blob);
	if (!err)
		*ret = table;
	return err;
}

void symbol_table_deinit(struct symbol_table *table)
{
	blob_close(&table->blob);
	free(table->held);
	*table = (struct symbol_table){0};
}

/* Read a name into the buffer, in growing steps until its end is found. */
static const char *name_read(const struct symbol_table *table, uint64_t offset, symbol_room *room)
{
	uint64_t left = table->at.strings_offset + table->at.strings_bytes - offset;

	for (size_t wanted = FIRST_BYTES;; wanted *= 4) {
		size_t size_bytes = wanted < left ? wanted : left;
		char *text;

		if (vec_reserve(room, size_bytes + 1))
			return NULL;
		text = room->data;
		if (blob_read(&table->blob, offset, text, size_bytes))
			return NULL;
		text[size_bytes] = '\0';
		if (strlen(text) < size_bytes || size_bytes == left ||
		    size_bytes >= SYMBOL_NAME_READ_MAX) {
			text[strcspn(text, "@")] = '\0';
			return text;
		}
	}
}

enum symbol_scope symbol_scope_of(uint8_t bind)
{
	if (bind == STB_LOCAL)
		return SYMBOL_LOCAL;
	return bind == STB_WEAK ? SYMBOL_WEAK : SYMBOL_GLOBAL;
}

bool symbol_table_get(const struct symbol_table *table, uint32_t number, symbol_room *room,
		      struct symbol_span *ret)
{
	struct elf_symbol symbol;
	uint64_t name_offset;
	const char *name;

	if (elf_symbol_table_read(&table->blob, &table->at, number, &symbol, &name_offset))
		return false;
	name = name_read(table, name_offset, room);
	if (!name)
		return false;
	*ret = (struct symbol_span){
		.start = symbol.address,
		.size_bytes = symbol.size_bytes,
		.scope = symbol_scope_of(symbol.bind),
		.name = name,
	};
	return true;
}
