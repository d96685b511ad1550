/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/ruby/ruby_loop.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/scope.h"
#include "runtimes/loop_parts.h"

#define INSTRUCTIONS_MIN    150 /* CRuby 3.0 has 199 */
#define TABLE_WORK_BYTES    (4u << 20)
#define RELOCATIONS_AT_ONCE 1024
#define RELOCATIONS_MAX	    (1u << 20)

struct search {
	const struct elf_file *elf;
	struct fde_table table;
	/* The run of relocations that is being read: words one behind the other. */
	uint64_t next;		    /* address of the word that would continue it */
	struct runtime_range range; /* the function that all of them are in */
	uint32_t count;
	struct runtime_range best;
	uint32_t best_count;
};

/* Returns true if an error is one of the file's contents. */
static bool is_damage(int err)
{
	return err == -EBADMSG || err == -E2BIG || err == -ENOENT || err == -ENOTSUP;
}

static void end_run(struct search *search)
{
	if (search->count >= INSTRUCTIONS_MIN && search->count > search->best_count) {
		search->best = search->range;
		search->best_count = search->count;
	}
	search->count = 0;
}

/* A table is in order of its addresses, as linkers write relocations. */
static int add(struct search *search, uint64_t at, uint64_t value)
{
	if (search->count && at == search->next && value > search->range.start &&
	    value < search->range.end) {
		search->count++;
		search->next = at + 8;
		return 0;
	}
	end_run(search);
	search->range = (struct runtime_range){0};
	if (at % 8)
		return 0;
	search->count = 1;
	search->next = at + 8;
	search->range.start = search->range.end = value;
	return 0;
}

static int add_relocation(struct search *search, const Elf64_Rela *relocation)
{
	uint64_t at = relocation->r_offset, value = (uint64_t)relocation->r_addend;
	bool continues = search->count == 1 && at == search->next;

	if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_RELATIVE)
		return 0;
	/* The first one of a run: only now its function is looked up, since most runs are short. */
	if (continues && search->range.start == search->range.end) {
		int err =
			loop_parts_function_at(&search->table, search->range.start, &search->range);

		if (err && err != -ENOENT)
			return err;
	}
	return add(search, at, value);
}

static int search_section(struct search *search, const struct elf_section *section)
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
		int err = blob_read(search->elf->blob, section->file_offset + first * sizeof(*some),
				    some, now * sizeof(*some));

		for (uint64_t i = 0; i < now && !err; i++)
			err = add_relocation(search, &some[i]);
		if (err)
			return err;
	}
	end_run(search);
	return 0;
}

int ruby_loop_find(const struct elf_file *elf, struct runtime_range *ret)
{
	struct section_budget budget = {.work_bytes = TABLE_WORK_BYTES};
	struct search search = {.elf = elf};
	int err = fde_table_init_eh(&search.table, elf, 0, UINT64_MAX, &budget);

	if (err)
		return is_damage(err) ? -ENOENT : err;
	vec_for_each (section, &elf->sections) {
		if (section->type == SHT_RELA && section->flags & SHF_ALLOC && !err)
			err = search_section(&search, section);
	}
	fde_table_deinit(&search.table);
	if (err)
		return is_damage(err) ? -ENOENT : err;
	if (!search.best_count)
		return -ENOENT;
	*ret = search.best;
	return 0;
}
