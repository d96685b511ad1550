/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of functions whose symbols have no size, as those of assembly. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "symbolize/symbol_file.h"
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
static void test_exported_functions(void **state)
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
static void test_unknown_end(void **state)
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
static void test_all_functions(void **state)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exported_functions),
		cmocka_unit_test(test_unknown_end),
		cmocka_unit_test(test_all_functions),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
