/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"

#define FUNC   ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define LOCAL  ELF64_ST_INFO(STB_LOCAL, STT_FUNC)
#define IFUNC  ELF64_ST_INFO(STB_WEAK, STT_GNU_IFUNC)
#define OBJECT ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT)
#define LABEL  ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE)
#define TEXT   IMAGE_TEXT_ADDRESS

static struct elf_image image;
static struct blob blob;
static struct elf_file elf;
static struct elf_symbols symbols;

static int setup(void **state)
{
	image_init(&image);
	blob = image_blob(&image);
	elf = (struct elf_file){0};
	symbols = (struct elf_symbols){0};
	return 0;
}

static int teardown(void **state)
{
	elf_symbols_deinit(&symbols);
	elf_file_deinit(&elf);
	return 0;
}

static int read_symbols(bool dynamic)
{
	int err;

	elf_symbols_deinit(&symbols);
	elf_file_deinit(&elf);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	err = elf_file_symbols(&elf, dynamic, &symbols);
	if (err)
		assert_null(symbols.strings);
	return err;
}

static void assert_symbol(size_t number, const char *name, uint64_t address)
{
	assert_true(number < symbols.symbols.size);
	assert_string_equal(symbols.symbols.data[number].name, name);
	assert_int_equal(symbols.symbols.data[number].address, address);
}

CASE_WITH(takes_only_code, setup, teardown)
{
	image_symbol(&image, SECTION_SYMBOLS, "f", TEXT, 8, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "static", TEXT + 8, 8, LOCAL);
	image_symbol(&image, SECTION_SYMBOLS, "chosen", TEXT + 16, 8, IFUNC);
	image_symbol(&image, SECTION_SYMBOLS, "data", TEXT + 16, 8, OBJECT);
	image_symbol(&image, SECTION_SYMBOLS, "label", TEXT + 32, 0, LABEL);
	image_symbol(&image, SECTION_SYMBOLS, "local_label", TEXT + 33, 0,
		     ELF64_ST_INFO(STB_LOCAL, STT_NOTYPE));
	image_symbol(&image, SECTION_SYMBOLS, "_end", TEXT + IMAGE_TEXT_BYTES, 0, LABEL);
	image_symbol(&image, SECTION_SYMBOLS, "elsewhere", IMAGE_DATA_ADDRESS, 0, LABEL)->st_shndx =
		SECTION_DATA;
	image_symbol(&image, SECTION_SYMBOLS, "undefined", TEXT, 8, FUNC)->st_shndx = SHN_UNDEF;
	image_symbol(&image, SECTION_SYMBOLS, "", TEXT, 8, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "absolute", TEXT, 8, FUNC)->st_shndx = SHN_ABS;
	assert_int_equal(read_symbols(false), 0);
	assert_int_equal(symbols.symbols.size, 5);
	assert_symbol(0, "f", TEXT);
	assert_symbol(1, "static", TEXT + 8);
	assert_symbol(2, "chosen", TEXT + 16);
	assert_symbol(3, "label", TEXT + 32);
	assert_symbol(4, "absolute", TEXT);
	assert_int_equal(symbols.symbols.data[0].section, SECTION_TEXT);
	assert_int_equal(symbols.symbols.data[0].size_bytes, 8);
	assert_int_equal(symbols.symbols.data[1].bind, STB_LOCAL);
	assert_int_equal(symbols.symbols.data[2].type, STT_GNU_IFUNC);
	assert_int_equal(symbols.symbols.data[4].section, 0);
}

CASE_WITH(tells_the_tables_apart, setup, teardown)
{
	image_symbol(&image, SECTION_DYNAMIC, "exported", TEXT, 8, FUNC);
	assert_int_equal(read_symbols(false), 0);
	assert_int_equal(symbols.symbols.size, 0);
	assert_int_equal(read_symbols(true), 0);
	assert_symbol(0, "exported", TEXT);
	image_section(&image, SECTION_SYMBOLS)->sh_type = SHT_NOBITS;
	assert_int_equal(read_symbols(false), -ENOENT);
}

CASE_WITH(cuts_versions, setup, teardown)
{
	image_symbol(&image, SECTION_SYMBOLS, "memcpy@@GLIBC_2.14", TEXT, 8, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "memcpy@GLIBC_2.2.5", TEXT + 8, 8, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "@nothing", TEXT + 8, 8, FUNC);
	assert_int_equal(read_symbols(false), 0);
	assert_int_equal(symbols.symbols.size, 2);
	assert_symbol(0, "memcpy", TEXT);
	assert_symbol(1, "memcpy", TEXT + 8);
}

