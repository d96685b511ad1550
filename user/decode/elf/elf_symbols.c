/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbol tables of an ELF file. */
#include "decode/elf/elf_file.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"

#define SYMBOLS_AT_ONCE 2048

static const struct elf_section *section_of_type(const struct elf_file *elf, uint32_t type)
{
	vec_for_each (section, &elf->sections) {
		if (section->type == type)
			return section;
	}
	return NULL;
}

static int table_check(const struct elf_file *elf, const struct elf_section *table)
{
	if (!blob_has(elf->blob, table->file_offset, table->size_bytes))
		return -EBADMSG;
	return table->size_bytes > ELF_TABLE_BYTES_MAX ? -E2BIG : 0;
}

/*
 * Read the strings of a symbol table and append a NUL. "@VERSION" is cut in one
 * pass over all strings: a cut for each symbol would be quadratic for many
 * symbols that share one long name.
 */
static int strings_read(const struct elf_file *elf, const struct elf_section *symbols,
			struct elf_symbols *ret)
{
	const struct elf_section *table;
	AUTO_FREE char *strings = NULL;
	char *end, *at;
	int err;

	if (symbols->link >= elf->sections.size)
		return -EBADMSG;
	table = &elf->sections.data[symbols->link];
	if (table->type != SHT_STRTAB)
		return -EBADMSG;
	err = table_check(elf, table);
	if (err)
		return err;
	strings = malloc(table->size_bytes + 1);
	if (!strings)
		return -ENOMEM;
	err = blob_read(elf->blob, table->file_offset, strings, table->size_bytes);
	if (err)
		return err;
	end = strings + table->size_bytes;
	*end = '\0';
	for (at = strings; (at = memchr(at, '@', (size_t)(end - at))); at++)
		*at = '\0';
	ret->strings = TAKE_PTR(strings);
	ret->strings_bytes = table->size_bytes;
	ret->strings_offset = table->file_offset;
	return 0;
}

static uint32_t section_of_symbol(const struct elf_file *elf, const Elf64_Sym *symbol)
{
	const struct elf_section *section;

	if (symbol->st_shndx >= SHN_LORESERVE || symbol->st_shndx >= elf->sections.size)
		return 0;
	section = &elf->sections.data[symbol->st_shndx];
	if (!(section->flags & SHF_EXECINSTR) || symbol->st_value < section->address ||
	    symbol->st_value - section->address >= section->size_bytes)
		return 0;
	return symbol->st_shndx;
}

static bool symbol_is_code(const Elf64_Sym *symbol, uint32_t section)
{
	if (symbol->st_shndx == SHN_UNDEF || symbol->st_size > UINT64_MAX - symbol->st_value)
		return false;
	switch (ELF64_ST_TYPE(symbol->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return true;
	case STT_NOTYPE:
		return section && ELF64_ST_BIND(symbol->st_info) != STB_LOCAL;
	default:
		return false;
	}
}

static int symbol_add(const struct elf_file *elf, const Elf64_Sym *symbol,
		      struct elf_symbols *symbols)
{
	uint32_t section = section_of_symbol(elf, symbol);
	struct elf_symbol added = {
		.address = symbol->st_value,
		.size_bytes = symbol->st_size,
		.type = ELF64_ST_TYPE(symbol->st_info),
		.bind = ELF64_ST_BIND(symbol->st_info),
		.section = section,
	};

	if (!symbol_is_code(symbol, section) || symbol->st_name >= symbols->strings_bytes)
		return 0;
	added.name = symbols->strings + symbol->st_name;
	return added.name[0] ? vec_push(&symbols->symbols, added) : 0;
}

static int symbols_read(const struct elf_file *elf, const struct elf_section *table,
			struct elf_symbols *symbols)
{
	uint64_t offset = table->file_offset, left = table->size_bytes / sizeof(Elf64_Sym);
	AUTO_FREE Elf64_Sym *some = calloc(SYMBOLS_AT_ONCE, sizeof(*some));
	int err;

	if (!some)
		return -ENOMEM;
	while (left) {
		size_t count = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		err = blob_read(elf->blob, offset, some, count * sizeof(*some));
		for (size_t i = 0; i < count && !err; i++)
			err = symbol_add(elf, &some[i], symbols);
		if (err)
			return err;
		offset += count * sizeof(*some);
		left -= count;
	}
	return 0;
}

int elf_file_symbols(const struct elf_file *elf, bool dynamic, struct elf_symbols *ret)
{
	const struct elf_section *table = section_of_type(elf, dynamic ? SHT_DYNSYM : SHT_SYMTAB);
	CLEANUP(elf_symbols_deinit) struct elf_symbols symbols = {0};
	int err;

	if (!table)
		return -ENOENT;
	if (table->entry_bytes != sizeof(Elf64_Sym))
		return -EBADMSG;
	err = table_check(elf, table);
	if (err)
		return err;
	if (table->size_bytes / sizeof(Elf64_Sym) > ELF_SYMBOLS_MAX)
		return -E2BIG;
	err = strings_read(elf, table, &symbols);
	if (!err)
		err = symbols_read(elf, table, &symbols);
	if (err)
		return err;
	*ret = symbols;
	symbols = (struct elf_symbols){0};
	return 0;
}

void elf_symbols_deinit(struct elf_symbols *symbols)
{
	vec_deinit(&symbols->symbols);
	free(symbols->strings);
	*symbols = (struct elf_symbols){0};
}
