/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* PLT entries are compared with objdump's names. */
#include <stdint.h>
#include <dlfcn.h>
#include <inttypes.h>

#include "decode/elf/elf_plt.h"
#include "symbolize/symbol_file.h"
#include "tests/unit/cases.h"
#include "tests/unit/symbolize/inlining_files.h"

struct opened {
	uint8_t *bytes;
	struct blob blob;
	struct symbol_file *file;
	size_t entries;
};

static void open_file(const char *path, struct opened *ret)
{
	struct elf_plt plt;
	struct elf_file elf;
	size_t size_bytes = 0;

	ret->bytes = file_bytes(path, &size_bytes);
	assert_non_null(ret->bytes);
	ret->blob = blob_of_memory(ret->bytes, size_bytes);
	assert_int_equal(elf_file_init_any(&elf, &ret->blob), 0);
	assert_int_equal(elf_file_plt(&elf, &plt), 0);
	ret->entries = plt.entries.size;
	elf_plt_deinit(&plt);
	elf_file_deinit(&elf);
	assert_int_equal(symbol_file_create(&ret->blob, NULL, &ret->file), 0);
}

static void close_file(struct opened *opened)
{
	symbol_file_destroy(opened->file);
	blob_close(&opened->blob);
	free(opened->bytes);
}

/* An entry that objdump calls "*ABS*+0x1234" has a better name if the symbol table has one. */
static void check_name(const struct opened *opened, uint64_t address, const char *expected)
{
	uint64_t offset = 99;
	const char *name = symbol_file_find(opened->file, address, &offset);
	char first[4096];

	assert_non_null(name);
	snprintf(first, sizeof(first), "%s", name);
	assert_int_equal(offset, 0);
	if (strncmp(expected, "*ABS*", 5))
		assert_string_equal(name, expected);
	else
		assert_string_equal(name + strlen(name) - 4, "@plt");
	assert_string_equal(symbol_file_find(opened->file, address + 5, &offset), first);
	assert_int_equal(offset, 5);
}

/* Returns the number of entries. */
static size_t compare_with_objdump(const char *path)
{
	char command[4200], line[4096], name[2048];
	struct opened opened;
	uint64_t address;
	size_t count = 0;
	FILE *objdump;

	open_file(path, &opened);
	snprintf(command, sizeof(command),
		 "objdump -d -j .plt -j .plt.sec -j .plt.got '%s' 2>/dev/null", path);
	objdump = popen(command, "r");
	assert_non_null(objdump);
	while (fgets(line, sizeof(line), objdump)) {
		/* "0000000000001030 <puts@plt>:", but not "<puts@plt-0x10>:" */
		if (sscanf(line, "%" SCNx64 " <%2000[^>]>:", &address, name) != 2 ||
		    strcmp(name + strlen(name) - 4, "@plt") || line[0] == ' ')
			continue;
		check_name(&opened, address, name);
		count++;
	}
	pclose(objdump);
	assert_int_equal(count, opened.entries);
	close_file(&opened);
	return count;
}

CASE(names_are_those_of_objdump)
{
	static const char *const variants[] = {"lazy", "now", "ibt"};
	char path[4096];
	Dl_info libc;

	for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
		beside_self("plt", variants[i], path);
		assert_in_range(compare_with_objdump(path), 4, 1000);
	}
	assert_true(dladdr(dlsym(RTLD_DEFAULT, "strstr"), &libc));
	assert_in_range(compare_with_objdump(libc.dli_fname), 10, 1000);
}

CASE(narrow_entries_have_the_names_that_objdump_gives)
{
	static const char *const variants[] = {"narrow-lazy", "narrow-now", "narrow-ibt",
					       "narrow-fixed"};
	char path[4096];

	for (unsigned i = 0; i < ARRAY_SIZE(variants); i++) {
		beside_self("plt", variants[i], path);
		assert_in_range(compare_with_objdump(path), 4, 4);
	}
}

/* In a static program, all entries are for functions that the C library selects. */
CASE(chosen_functions_have_names)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	CLEANUP(elf_plt_deinit) struct elf_plt plt = {0};
	struct opened opened;
	char path[4096];
	unsigned strings = 0;

	beside_self("plt", "static", path);
	open_file(path, &opened);
	assert_in_range(opened.entries, 10, 100);
	assert_int_equal(elf_file_init_any(&elf, &opened.blob), 0);
	assert_int_equal(elf_file_plt(&elf, &plt), 0);
	vec_for_each (entry, &plt.entries) {
		uint64_t offset;
		const char *name = symbol_file_find(opened.file, entry->address, &offset);

		assert_int_equal(entry->symbol, 0);
		assert_non_null(name);
		assert_int_equal(offset, 0);
		assert_true(strncmp(name, "*ABS*", 5));
		strings += !strcmp(name, "strchr@plt") || !strcmp(name, "memcpy@plt");
	}
	assert_int_equal(strings, 2);
	close_file(&opened);
}

/* Every seventh byte is inverted, one at a time. */
CASE(damage_is_harmless)
{
	char path[4096];
	struct opened opened;
	struct symbol_file *file;
	uint64_t offset;

	beside_self("plt", "ibt", path);
	open_file(path, &opened);
	for (size_t at = 0; at < opened.blob.size_bytes; at += 7) {
		opened.bytes[at] ^= 0xff;
		if (!symbol_file_create(&opened.blob, NULL, &file)) {
			for (uint64_t address = 0x1000; address < 0x1200; address += 8)
				symbol_file_find(file, address, &offset);
			symbol_file_destroy(file);
		}
		opened.bytes[at] ^= 0xff;
	}
	close_file(&opened);
}
