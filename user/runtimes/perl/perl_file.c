/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/perl/perl_file.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"
#include "runtimes/loop_parts.h"
#include "runtimes/perl/perl_code.h"
#include "runtimes/perl/perl_layout.h"
#include "runtimes/runtime_symbols.h"

#define TABLE_WORK_BYTES    (4u << 20)
#define RELOCATIONS_AT_ONCE 1024
#define RELOCATIONS_MAX	    (1u << 20)

enum {
	REVISION,
	VERSION,
	SUBVERSION,
	OPERATIONS,
	LOOP,
	ADD_CONTEXTS,
	DEBUG_LOOP, /* from here on, not in all builds */
	KEY,
	STACK,
	COP,
	SYMBOLS,
};

/* Returns true if an error is one of the file's contents. */
static bool is_damage(int err)
{
	return err == -EBADMSG || err == -E2BIG || err == -ENOENT || err == -ENOTSUP;
}

static struct runtime_range range_of(const struct runtime_symbol *symbol)
{
	return (struct runtime_range){.start = symbol->address,
				      .end = symbol->address + symbol->size_bytes};
}

static int read_byte(const struct elf_file *elf, uint64_t address, uint16_t *ret)
{
	uint64_t offset;
	uint8_t byte = 0;
	int err = elf_file_offset(elf, address, &offset) ? 0 : -ENOENT;

	err = err ?: blob_read(elf->blob, offset, &byte, 1);
	*ret = byte;
	return err == -EBADMSG ? -ENOENT : err;
}

/* Set the words at addresses, where relocations of a section say them. */
static int read_relocated(const struct elf_file *elf, const struct elf_section *section,
			  const uint64_t *addresses, uint64_t *words, size_t word_count)
{
	AUTO_FREE Elf64_Rela *some = calloc(RELOCATIONS_AT_ONCE, sizeof(*some));
	uint64_t count = section->size_bytes / sizeof(*some);

	if (!some)
		return -ENOMEM;
	if (count > RELOCATIONS_MAX)
		count = RELOCATIONS_MAX;
	for (uint64_t first = 0; first < count; first += RELOCATIONS_AT_ONCE) {
		uint64_t left = count - first;
		uint64_t now = left < RELOCATIONS_AT_ONCE ? left : RELOCATIONS_AT_ONCE;
		int err = blob_read(elf->blob, section->file_offset + first * sizeof(*some), some,
				    now * sizeof(*some));

		if (err)
			return err;
		for (uint64_t i = 0; i < now; i++) {
			for (size_t k = 0; k < word_count; k++) {
				if (some[i].r_offset == addresses[k] &&
				    ELF64_R_TYPE(some[i].r_info) == R_X86_64_RELATIVE)
					words[k] = (uint64_t)some[i].r_addend;
			}
		}
	}
	return 0;
}

/* Set words to those at addresses, as a loader leaves them. */
static int read_words(const struct elf_file *elf, const uint64_t *addresses, uint64_t *words,
		      size_t count)
{
	int err = 0;

	for (size_t i = 0; i < count && !err; i++) {
		uint64_t offset;

		words[i] = 0;
		if (elf_file_offset(elf, addresses[i], &offset))
			err = blob_read(elf->blob, offset, &words[i], sizeof(words[i]));
	}
	vec_for_each (section, &elf->sections) {
		if (section->type == SHT_RELA && section->flags & SHF_ALLOC && !err)
			err = read_relocated(elf, section, addresses, words, count);
	}
	return err;
}

/*
 * Find code in the functions of some operations, which are not exported. Without it, few samples
 * are less exact.
 */
static int find_code(const struct elf_file *elf, const struct perl_layout *layout,
		     uint64_t operations, struct perl_file *file)
{
	struct section_budget budget = {.work_bytes = TABLE_WORK_BYTES};
	const uint64_t addresses[] = {operations + 8ull * layout->enter_sub,
				      operations + 8ull * layout->enter_try,
				      operations + 8ull * layout->leave_sub};
	struct runtime_range range;
	struct fde_table table;
	uint64_t words[ARRAY_SIZE(addresses)], target;
	int err = read_words(elf, addresses, words, ARRAY_SIZE(words));

	if (err)
		return is_damage(err) ? 0 : err;
	err = fde_table_init_eh(&table, elf, 0, UINT64_MAX, &budget);
	if (err)
		return is_damage(err) ? 0 : err;
	err = loop_parts_function_at(&table, words[0], &range);
	err = err ?: perl_code_find_unfilled(elf, range, &file->unfilled);
	if (!err || is_damage(err))
		err = loop_parts_function_at(&table, words[2], &file->ending);
	if (is_damage(err))
		err = 0;
	err = err ?: loop_parts_function_at(&table, words[1], &range);
	err = err ?: perl_code_find_again(elf, range, &target);
	err = err ?: loop_parts_function_at(&table, target, &file->again);
	fde_table_deinit(&table);
	return is_damage(err) ? 0 : err;
}

int perl_file_read(const struct elf_file *elf, struct perl_file *ret)
{
	struct runtime_symbol s[SYMBOLS] = {
		[REVISION].name = "PL_revision",	 [VERSION].name = "PL_version",
		[SUBVERSION].name = "PL_subversion",	 [OPERATIONS].name = "PL_ppaddr",
		[LOOP].name = "Perl_runops_standard",	 [ADD_CONTEXTS].name = "Perl_cxinc",
		[DEBUG_LOOP].name = "Perl_runops_debug", [KEY].name = "PL_thr_key",
		[STACK].name = "PL_curstackinfo",	 [COP].name = "PL_curcop",
	};
	int err = runtime_symbols_find(elf, s, ARRAY_SIZE(s));
	const struct perl_layout *layout;
	struct perl_file file = {
		.has_threads = s[KEY].is_found,
		.key = s[KEY].address,
		.stack_at = s[STACK].address,
		.cop_at = s[COP].address,
	};

	if (err)
		return err;
	for (size_t i = 0; i < DEBUG_LOOP; i++) {
		if (!s[i].is_found)
			return -ENOENT;
	}
	if (!file.has_threads && (!s[STACK].is_found || !s[COP].is_found))
		return -ENOENT;
	for (size_t i = 0; i < ARRAY_SIZE(file.version) && !err; i++)
		err = read_byte(elf, s[REVISION + i].address, &file.version[i]);
	if (err)
		return err;
	layout = perl_layout_of(
		&(struct engine_version){.part = {file.version[0], file.version[1]}, .parts = 2});
	file.loops[file.loop_count++] = range_of(&s[LOOP]);
	if (s[DEBUG_LOOP].is_found)
		file.loops[file.loop_count++] = range_of(&s[DEBUG_LOOP]);
	if (layout && file.has_threads)
		err = perl_code_find_stack(elf, range_of(&s[ADD_CONTEXTS]), &file.stack);
	if (layout)
		err = err ?: find_code(elf, layout, s[OPERATIONS].address, &file);
	if (!err)
		*ret = file;
	return err;
}
