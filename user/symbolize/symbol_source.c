/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/symbol_source.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "decode/elf/elf_widen.h"
#include "symbolize/name/native_function.h"

#define SYMBOLS_AT_ONCE 128

static bool read_symbols(const struct symbol_table *table, uint32_t first, uint32_t count,
			 Elf64_Sym *ret)
{
	uint64_t offset = table->at.offset + (uint64_t)first * elf_symbol_bytes(&table->at);

	return !elf_symbols_read(&table->blob, !table->at.narrow, offset, count, ret);
}

static bool is_file(const Elf64_Sym *symbol)
{
	return ELF64_ST_TYPE(symbol->st_info) == STT_FILE;
}

static bool is_local(const Elf64_Sym *symbol)
{
	return ELF64_ST_BIND(symbol->st_info) == STB_LOCAL;
}

/* Returns the number of the last STT_FILE before a symbol; 0, which is no symbol: none. */
static uint32_t file_before(const struct symbol_table *table, uint32_t number)
{
	Elf64_Sym some[SYMBOLS_AT_ONCE];
	uint32_t limit =
		number > SYMBOL_SOURCE_DISTANCE_MAX ? number - SYMBOL_SOURCE_DISTANCE_MAX : 0;

	while (number > limit) {
		uint32_t count =
			number - limit < SYMBOLS_AT_ONCE ? number - limit : SYMBOLS_AT_ONCE;

		number -= count;
		if (!read_symbols(table, number, count, some))
			return 0;
		for (uint32_t i = count; i--;) {
			if (is_file(&some[i]))
				return number + i;
		}
	}
	return 0;
}

/* Returns true if a local function of a name is behind the STT_FILE `file`. */
static bool has_function(const struct symbol_table *table, uint32_t file, const char *name,
			 symbol_room *room)
{
	Elf64_Sym some[SYMBOLS_AT_ONCE];
	uint32_t names = SYMBOL_SOURCE_NAMES_MAX, first = file + 1, count;

	for (; first < table->at.count; first += count) {
		count = table->at.count - first < SYMBOLS_AT_ONCE ? table->at.count - first
								  : SYMBOLS_AT_ONCE;
		if (!read_symbols(table, first, count, some))
			return false;
		for (uint32_t i = 0; i < count; i++) {
			struct symbol_span span;

			if (is_file(&some[i]) || !is_local(&some[i]))
				return false;
			if (ELF64_ST_TYPE(some[i].st_info) != STT_FUNC)
				continue;
			if (!names--)
				return false;
			if (symbol_table_get(table, first + i, room, &span) &&
			    !strcmp(span.name, name))
				return true;
		}
	}
	return false;
}

/* Returns true if the function of symbol `number` is surely one of the file's own. */
static bool is_own(const struct symbol_table *table, uint32_t number, uint32_t file,
		   symbol_room *room)
{
	AUTO_FREE char *name = NULL;
	struct symbol_span span;
	size_t bytes;

	if (!symbol_table_get(table, number, room, &span))
		return false;
	name = strdup(span.name);
	if (!name)
		return false;
	bytes = strlen(name);
	native_to_function(name, "");
	return strlen(name) == bytes || has_function(table, file, name, room);
}

const char *symbol_source(const struct symbol_table *table, uint32_t number, symbol_room *room)
{
	struct symbol_span span;
	Elf64_Sym symbol;
	uint32_t file;

	if (number >= table->at.count || !read_symbols(table, number, 1, &symbol) ||
	    !is_local(&symbol))
		return NULL;
	file = file_before(table, number);
	if (!file || !is_own(table, number, file, room) ||
	    !symbol_table_get(table, file, room, &span))
		return NULL;
	/* "<artificial>", "ld-temp.o", "x.ltrans0.ltrans.o" */
	return *span.name && *span.name != '<' && !ends_with(span.name, ".o") ? span.name : NULL;
}
