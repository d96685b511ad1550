/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The symbol tables of an ELF file. */
#include "decode/elf/elf_file.h"

#include <elf.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/elf_widen.h"

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

int elf_symbol_table_find(const struct elf_file *elf, bool dynamic, struct elf_symbol_table *ret)
{
	const struct elf_section *table = section_of_type(elf, dynamic ? SHT_DYNSYM : SHT_SYMTAB);
	bool narrow = elf->machine == EM_386;
	uint32_t entry_bytes = narrow ? ELF_SYMBOL_BYTES_32 : ELF_SYMBOL_BYTES;
	const struct elf_section *strings;
	int err;

	if (!table)
		return -ENOENT;
	if (table->entry_bytes != entry_bytes || table->link >= elf->sections.size)
		return -EBADMSG;
	strings = &elf->sections.data[table->link];
	if (strings->type != SHT_STRTAB)
		return -EBADMSG;
	err = table_check(elf, table);
	err = err ?: table_check(elf, strings);
	if (err)
		return err;
	if (table->size_bytes / entry_bytes > ELF_SYMBOLS_MAX)
		return -E2BIG;
	*ret = (struct elf_symbol_table){
		.offset = table->file_offset,
		.count = (uint32_t)(table->size_bytes / entry_bytes),
		.narrow = narrow,
		.strings_offset = strings->file_offset,
		.strings_bytes = strings->size_bytes,
	};
	return 0;
}

/*
 * Read the strings of a symbol table and append a NUL. "@VERSION" is cut in one
 * pass over all strings: a cut for each symbol would be quadratic for many
 * symbols that share one long name.
 */
static int strings_read(const struct elf_file *elf, const struct elf_symbol_table *table,
			struct elf_symbols *ret)
{
	AUTO_FREE char *strings = malloc(table->strings_bytes + 1);
	char *end, *at;
	int err;

	if (!strings)
		return -ENOMEM;
	err = blob_read(elf->blob, table->strings_offset, strings, table->strings_bytes);
	if (err)
		return err;
	end = strings + table->strings_bytes;
	*end = '\0';
	for (at = strings; (at = memchr(at, '@', (size_t)(end - at))); at++)
		*at = '\0';
	ret->strings = TAKE_PTR(strings);
	ret->strings_bytes = table->strings_bytes;
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
	int (*take)(struct symbol_pass *pass, const Elf64_Sym *symbol, uint32_t number);
	elf_symbol_fn *function; /* of take_function() */
	void *context;
	struct elf_symbols symbols; /* with strings, of take_named() and take_variable() */
	const char *wanted;	    /* name of a variable */
	uint64_t address;
};

static bool function_of(const struct elf_file *elf, const Elf64_Sym *symbol, struct elf_symbol *ret)
{
	uint32_t section = section_of_symbol(elf, symbol);

	*ret = (struct elf_symbol){
		.address = symbol->st_value,
		.size_bytes = symbol->st_size,
		.type = ELF64_ST_TYPE(symbol->st_info),
		.bind = ELF64_ST_BIND(symbol->st_info),
		.section = section,
	};
	return symbol_is_code(symbol, section);
}

static int take_function(struct symbol_pass *pass, const Elf64_Sym *symbol, uint32_t number)
{
	struct elf_symbol function;

	if (!function_of(pass->elf, symbol, &function))
		return 0;
	return pass->function(pass->context, &function, number);
}

static int take_named(struct symbol_pass *pass, const Elf64_Sym *symbol, uint32_t number)
{
	struct elf_symbol function;

	if (!function_of(pass->elf, symbol, &function))
		return 0;
	function.name = pass->symbols.strings + symbol->st_name;
	return *function.name ? vec_push(&pass->symbols.symbols, function) : 0;
}

