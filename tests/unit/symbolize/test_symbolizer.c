/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "symbolize/symbolizer.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/elf_image.h"
#include "tests/unit/state/made_mapping.h"

#define FUNC ELF64_ST_INFO(STB_GLOBAL, STT_FUNC)
#define TEXT IMAGE_TEXT_ADDRESS

/* Files by module number, with the number of times each was opened. */
struct files {
	struct elf_image images[3];
	struct blob large; /* replaces the first file if set */
	int open_error;
	unsigned opened, closed, kernel_asked;
	int kernel_error;
};

static struct files files;
static struct symbolizer *symbolizer;

static struct module modules[] = {
	{.number = 0, .path = "/lib/zero.so"},
	{.number = 1, .path = "/lib/one.so"},
	{.number = 2, .path = "[vdso]"},
};

static void count_close(void *image)
{
	files.closed++;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	files.opened++;
	if (files.open_error)
		return files.open_error;
	*ret = image_blob(&files.images[module->inode ? 0 : module->number]);
	if (files.large.size_bytes && !module->number)
		*ret = files.large;
	ret->close = count_close;
	return 0;
}

/* A kernel with three functions, one of them after padding. */
static int kernel_words(void *context, uint64_t address, char *buf, size_t buf_bytes)
{
	assert_ptr_equal(context, &files);
	files.kernel_asked++;
	if (files.kernel_error)
		return files.kernel_error;
	if (address - 0xffffffff81000000 < 0x100)
		snprintf(buf, buf_bytes, "_Z3fooi+0x%" PRIx64 "/0x100", address & 0xff);
	else if (address - 0xffffffff82000000 < 0x40)
		snprintf(buf, buf_bytes, "%s+0x%" PRIx64 "/0x10",
			 address & 0x30 ? "padded" : "__pfx_padded",
			 address & 0x30 ? (address & 0x3f) - 0x10 : address & 0xf);
	else if (address - 0xffffffffc0000000 < 0x10)
		snprintf(buf, buf_bytes, "f+0x%" PRIx64 "/0x10 [mod]", address & 0xf);
	else
		snprintf(buf, buf_bytes, "0x%" PRIx64, address);
	return 0;
}

static const struct kernel_source kernel = {.words = kernel_words, .context = &files};

static int setup(void **state)
{
	struct file_source source = {.open_module = open_module};

	memset(&files, 0, sizeof(files));
	for (unsigned i = 0; i < 3; i++)
		image_init(&files.images[i]);
	return symbolizer_create(&source, &symbolizer);
}

static int teardown(void **state)
{
	symbolizer_destroy(symbolizer);
	assert_int_equal(files.opened - (files.open_error ? files.opened : 0), files.closed);
	return 0;
}