CASE_WITH(leaves_out_symbols_that_lie, setup, teardown)
{
	image_symbol(&image, SECTION_SYMBOLS, "wraps", TEXT, UINT64_MAX - TEXT + 1, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "far", TEXT, 8, FUNC)->st_name = 0x7fffffff;
	image_symbol(&image, SECTION_SYMBOLS, "strange", TEXT, 8, FUNC)->st_shndx = 500;
	image_symbol(&image, SECTION_SYMBOLS, "widest", TEXT, UINT64_MAX - TEXT, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "endless", TEXT, 8, FUNC);
	image_section(&image, SECTION_STRINGS)->sh_size--; /* drops the NUL */
	assert_int_equal(read_symbols(false), 0);
	assert_int_equal(symbols.symbols.size, 3);
	assert_symbol(0, "strange", TEXT);
	assert_int_equal(symbols.symbols.data[0].section, 0);
	assert_symbol(1, "widest", TEXT);
	assert_symbol(2, "endless", TEXT);
}

CASE_WITH(refuses_tables_that_lie, setup, teardown)
{
	Elf64_Shdr *table = image_section(&image, SECTION_SYMBOLS);
	Elf64_Shdr *strings = image_section(&image, SECTION_STRINGS);
	Elf64_Shdr good = *table, good_strings = *strings;

	table->sh_entsize = 0;
	assert_int_equal(read_symbols(false), -EBADMSG);
	*table = good;
	table->sh_link = SECTION_COUNT;
	assert_int_equal(read_symbols(false), -EBADMSG);
	table->sh_link = SECTION_SYMBOLS;
	assert_int_equal(read_symbols(false), -EBADMSG);
	*table = good;
	table->sh_size = IMAGE_BYTES;
	assert_int_equal(read_symbols(false), -EBADMSG);
	table->sh_offset = UINT64_MAX;
	assert_int_equal(read_symbols(false), -EBADMSG);
	*table = good;
	strings->sh_size = UINT64_MAX;
	assert_int_equal(read_symbols(false), -EBADMSG);
	*strings = good_strings;
	table->sh_size = 0;
	strings->sh_size = 0;
	assert_int_equal(read_symbols(false), 0);
	assert_int_equal(symbols.symbols.size, 0);
}

static int read_zeros(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	memset(buf, 0, size_bytes);
	if (offset < IMAGE_BYTES)
		memcpy(buf, image.bytes + offset,
		       size_bytes < IMAGE_BYTES - offset ? size_bytes : IMAGE_BYTES - offset);
	return 0;
}

static int find_variable(const char *name, uint64_t *ret)
{
	elf_file_deinit(&elf);
	assert_int_equal(elf_file_init(&elf, &blob), 0);
	return elf_file_variable(&elf, name, ret);
}

CASE_WITH(finds_variables, setup, teardown)
{
	uint64_t address = 77;

	image_symbol(&image, SECTION_DYNAMIC, "function", TEXT, 8, FUNC);
	image_symbol(&image, SECTION_DYNAMIC, "list@@GLIBC_2.2.5", IMAGE_DATA_ADDRESS, 8, OBJECT);
	image_symbol(&image, SECTION_DYNAMIC, "other", IMAGE_DATA_ADDRESS + 8, 8, OBJECT)
		->st_shndx = SHN_UNDEF;
	image_symbol(&image, SECTION_SYMBOLS, "static", IMAGE_DATA_ADDRESS, 8, OBJECT);
	assert_int_equal(find_variable("function", &address), -ENOENT);
	assert_int_equal(find_variable("other", &address), -ENOENT);
	assert_int_equal(find_variable("static", &address), -ENOENT);
	assert_int_equal(find_variable("", &address), -ENOENT);
	assert_int_equal(address, 77);
	assert_int_equal(find_variable("list", &address), 0);
	assert_int_equal(address, IMAGE_DATA_ADDRESS);
	image_section(&image, SECTION_DYNAMIC)->sh_size = ELF_VARIABLE_BYTES_MAX + 24;
	assert_int_equal(find_variable("list", &address), -E2BIG);
	image_section(&image, SECTION_DYNAMIC)->sh_type = SHT_NOBITS;
	assert_int_equal(find_variable("list", &address), -ENOENT);
}

/* Tables over the budget are not read, whatever the size of the file. */
CASE_WITH(refuses_tables_that_are_too_large, setup, teardown)
{
	Elf64_Shdr *table = image_section(&image, SECTION_SYMBOLS);

	blob.size_bytes = 1ull << 40;
	blob.read = read_zeros;
	table->sh_size = (ELF_SYMBOLS_MAX + 1ull) * sizeof(Elf64_Sym);
	assert_int_equal(read_symbols(false), -E2BIG);
	table->sh_size = ELF_TABLE_BYTES_MAX + sizeof(Elf64_Sym);
	assert_int_equal(read_symbols(false), -E2BIG);
	table->sh_size = sizeof(Elf64_Sym);
	image_section(&image, SECTION_STRINGS)->sh_size = ELF_TABLE_BYTES_MAX + 1ull;
	assert_int_equal(read_symbols(false), -E2BIG);
}
