/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/runtime_symbols.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/elf_widen.h"

#define SYMBOLS_AT_ONCE 1024

static bool is_wanted(const struct runtime_symbol *symbol, const char *name)
{
	size_t bytes;

	/* Most of the hundreds of thousands of names of a file end here. */
	if (*name != *symbol->name || symbol->is_found)
		return false;
	bytes = strlen(symbol->name);
	if (strncmp(name, symbol->name, bytes) != 0)
		return false;
	if (symbol->is_prefix)
		return true;
	if (symbol->is_part)
		return name[bytes] == '.';
	return name[bytes] == '\0' || name[bytes] == '@'; /* "@VERSION" */
}

static void take(const Elf64_Sym *entry, const char *name, struct runtime_symbol *symbols,
		 size_t count)
{
	if (entry->st_shndx == SHN_UNDEF || entry->st_size > UINT64_MAX - entry->st_value)
		return;
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(&symbols[i], name))
			continue;
		symbols[i].is_found = true;
		symbols[i].address = entry->st_value;
		symbols[i].size_bytes = entry->st_size;
		return;
	}
}

static int find_in(const struct elf_file *elf, bool dynamic, struct runtime_symbol *symbols,
		   size_t count)
{
	AUTO_FREE Elf64_Sym *some = calloc(SYMBOLS_AT_ONCE, sizeof(*some));
	AUTO_FREE char *strings = NULL;
	struct elf_symbol_table table;
	int err = elf_symbol_table_find(elf, dynamic, &table);

	if (err)
		return err;
	if (table.strings_bytes > RUNTIME_SYMBOLS_BYTES_MAX ||
	    (uint64_t)table.count * elf_symbol_bytes(&table) > RUNTIME_SYMBOLS_BYTES_MAX)
		return -E2BIG;
	strings = malloc(table.strings_bytes + 1);
	if (!some || !strings)
		return -ENOMEM;
	err = blob_read(elf->blob, table.strings_offset, strings, table.strings_bytes);
	strings[table.strings_bytes] = '\0';
	for (uint32_t first = 0; first < table.count && !err; first += SYMBOLS_AT_ONCE) {
		uint32_t left = table.count - first;
		uint32_t now = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		err = elf_symbols_read(elf->blob, !table.narrow,
				       table.offset + (uint64_t)first * elf_symbol_bytes(&table),
				       now, some);
		for (uint32_t i = 0; i < now && !err; i++) {
			if (some[i].st_name < table.strings_bytes)
				take(&some[i], strings + some[i].st_name, symbols, count);
		}
	}
	return err;
}

int runtime_symbols_find_exported(const struct elf_file *elf, struct runtime_symbol *symbols,
				  size_t count)
{
	return find_in(elf, true, symbols, count);
}

int runtime_symbols_find(const struct elf_file *elf, struct runtime_symbol *symbols, size_t count)
{
	bool all = true;
	int err = find_in(elf, true, symbols, count), other;

	for (size_t i = 0; i < count; i++)
		all = all && symbols[i].is_found;
	if (all)
		return 0;
	other = find_in(elf, false, symbols, count);
	return err ? other : 0;
}