static int take_variable(struct symbol_pass *pass, const Elf64_Sym *symbol, uint32_t number)
{
	if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT ||
	    strcmp(pass->symbols.strings + symbol->st_name, pass->wanted) != 0)
		return 0;
	pass->address = symbol->st_value;
	return 1;
}

/* Read a table to its end, or until pass->take returns something else than 0, which is returned. */
static int read_table(struct symbol_pass *pass, const struct blob *blob,
		      const struct elf_symbol_table *table)
{
	AUTO_FREE Elf64_Sym *some = calloc(SYMBOLS_AT_ONCE, sizeof(*some));

	if (!some)
		return -ENOMEM;
	for (uint32_t first = 0; first < table->count; first += SYMBOLS_AT_ONCE) {
		uint32_t left = table->count - first;
		uint32_t count = left < SYMBOLS_AT_ONCE ? left : SYMBOLS_AT_ONCE;
		uint64_t offset = table->offset + (uint64_t)first * elf_symbol_bytes(table);
		int err = elf_symbols_read(blob, !table->narrow, offset, count, some);

		for (uint32_t i = 0; i < count && !err; i++) {
			if (some[i].st_name < table->strings_bytes)
				err = pass->take(pass, &some[i], first + i);
		}
		if (err)
			return err;
	}
	return 0;
}

static int read_with_strings(struct symbol_pass *pass, const struct elf_symbol_table *table)
{
	return strings_read(pass->elf, table, &pass->symbols)
		       ?: read_table(pass, pass->elf->blob, table);
}

int elf_symbol_table_each(const struct elf_file *elf, const struct blob *blob,
			  const struct elf_symbol_table *table, elf_symbol_fn *function,
			  void *context)
{
	struct symbol_pass pass = {
		.elf = elf,
		.take = take_function,
		.function = function,
		.context = context,
	};

	return read_table(&pass, blob, table);
}

int elf_symbol_table_read(const struct blob *blob, const struct elf_symbol_table *table,
			  uint32_t number, struct elf_symbol *ret, uint64_t *ret_name_offset)
{
	Elf64_Sym symbol;
	int err;

	if (number >= table->count)
		return -EBADMSG;
	err = elf_symbols_read(blob, !table->narrow,
			       table->offset + (uint64_t)number * elf_symbol_bytes(table), 1,
			       &symbol);
	if (err)
		return err;
	if (symbol.st_name >= table->strings_bytes)
		return -EBADMSG;
	*ret = (struct elf_symbol){
		.address = symbol.st_value,
		.size_bytes = symbol.st_size,
		.type = ELF64_ST_TYPE(symbol.st_info),
		.bind = ELF64_ST_BIND(symbol.st_info),
	};
	*ret_name_offset = table->strings_offset + symbol.st_name;
	return 0;
}

int elf_file_symbols(const struct elf_file *elf, bool dynamic, struct elf_symbols *ret)
{
	struct symbol_pass pass = {.elf = elf, .take = take_named};
	struct elf_symbol_table table;
	int err = elf_symbol_table_find(elf, dynamic, &table);

	err = err ?: read_with_strings(&pass, &table);
	if (err)
		elf_symbols_deinit(&pass.symbols);
	else
		*ret = pass.symbols;
	return err;
}

int elf_file_variable(const struct elf_file *elf, const char *name, uint64_t *ret)
{
	struct symbol_pass pass = {.elf = elf, .take = take_variable, .wanted = name};
	const struct elf_section *section = section_of_type(elf, SHT_DYNSYM), *strings = NULL;
	struct elf_symbol_table table;
	int found;

	if (section && section->link < elf->sections.size)
		strings = &elf->sections.data[section->link];
	if ((section && section->size_bytes > ELF_VARIABLE_BYTES_MAX) ||
	    (strings && strings->size_bytes > ELF_VARIABLE_BYTES_MAX))
		return -E2BIG;
	found = elf_symbol_table_find(elf, true, &table);
	found = found ?: read_with_strings(&pass, &table);
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
