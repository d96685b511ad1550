/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Several libraries with large symbol tables, whose addresses are looked up in turn: what is read
 * of each is counted in bytes.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolize/symbolizer.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"

#define FILES	       3
#define SYMBOLS	       250000
#define NAME_BYTES     100 /* of each name, with its NUL */
#define FUNCTION_BYTES 12
#define STEP_BYTES     16 /* between two functions */
#define PAIR_EVERY     50 /* such a function has two names */
#define STRINGS_AT     (IMAGE_BYTES + SYMBOLS * sizeof(Elf64_Sym))
#define FILE_BYTES     (STRINGS_AT + SYMBOLS * NAME_BYTES)
#define LOOKUPS	       2000

/* What a look-up may read besides the tables: a symbol and a name, for each of two aliases. */
#define LOOKUP_BYTES (4 * (sizeof(Elf64_Sym) + 256))

static uint8_t *bytes; /* of all files */
static uint64_t read_bytes[FILES], string_bytes[FILES];
static unsigned opened[FILES];

static struct module modules[FILES] = {
	{.number = 0, .path = "/lib/zero.so"},
	{.number = 1, .path = "/lib/one.so"},
	{.number = 2, .path = "/lib/two.so"},
};

static int read_counted(void *number_, uint64_t offset, void *buf, size_t size_bytes)
{
	unsigned number = *(const uint32_t *)number_;

	read_bytes[number] += size_bytes;
	if (offset >= STRINGS_AT)
		string_bytes[number] += size_bytes;
	memcpy(buf, bytes + offset, size_bytes);
	return 0;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	opened[module->number]++;
	*ret = (struct blob){FILE_BYTES, read_counted, NULL, &modules[module->number].number};
	return 0;
}

static uint32_t function_of(uint32_t number)
{
	return number % PAIR_EVERY ? number : number + 1;
}

static void put_symbol(uint32_t number)
{
	char *name = (char *)bytes + STRINGS_AT + number * NAME_BYTES;
	const Elf64_Sym symbol = {
		.st_name = number * NAME_BYTES,
		.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
		.st_shndx = SECTION_TEXT,
		.st_value = IMAGE_TEXT_ADDRESS + function_of(number) * STEP_BYTES,
		.st_size = FUNCTION_BYTES,
	};

	memcpy(bytes + IMAGE_BYTES + number * sizeof(symbol), &symbol, sizeof(symbol));
	memset(name, 'x', NAME_BYTES - 1);
	snprintf(name, NAME_BYTES, "f%06u", number);
	name[7] = 'x';
	/* Of two names of one function, the second is shorter. */
	name[number % PAIR_EVERY == 1 ? NAME_BYTES - 2 : NAME_BYTES - 1] = '\0';
}

static int setup(void **state)
{
	struct elf_image image;
	Elf64_Shdr *symbols = image_section(&image, SECTION_SYMBOLS);
	Elf64_Shdr *strings = image_section(&image, SECTION_STRINGS);

	image_init(&image);
	symbols->sh_offset = IMAGE_BYTES;
	symbols->sh_size = SYMBOLS * sizeof(Elf64_Sym);
	strings->sh_offset = STRINGS_AT;
	strings->sh_size = SYMBOLS * NAME_BYTES;
	image_segment(&image, 0)->p_filesz = image_segment(&image, 0)->p_memsz =
		(uint64_t)SYMBOLS * STEP_BYTES;
	bytes = malloc(FILE_BYTES);
	if (!bytes)
		return -1;
	memcpy(bytes, image.bytes, IMAGE_BYTES);
	for (uint32_t i = 0; i < SYMBOLS; i++)
		put_symbol(i);
	return 0;
}

static int teardown(void **state)
{
	free(bytes);
	return 0;
}

static void check_name(struct symbolizer *symbolizer, unsigned file, uint32_t number)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count, function = function_of(number);
	char begin[16];

	assert_int_equal(symbolizer_native(symbolizer, &modules[file],
					   IMAGE_TEXT + function * STEP_BYTES + 5, frames, &count),
			 0);
	snprintf(begin, sizeof(begin), "f%06ux", function);
	assert_int_equal(strncmp(frames[count - 1].name, begin, strlen(begin)), 0);
	assert_int_equal(frames[count - 1].symbol_offset, 5);
}

/* Each look-up is of another file than the one before, which is what made tables be read again. */
CASE_WITH(tables_are_read_once, setup, teardown)
{
	const struct file_source source = {.open_module = open_module};
	struct symbolizer *symbolizer;

	assert_int_equal(symbolizer_create(&source, &symbolizer), 0);
	for (uint32_t i = 0; i < LOOKUPS; i++)
		check_name(symbolizer, i % FILES, i * (SYMBOLS / LOOKUPS));
	for (unsigned i = 0; i < FILES; i++) {
		assert_int_equal(opened[i], 1);
		assert_in_range(string_bytes[i], LOOKUPS / FILES * 8, LOOKUPS * LOOKUP_BYTES);
		assert_in_range(read_bytes[i], SYMBOLS * sizeof(Elf64_Sym),
				SYMBOLS * sizeof(Elf64_Sym) + LOOKUPS * LOOKUP_BYTES +
					2 * IMAGE_BYTES);
	}
	assert_int_equal(symbolizer_counts(symbolizer).dropped, 0);
	symbolizer_destroy(symbolizer);
}
