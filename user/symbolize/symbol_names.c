/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_names.h"

#include "base/scope.h"
#include "base/shared_blob.h"

#define FIRST_BYTES 256 /* most names are shorter */

int symbol_names_add(struct symbol_names *names, struct elf_symbols *symbols, uint32_t *ret_base)
{
	uint32_t base = 0;

	if (names->count == SYMBOL_NAMES_TABLES)
		return -E2BIG;
	for (uint32_t i = 0; i < names->count; i++)
		base += names->tables[i].size_bytes;
	names->tables[names->count++] = (struct name_table){
		.text = TAKE_PTR(symbols->strings),
		.file_offset = symbols->strings_offset,
		.size_bytes = (uint32_t)symbols->strings_bytes,
	};
	*ret_base = base;
	return 0;
}

int symbol_names_release(struct symbol_names *names, uint32_t i, struct blob *blob)
{
	struct name_table *table = &names->tables[i];
	int err;

	if (table->size_bytes <= SYMBOL_NAMES_HELD_BYTES)
		return 0;
	err = blob_share(blob, &table->blob);
	if (err)
		return err;
	free(TAKE_PTR(table->text));
	return 0;
}

void symbol_names_deinit(struct symbol_names *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		free(names->tables[i].text);
		blob_close(&names->tables[i].blob);
	}
	vec_deinit(&names->room);
	*names = (struct symbol_names){0};
}

/* Read a name into the buffer, in growing steps until its end is found. */
static const char *name_read(struct symbol_names *names, const struct name_table *table,
			     uint32_t offset)
{
	size_t left = table->size_bytes - offset;

	for (size_t wanted = FIRST_BYTES;; wanted *= 4) {
		size_t size_bytes = wanted < left ? wanted : left;
		char *text;

		if (vec_reserve(&names->room, size_bytes + 1))
			return NULL;
		text = names->room.data;
		if (blob_read(&table->blob, table->file_offset + offset, text, size_bytes))
			return NULL;
		text[size_bytes] = '\0';
		if (strlen(text) < size_bytes || size_bytes == left ||
		    size_bytes >= SYMBOL_NAME_READ_MAX) {
			text[strcspn(text, "@")] = '\0';
			return text;
		}
	}
}

const char *symbol_names_get(struct symbol_names *names, uint32_t number)
{
	for (uint32_t i = 0; i < names->count; i++) {
		const struct name_table *table = &names->tables[i];

		if (number < table->size_bytes)
			return table->text ? table->text + number : name_read(names, table, number);
		number -= table->size_bytes;
	}
	return NULL;
}

size_t symbol_names_bytes(const struct symbol_names *names)
{
	size_t size_bytes = names->room.capacity;

	for (uint32_t i = 0; i < names->count; i++)
		size_bytes += names->tables[i].text ? names->tables[i].size_bytes : 0;
	return size_bytes;
}

bool symbol_names_open(const struct symbol_names *names)
{
	for (uint32_t i = 0; i < names->count; i++) {
		if (names->tables[i].blob.read)
			return true;
	}
	return false;
}