static void assert_native(unsigned module, uint64_t file_offset, const char *name, uint64_t offset)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count = 0;

	assert_int_equal(
		symbolizer_native(symbolizer, &modules[module], file_offset, frames, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(frames[0].name, name);
	assert_string_equal(frames[0].module, modules[module].path);
	assert_int_equal(frames[0].symbol_offset, offset);
	assert_null(frames[0].file);
	assert_int_equal(frames[0].line, 0);
	assert_false(frames[0].inlined);
}

static void assert_kernel(uint64_t address, const char *name, const char *module, uint64_t offset)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count = 0;

	assert_int_equal(symbolizer_kernel(symbolizer, address, frames, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(frames[0].name, name);
	assert_string_equal(frames[0].module, module);
	assert_int_equal(frames[0].symbol_offset, offset);
}

CASE_WITH(names_are_those_at_the_file_offset, setup, teardown)
{
	image_symbol(&files.images[0], SECTION_SYMBOLS, "_Z3fooi", TEXT + 0x10, 0x10, FUNC);
	image_symbol(&files.images[0], SECTION_SYMBOLS, "plain", TEXT + 0x30, 0, FUNC);
	/* .dynsym is not read: .symtab is more complete. */
	image_symbol(&files.images[0], SECTION_DYNAMIC, "dynamic", TEXT + 0x10, 0x10, FUNC);
	assert_native(0, IMAGE_TEXT + 0x14, "foo(int)", 4);
	assert_native(0, IMAGE_TEXT + 0x20, "", 0);
	assert_native(0, IMAGE_TEXT + 0x30, "plain", 0);
	assert_native(0, IMAGE_TEXT + IMAGE_TEXT_BYTES - 1, "plain", IMAGE_TEXT_BYTES - 0x31);
	assert_native(0, IMAGE_TEXT + IMAGE_TEXT_BYTES, "", 0);
	assert_native(0, IMAGE_TEXT, "", 0);
	assert_native(0, UINT64_MAX, "", 0);
	assert_int_equal(files.opened, 1);
}

CASE_WITH(stripped_files_have_their_dynamic_names, setup, teardown)
{
	image_section(&files.images[0], SECTION_SYMBOLS)->sh_type = SHT_NULL;
	image_symbol(&files.images[0], SECTION_DYNAMIC, "exported", TEXT, 0x10, FUNC);
	/* A damaged table counts as missing. */
	image_section(&files.images[1], SECTION_SYMBOLS)->sh_size = UINT64_MAX;
	image_symbol(&files.images[1], SECTION_DYNAMIC, "exported", TEXT, 0x10, FUNC);
	assert_native(0, IMAGE_TEXT + 1, "exported", 1);
	assert_native(0, IMAGE_TEXT + 0x10, "", 0);
	assert_native(1, IMAGE_TEXT + 1, "exported", 1);
}

CASE_WITH(unsized_symbols_stop_at_their_section, setup, teardown)
{
	image_section(&files.images[0], SECTION_TEXT)->sh_size = 0x100;
	image_symbol(&files.images[0], SECTION_SYMBOLS, "handmade", TEXT + 0x10, 0,
		     ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE));
	image_symbol(&files.images[1], SECTION_SYMBOLS, "absolute", TEXT + 0x10, 0, FUNC)
		->st_shndx = SHN_ABS;
	assert_native(0, IMAGE_TEXT + 0xff, "handmade", 0xef);
	assert_native(0, IMAGE_TEXT + 0x100, "", 0);
	assert_native(1, IMAGE_TEXT + 0x10, "", 0);
}

CASE_WITH(failures_are_remembered_and_counted, setup, teardown)
{
	struct symbolizer_counts counts;

	files.images[0].bytes[0] = 'M';
	assert_native(0, IMAGE_TEXT, "", 0);
	assert_native(0, IMAGE_TEXT, "", 0);
	assert_native(2, IMAGE_TEXT, "", 0); /* an ELF file without symbols */
	assert_native(2, IMAGE_TEXT, "", 0);
	assert_int_equal(files.opened, 2);
	assert_int_equal(files.closed, 2);
	files.open_error = -EACCES;
	assert_native(1, IMAGE_TEXT, "", 0);
	assert_native(1, IMAGE_TEXT, "", 0);
	assert_int_equal(files.opened, 3);
	counts = symbolizer_counts(symbolizer);
	assert_int_equal(counts.files, 3);
	assert_int_equal(counts.refused, 1);
	assert_int_equal(counts.without_file, 1);
	assert_int_equal(counts.without_names, 1);
	assert_int_equal(counts.dropped, 0);
	files.opened = files.closed = 0;
}

CASE_WITH(lack_of_memory_is_no_failure_of_the_file, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count = 42;

	image_symbol(&files.images[0], SECTION_SYMBOLS, "f", TEXT, 0x10, FUNC);
	files.open_error = -ENOMEM;
	assert_int_equal(symbolizer_native(symbolizer, &modules[0], IMAGE_TEXT, frames, &count),
			 -ENOMEM);
	assert_int_equal(count, 42);
	files.open_error = 0;
	files.opened = 0;
	assert_native(0, IMAGE_TEXT, "f", 0);
}

CASE_WITH(tables_over_the_budget_are_dropped_and_read_again, setup, teardown)
{
	for (unsigned i = 0; i < 3; i++)
		image_symbol(&files.images[i], SECTION_SYMBOLS, i ? "other" : "f", TEXT, 0x10,
			     FUNC);
	for (unsigned i = 0; i < 3; i++)
		assert_native(i, IMAGE_TEXT, i ? "other" : "f", 0);
	assert_native(0, IMAGE_TEXT, "f", 0);
	assert_int_equal(files.opened, 3);
	/* Only the current file fits from now on. */
	symbolizer_set_budget(symbolizer, 1);
	assert_int_equal(symbolizer_counts(symbolizer).dropped, 3);
	for (unsigned round = 0; round < 2; round++) {
		assert_native(0, IMAGE_TEXT, "f", 0);
		assert_native(0, IMAGE_TEXT + 1, "f", 1);
		assert_native(1, IMAGE_TEXT + 1, "other", 1);
	}
	assert_int_equal(files.opened, 3 + 4);
	assert_int_equal(symbolizer_counts(symbolizer).dropped, 3 + 3);
	assert_int_equal(symbolizer_counts(symbolizer).files, 3);
}

CASE_WITH(the_one_unused_for_longest_goes_first, setup, teardown)
{
	for (unsigned i = 0; i < 3; i++)
		image_symbol(&files.images[i], SECTION_SYMBOLS, "f", TEXT, 0x10, FUNC);
	/* Memory for two files, with their strings, ranges and segments. */
	symbolizer_set_budget(symbolizer, 2300);
	assert_native(0, IMAGE_TEXT, "f", 0);
	assert_native(1, IMAGE_TEXT, "f", 0);
	assert_int_equal(symbolizer_counts(symbolizer).dropped, 0);
	assert_native(0, IMAGE_TEXT, "f", 0);
	assert_native(2, IMAGE_TEXT, "f", 0);
	assert_int_equal(symbolizer_counts(symbolizer).dropped, 1);
	assert_native(0, IMAGE_TEXT, "f", 0);
	assert_int_equal(files.opened, 3);
	assert_native(1, IMAGE_TEXT, "f", 0);
	assert_int_equal(files.opened, 4);
	assert_int_equal(symbolizer_counts(symbolizer).dropped, 2);
	assert_int_equal(symbolizer_counts(symbolizer).files, 3);
}

CASE_WITH(kernel_names_have_their_module, setup, teardown)
{
	symbolizer_set_kernel_source(symbolizer, &kernel);
	assert_kernel(0xffffffff81000004, "_Z3fooi", "[kernel.kallsyms]", 4);
	assert_kernel(0xffffffffc0000001, "f", "[mod]", 1);
	assert_kernel(0xffffffff81000000, "_Z3fooi", "[kernel.kallsyms]", 0);
	assert_int_equal(symbolizer_counts(symbolizer).kernel_unnamed, 0);
	assert_kernel(0x1000, "", "[kernel.kallsyms]", 0);
	assert_int_equal(symbolizer_counts(symbolizer).kernel_unnamed, 1);
	assert_int_equal(files.kernel_asked, 4);
}

CASE_WITH(an_interrupt_on_a_first_byte_is_of_that_function, setup, teardown)
{
	symbolizer_set_kernel_source(symbolizer, &kernel);
	assert_kernel(0xffffffff8200000f, "padded", "[kernel.kallsyms]", UINT64_MAX);
	assert_kernel(0xffffffff82000010, "padded", "[kernel.kallsyms]", 0);
	assert_kernel(0xffffffff82000023, "padded", "[kernel.kallsyms]", 0x13);
}

CASE_WITH(a_kernel_that_does_not_answer_has_no_names, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count = 42;

	assert_kernel(0xffffffff81000004, "", "[kernel.kallsyms]", 0);
	symbolizer_set_kernel_source(symbolizer, &kernel);
	files.kernel_error = -EPERM;
	assert_kernel(0xffffffff81000004, "", "[kernel.kallsyms]", 0);
	assert_int_equal(symbolizer_counts(symbolizer).kernel_unnamed, 2);
	files.kernel_error = -ENOMEM;
	assert_int_equal(symbolizer_kernel(symbolizer, 0xffffffff81000004, frames, &count),
			 -ENOMEM);
	assert_int_equal(count, 42);
	files.kernel_error = 0;
	assert_kernel(0xffffffff81000004, "_Z3fooi", "[kernel.kallsyms]", 4);
}

CASE_WITH(endless_names_are_cut, setup, teardown)
{
	struct elf_image *image = &files.images[0];
	Elf64_Shdr *strings = image_section(image, SECTION_STRINGS);
	size_t name_bytes = 3 * SYMBOL_NAME_BYTES_MAX;
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint8_t *bytes = malloc(IMAGE_BYTES + name_bytes);
	uint32_t count;

	assert_non_null(bytes);
	image_symbol(image, SECTION_SYMBOLS, "", TEXT, 0x10, FUNC)->st_name = 1;
	strings->sh_offset = IMAGE_BYTES;
	strings->sh_size = name_bytes;
	memcpy(bytes, image->bytes, IMAGE_BYTES);
	memset(bytes + IMAGE_BYTES, 'a', name_bytes);
	bytes[IMAGE_BYTES] = bytes[IMAGE_BYTES + name_bytes - 1] = '\0';
	files.large = blob_of_memory(bytes, IMAGE_BYTES + name_bytes);
	assert_int_equal(symbolizer_native(symbolizer, &modules[0], IMAGE_TEXT, frames, &count), 0);
	assert_int_equal(strlen(frames[0].name), SYMBOL_NAME_BYTES_MAX);
	free(bytes);
}

/* A file whose module nobody else holds goes with the next sweep, and its memory with it. */
CASE_WITH(files_of_modules_that_are_gone_are_removed, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	struct module_table table = {0};
	struct made_mapping made;
	const struct module *module;
	uint64_t time_ns = 1;
	uint32_t count;

	image_symbol(&files.images[0], SECTION_SYMBOLS, "f", TEXT, 0x10, FUNC);
	for (uint64_t i = 1; i <= 10 * KNOWN_FILES_SWEEP; i++) {
		assert_int_equal(module_table_add(&table, made_mapping(&made, "/tmp/a.out", i, ""),
						  (struct owner_key){0}, &module),
				 0);
		assert_int_equal(symbolizer_native(symbolizer, module, IMAGE_TEXT, frames, &count),
				 0);
		assert_string_equal(frames[0].name, "f");
		/* Every tenth stays in use. */
		if (i % 10 == 0)
			module_table_map(&table, module->number);
		module_table_forget(&table, 0, time_ns);
		module_table_forget(&table, 0, time_ns += MODULE_KEEP_NS + 1);
		module_table_forget(&table, 0, time_ns);
	}
	assert_int_equal(symbolizer_counts(symbolizer).files, 10 * KNOWN_FILES_SWEEP);
	assert_true(symbolizer_file_count(symbolizer) >= KNOWN_FILES_SWEEP);
	assert_true(symbolizer_file_count(symbolizer) <= 2 * KNOWN_FILES_SWEEP);
	module_table_deinit(&table);
}

/* The other files keep their data. */
CASE_WITH(a_file_can_be_forgotten, setup, teardown)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t opened, count;

	for (unsigned i = 0; i < 2; i++) {
		image_symbol(&files.images[i], SECTION_SYMBOLS, "f", TEXT, 0x10, FUNC);
		assert_int_equal(
			symbolizer_native(symbolizer, &modules[i], IMAGE_TEXT, frames, &count), 0);
	}
	opened = files.opened;
	symbolizer_forget(symbolizer, &modules[0]);
	assert_int_equal(symbolizer_file_count(symbolizer), 1);
	symbolizer_forget(symbolizer, &modules[0]);
	assert_int_equal(symbolizer_file_count(symbolizer), 1);
	assert_int_equal(symbolizer_native(symbolizer, &modules[1], IMAGE_TEXT, frames, &count), 0);
	assert_string_equal(frames[0].name, "f");
	assert_int_equal(files.opened, opened);
	symbolizer_forget(symbolizer, &modules[1]);
	assert_int_equal(symbolizer_file_count(symbolizer), 0);
}

