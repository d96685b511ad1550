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

/* One reading of a symbol table. take returns 0 to go on. */
struct symbol_pass {
	const struct elf_file *elf;
	const struct elf_section *table;
	struct elf_symbols symbols;
	int (*take)(struct symbol_pass *pass, const Elf64_Sym *symbol, const char *name);
	const char *wanted; /* name of a variable */
	uint64_t address;
};

static int take_function(struct symbol_pass *pass, const Elf64_Sym *symbol, const char *name)
{
	uint32_t section = section_of_symbol(pass->elf, symbol);
	struct elf_symbol added = {
		.address = symbol->st_value,
		.size_bytes = symbol->st_size,
		.type = ELF64_ST_TYPE(symbol->st_info),
		.bind = ELF64_ST_BIND(symbol->st_info),
		.section = section,
		.name = name,
	};

	if (!symbol_is_code(symbol, section) || !*name)
		return 0;
	return vec_push(&pass->symbols.symbols, added);
}

static int take_variable(struct symbol_pass *pass, const Elf64_Sym *symbol, const char *name)
{
	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
	    strcmp(name, pass->wanted) != 0)
		return 0;
	pass->address = symbol->st_value;
	return 1;
}

static int take_symbols(struct symbol_pass *pass)
{
	uint64_t offset = pass->table->file_offset;
	uint64_t left = pass->table->size_bytes / sizeof(Elf64_Sym);
	AUTO_FREE Elf64_Sym *some = calloc(SYMBOLS_AT_ONCE, sizeof(*some));
	int err;

	if (!some)
		return -ENOMEM;
	while (left) {
		size_t count = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;

		err = blob_read(pass->elf->blob, offset, some, count * sizeof(*some));
		for (size_t i = 0; i < count && !err; i++) {
			if (some[i].st_name < pass->symbols.strings_bytes)
				err = pass->take(pass, &some[i],
						 pass->symbols.strings + some[i].st_name);
		}
		if (err)
			return err;
		offset += count * sizeof(*some);
		left -= count;
	}
	return 0;
}

/* Read a table to its end, or until pass->take returns something else than 0, which is returned. */
static int read_table(struct symbol_pass *pass, uint32_t type)
{
	int err;

	pass->table = section_of_type(pass->elf, type);
	if (!pass->table)
		return -ENOENT;
	if (pass->table->entry_bytes != sizeof(Elf64_Sym))
		return -EBADMSG;
	err = table_check(pass->elf, pass->table);
	if (err)
		return err;
	if (pass->table->size_bytes / sizeof(Elf64_Sym) > ELF_SYMBOLS_MAX)
		return -E2BIG;
	err = strings_read(pass->elf, pass->table, &pass->symbols);
	return err ?: take_symbols(pass);
}

int elf_file_symbols(const struct elf_file *elf, bool dynamic, struct elf_symbols *ret)
{
	struct symbol_pass pass = {.elf = elf, .take = take_function};
	int err = read_table(&pass, dynamic ? SHT_DYNSYM : SHT_SYMTAB);

	if (err)
		elf_symbols_deinit(&pass.symbols);
	else
		*ret = pass.symbols;
	return err;
}

int elf_file_variable(const struct elf_file *elf, const char *name, uint64_t *ret)
{
	struct symbol_pass pass = {.elf = elf, .take = take_variable, .wanted = name};
	const struct elf_section *table = section_of_type(elf, SHT_DYNSYM), *strings = NULL;
	int found;

	if (table && table->link < elf->sections.size)
		strings = &elf->sections.data[table->link];
	if ((table && table->size_bytes > ELF_VARIABLE_BYTES_MAX) ||
	    (strings && strings->size_bytes > ELF_VARIABLE_BYTES_MAX))
		return -E2BIG;
	found = read_table(&pass, SHT_DYNSYM);

	elf_symbols_deinit(&pass.symbols);
	if (found <= 0)
		return found ?: -ENOENT;
	*ret = pass.address;
	return 0;
}

void elf_symbols_deinit(struct elf_symbols *symbols)
{
	vec_deinit(&symbols->symbols);
	free(symbols->strings);
	*symbols = (struct elf_symbols){0};
}
