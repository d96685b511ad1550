/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions whose symbols have no size, as those of assembly. */
#include <stdint.h>

#include "decode/elf/elf_file.h"
#include "symbolize/symbol_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)

/* rep movsb; ret: a function, and behind it one without a symbol */
static const uint8_t copy[] = {0xf3, 0xa4, 0xc3}, hidden[] = {0x31, 0xc0, 0xc3};

#define COPY   0x100
#define HIDDEN (COPY + sizeof(copy))
#define NEXT   0x200

static void make(struct elf_image *image)
{
	image_init(image);
	memcpy(image->bytes + IMAGE_TEXT + COPY, copy, sizeof(copy));
	memcpy(image->bytes + IMAGE_TEXT + HIDDEN, hidden, sizeof(hidden));
	image_symbol(image, SECTION_DYNAMIC, "copy", IMAGE_TEXT_ADDRESS + COPY, 0, FUNC);
	image_symbol(image, SECTION_DYNAMIC, "next", IMAGE_TEXT_ADDRESS + NEXT, 16, FUNC);
}

static void check(struct symbol_file *file, uint64_t at, const char *name)
{
	uint64_t offset;
	const char *found = symbol_file_find(file, IMAGE_TEXT_ADDRESS + at, &offset);

	if (!name)
		assert_null(found);
	else
		assert_string_equal(found, name);
}

/* .dynsym has exported functions only, so the name ends where the code does. */
CASE(test_exported_functions)
{
	static struct elf_image image;
	struct blob blob = image_blob(&image);
	struct symbol_file *file;

	make(&image);
	image_section(&image, SECTION_SYMBOLS)->sh_type = SHT_NULL;
	assert_int_equal(symbol_file_create(&blob, NULL, &file), 0);
	check(file, COPY - 1, NULL);
	check(file, COPY, "copy");
	check(file, HIDDEN - 1, "copy");
	check(file, HIDDEN, NULL);
	check(file, NEXT, "next");
	symbol_file_destroy(file);
}

/* Code whose end is not found names only what it did before: nothing. */
CASE(test_unknown_end)
{
	static struct elf_image image;
	struct blob blob = image_blob(&image);
	struct symbol_file *file;

	make(&image);
	image_section(&image, SECTION_SYMBOLS)->sh_type = SHT_NULL;
	memset(image.bytes + IMAGE_TEXT + COPY, 6, sizeof(copy)); /* no instruction */
	assert_int_equal(symbol_file_create(&blob, NULL, &file), 0);
	check(file, COPY, NULL);
	check(file, NEXT, "next");
	symbol_file_destroy(file);
}

/* .symtab has all functions, so the name reaches to the next one. */
CASE(test_all_functions)
{
	static struct elf_image image;
	struct blob blob = image_blob(&image);
	struct symbol_file *file;

	make(&image);
	image_symbol(&image, SECTION_SYMBOLS, "copy", IMAGE_TEXT_ADDRESS + COPY, 0, FUNC);
	image_symbol(&image, SECTION_SYMBOLS, "next", IMAGE_TEXT_ADDRESS + NEXT, 16, FUNC);
	assert_int_equal(symbol_file_create(&blob, NULL, &file), 0);
	check(file, HIDDEN, "copy");
	check(file, NEXT - 1, "copy");
	check(file, NEXT, "next");
	symbol_file_destroy(file);
}

/* Writes a 32-bit file with a .symtab of the function "narrow", and returns its size. */
static size_t make_32_bit(uint8_t *bytes)
{
	static const char strings[] = "\0narrow";
	Elf32_Ehdr header = {
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_386,
		.e_phoff = 0x40,
		.e_shoff = 0x80,
		.e_phentsize = sizeof(Elf32_Phdr),
		.e_phnum = 1,
		.e_shentsize = sizeof(Elf32_Shdr),
		.e_shnum = 4,
	};
	Elf32_Phdr segment = {.p_type = PT_LOAD,
			      .p_flags = PF_R | PF_X,
			      .p_offset = 0x200,
			      .p_vaddr = 0x8048200,
			      .p_filesz = 0x100,
			      .p_memsz = 0x100};
	Elf32_Shdr sections[4] = {
		[1] = {.sh_type = SHT_PROGBITS,
		       .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
		       .sh_addr = 0x8048200,
		       .sh_offset = 0x200,
		       .sh_size = 0x100},
		[2] = {.sh_type = SHT_SYMTAB,
		       .sh_offset = 0x140,
		       .sh_size = 2 * sizeof(Elf32_Sym),
		       .sh_link = 3,
		       .sh_entsize = sizeof(Elf32_Sym)},
		[3] = {.sh_type = SHT_STRTAB, .sh_offset = 0x180, .sh_size = sizeof(strings)},
	};
	Elf32_Sym symbols[2] = {
		[1] = {.st_name = 1,
		       .st_value = 0x8048210,
		       .st_size = 16,
		       .st_info = ELF32_ST_INFO(STB_GLOBAL, STT_FUNC),
		       .st_shndx = 1},
	};

	memset(bytes, 0, 0x300);
	memcpy(bytes, &header, sizeof(header));
	memcpy(bytes + 0x40, &segment, sizeof(segment));
	memcpy(bytes + 0x80, sections, sizeof(sections));
	memcpy(bytes + 0x140, symbols, sizeof(symbols));
	memcpy(bytes + 0x180, strings, sizeof(strings));
	return 0x300;
}

CASE(test_32_bit)
{
	static uint8_t bytes[0x300];
	struct blob blob = blob_of_memory(bytes, make_32_bit(bytes));
	struct symbol_file *file;
	uint64_t address, offset;

	assert_int_equal(symbol_file_create(&blob, NULL, &file), 0);
	assert_true(symbol_file_address(file, 0x214, &address));
	assert_int_equal(address, 0x8048214);
	assert_string_equal(symbol_file_find(file, address, &offset), "narrow");
	assert_int_equal(offset, 4);
	assert_null(symbol_file_find(file, 0x8048220, &offset));
	symbol_file_destroy(file);
}

/* Readers of code and of unwind tables do not get 32-bit files. */
CASE(test_32_bit_is_for_names_only)
{
	static uint8_t bytes[0x300];
	struct blob blob = blob_of_memory(bytes, make_32_bit(bytes));
	struct elf_file elf;

	assert_int_equal(elf_file_init(&elf, &blob), -ENOEXEC);
	assert_int_equal(elf_file_init_any(&elf, &blob), 0);
	assert_int_equal(elf.machine, EM_386);
	elf_file_deinit(&elf);
}