#define LOCAL ELF64_ST_INFO(STB_LOCAL, STT_FUNC)

static void put_source(const char *name)
{
	image_symbol(&files.images[0], SECTION_SYMBOLS, name, 0, 0,
		     ELF64_ST_INFO(STB_LOCAL, STT_FILE))
		->st_shndx = SHN_ABS;
}

static void put_function(const char *name, unsigned number, unsigned char info)
{
	image_symbol(&files.images[0], SECTION_SYMBOLS, name, TEXT + 0x10 * number, 0x10, info);
}

static void assert_source(unsigned number, const char *name, const char *source)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count = 0;

	assert_int_equal(symbolizer_native(symbolizer, &modules[0], IMAGE_TEXT + 0x10 * number + 1,
					   frames, &count),
			 0);
	assert_string_equal(frames[0].name, name);
	assert_string_equal(frames[0].decl_file ?: "none", source);
}

/* The linker puts local symbols behind the file that they are of, and all others at the end. */
CASE_WITH(static_functions_have_their_source_file, setup, teardown)
{
	put_function("of_no_file", 0, LOCAL);
	put_source("a.c");
	put_function("work", 1, LOCAL);
	put_function("work.cold", 2, LOCAL);
	/* The function itself may be one that is not static. */
	put_function("main.part.0", 3, LOCAL);
	put_source("b.c");
	put_function("work", 4, LOCAL);
	put_source("<artificial>");
	put_function("whole", 5, LOCAL);
	put_source("cc1.ltrans0.ltrans.o");
	put_function("part", 6, LOCAL);
	put_source("");
	put_function("linkers", 7, LOCAL);
	put_function("main", 8, FUNC);
	assert_source(0, "of_no_file", "none");
	assert_source(1, "work", "a.c");
	assert_source(2, "work.cold", "a.c");
	assert_source(3, "main.part.0", "none");
	assert_source(4, "work", "b.c");
	assert_source(5, "whole", "none");
	assert_source(6, "part", "none");
	assert_source(7, "linkers", "none");
	assert_source(8, "main", "none");
}
