/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "symbolize/symbol_table.h"
#include "tests/unit/cases.h"

#define SYMBOLS	     3
#define PADDING	     100 /* bytes before the symbols and before the strings */
#define STRINGS_AT   (2 * PADDING + SYMBOLS * ELF_SYMBOL_BYTES)
#define LONG_BYTES   (SYMBOL_TABLE_HELD_BYTES + 5000)
#define NAME_OF_LAST 3000

/* A file with a symbol table, which has no headers: elf_file is made by hand. */
struct file {
	uint8_t *bytes;
	struct blob blob;
	unsigned reads, closed;
	int error;
	struct elf_section sections[2];
	struct elf_file elf;
	struct symbol_table table;
	symbol_room room;
};

static int read_counted(void *file_, uint64_t offset, void *buf, size_t size_bytes)
{
	struct file *file = file_;

	file->reads++;
	if (!file->error)
		memcpy(buf, file->bytes + offset, size_bytes);
	return file->error;
}

static void count_close(void *file)
{
	((struct file *)file)->closed++;
}

static void put(struct file *file, unsigned number, uint32_t name, uint8_t bind)
{
	Elf64_Sym symbol = {
		.st_name = name,
		.st_value = 0x1000 * number,
		.st_size = 0x10,
		.st_info = ELF64_ST_INFO(bind, STT_FUNC),
	};

	memcpy(file->bytes + PADDING + number * sizeof(symbol), &symbol, sizeof(symbol));
}

static void put_name(struct file *file, size_t offset, const char *name)
{
	memcpy(file->bytes + STRINGS_AT + offset, name, strlen(name) + 1);
}

static int setup(void **state)
{
	struct file *file = calloc(1, sizeof(*file));

	file->bytes = malloc(STRINGS_AT + LONG_BYTES);
	memset(file->bytes, 'x', STRINGS_AT + LONG_BYTES);
	file->blob = (struct blob){STRINGS_AT + LONG_BYTES, read_counted, count_close, file};
	file->sections[0] = (struct elf_section){
		.type = SHT_SYMTAB,
		.file_offset = PADDING,
		.size_bytes = SYMBOLS * ELF_SYMBOL_BYTES,
		.link = 1,
		.entry_bytes = ELF_SYMBOL_BYTES,
	};
	file->sections[1] = (struct elf_section){
		.type = SHT_STRTAB, .file_offset = STRINGS_AT, .size_bytes = LONG_BYTES};
	file->elf = (struct elf_file){
		.blob = &file->blob,
		.sections = {.data = file->sections, .size = 2},
	};
	put(file, 0, 1, STB_GLOBAL);
	put(file, 1, 50, STB_WEAK);
	put(file, 2, NAME_OF_LAST, STB_LOCAL);
	put_name(file, NAME_OF_LAST - 1, "");
	put_name(file, 50, "memcpy@@GLIBC_2.14");
	*state = file;
	return 0;
}

static int teardown(void **state)
{
	struct file *file = *state;

	symbol_table_deinit(&file->table);
	blob_close(&file->blob);
	assert_int_equal(file->closed, 1);
	vec_deinit(&file->room);
	free(file->bytes);
	free(file);
	return 0;
}

static struct symbol_span get(struct file *file, uint32_t number)
{
	struct symbol_span span = {.start = 99};

	assert_true(symbol_table_get(&file->table, number, &file->room, &span));
	assert_int_equal(span.start, 0x1000 * number);
	assert_int_equal(span.size_bytes, 0x10);
	return span;
}

CASE_WITH(large_tables_are_read_one_symbol_at_a_time, setup, teardown)
{
	struct file *file = *state;

	assert_int_equal(symbol_table_init(&file->table, &file->elf, &file->blob, false), 0);
	assert_null(file->table.held);
	assert_int_equal(file->reads, 0);
	assert_string_equal(get(file, 1).name, "memcpy");
	assert_int_equal(file->reads, 2);
	assert_int_equal(get(file, 0).scope, SYMBOL_GLOBAL);
	assert_int_equal(get(file, 1).scope, SYMBOL_WEAK);
	assert_int_equal(get(file, 2).scope, SYMBOL_LOCAL);
}

CASE_WITH(small_tables_are_held, setup, teardown)
{
	struct file *file = *state;
	unsigned reads;

	file->sections[1].size_bytes = 1000;
	assert_int_equal(symbol_table_init(&file->table, &file->elf, &file->blob, false), 0);
	assert_non_null(file->table.held);
	assert_int_equal(file->table.held_bytes, 1000 + SYMBOLS * ELF_SYMBOL_BYTES);
	reads = file->reads;
	assert_string_equal(get(file, 1).name, "memcpy");
	assert_int_equal(file->reads, reads);
	/* The name of the last is beyond these strings. */
	assert_false(symbol_table_get(&file->table, 2, &file->room, &(struct symbol_span){0}));
}

CASE_WITH(tables_of_blobs_that_do_not_last_are_held, setup, teardown)
{
	struct file *file = *state;

	assert_int_equal(symbol_table_init(&file->table, &file->elf, NULL, false), 0);
	assert_non_null(file->table.held);
	assert_string_equal(get(file, 1).name, "memcpy");
}

/* The last name ends with the section, with or without a NUL. */
CASE_WITH(long_names_end_where_they_do, setup, teardown)
{
	struct file *file = *state;

	put_name(file, 50, "xx"); /* the name of symbol 0 ends here */
	assert_int_equal(symbol_table_init(&file->table, &file->elf, &file->blob, false), 0);
	assert_int_equal(strlen(get(file, 0).name), 51);
	assert_int_equal(strlen(get(file, 2).name), LONG_BYTES - NAME_OF_LAST);
}

CASE_WITH(a_file_that_is_gone_has_no_names, setup, teardown)
{
	struct file *file = *state;
	struct symbol_span span;

	assert_int_equal(symbol_table_init(&file->table, &file->elf, &file->blob, false), 0);
	file->error = -EIO;
	assert_false(symbol_table_get(&file->table, 1, &file->room, &span));
	file->error = 0;
	assert_string_equal(get(file, 1).name, "memcpy");
	assert_false(symbol_table_get(&file->table, SYMBOLS, &file->room, &span));
	put(file, 1, LONG_BYTES, STB_GLOBAL);
	assert_false(symbol_table_get(&file->table, 1, &file->room, &span));
}

CASE_WITH(errors_leave_nothing, setup, teardown)
{
	struct file *file = *state;

	assert_int_equal(symbol_table_init(&file->table, &file->elf, &file->blob, true), -ENOENT);
	file->sections[1].size_bytes = 1000;
	file->error = -EIO;
	assert_int_equal(symbol_table_init(&file->table, &file->elf, &file->blob, false), -EIO);
	assert_null(file->table.held);
	assert_null(file->table.blob.read);
}
