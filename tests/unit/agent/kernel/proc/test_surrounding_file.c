/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Where a file's program headers put its text, near another mapping of the file. */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "agent/kernel/proc/surrounding_file.h"
#include "tests/unit/cases.h"

#define BASE 0x7f0000000000ull

static void add(struct elf_file *elf, uint64_t offset, uint64_t address, uint64_t bytes, bool exec)
{
	struct elf_segment segment = {
		.file_offset = offset, .address = address, .file_bytes = bytes, .executable = exec};

	assert_int_equal(vec_push(&elf->segments, segment), 0);
}

/* As linkers make it: headers, text at another distance from its offset, data. */
static int setup(void **state)
{
	struct elf_file *elf = calloc(1, sizeof(*elf));

	assert_non_null(elf);
	add(elf, 0, 0, 0x1800, false);
	add(elf, 0x2040, 0x4040, 0x5000, true);
	add(elf, 0x8000, 0xc000, 0x1000, false);
	*state = elf;
	return 0;
}

static int teardown(void **state)
{
	struct elf_file *elf = *state;

	vec_deinit(&elf->segments);
	free(elf);
	return 0;
}

static void assert_text(const struct elf_file *elf, uint64_t near_address, uint64_t near_offset,
			uint64_t start, uint64_t end, const uint64_t expected[3])
{
	struct jitbpf_mapping text = {.address = 1};
	bool found = surrounding_file_text(elf, near_address, near_offset, start, end, &text);

	assert_int_equal(found, expected != NULL);
	if (!found) {
		assert_int_equal(text.address, 1);
		return;
	}
	assert_int_equal(text.address, expected[0]);
	assert_int_equal(text.size_bytes, expected[1]);
	assert_int_equal(text.file_offset, expected[2]);
}

CASE_WITH(test_text, setup, teardown)
{
	const struct elf_file *elf = *state;
	uint64_t text = BASE + 0x4000, end = text + 0x6000;

	/* by the headers before it, by its own beginning, and by the data behind it */
	assert_text(elf, BASE, 0, text, end, (uint64_t[]){text, 0x6000, 0x2000});
	assert_text(elf, text, 0x2000, text, end, (uint64_t[]){text, 0x6000, 0x2000});
	assert_text(elf, BASE + 0xc000, 0x8000, text, end, (uint64_t[]){text, 0x6000, 0x2000});
	/* parts, and more than the text */
	assert_text(elf, BASE, 0, text + 0x1000, text + 0x3000,
		    (uint64_t[]){text + 0x1000, 0x2000, 0x3000});
	assert_text(elf, BASE, 0, text - 0x1000, end + 0x1000, (uint64_t[]){text, 0x6000, 0x2000});
}

CASE_WITH(test_elsewhere, setup, teardown)
{
	const struct elf_file *elf = *state;

	assert_text(elf, BASE, 0, BASE + 0x1000, BASE + 0x4000, NULL);
	assert_text(elf, BASE, 0, BASE + 0xa000, BASE + 0xc000, NULL);
	assert_text(elf, BASE, 0x20000, BASE + 0x4000, BASE + 0xa000, NULL); /* not a part */
	assert_text(elf, BASE, 0x7000, BASE, BASE + 0x10000, (uint64_t[]){BASE, 0x1000, 0x7000});
}

static uint64_t seed = 1;

static uint64_t any(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> (seed >> 58);
}

/* Whatever the headers say, the result is a part of the memory, and of the pages of a segment. */
CASE(test_hostile)
{
	uint32_t found = 0;

	for (uint32_t i = 0; i < 200000; i++) {
		struct elf_file elf = {0};
		struct jitbpf_mapping text;
		uint64_t start = any() & ~4095ull, end = start + (any() & ~4095ull);

		if (end <= start)
			continue;
		for (uint32_t n = 0; n < 3; n++)
			add(&elf, any(), any(), any(), any() & 1);
		if (surrounding_file_text(&elf, any() & ~4095ull, any() & ~4095ull, start, end,
					  &text)) {
			bool fits = false;

			assert_true(text.address >= start && text.size_bytes &&
				    text.size_bytes <= end - text.address);
			vec_for_each (segment, &elf.segments)
				fits |= segment->executable &&
					text.file_offset + 4096 > segment->file_offset &&
					text.file_offset + text.size_bytes <
						segment->file_offset + segment->file_bytes + 8192;
			assert_true(fits);
			found++;
		}
		vec_deinit(&elf.segments);
	}
	assert_true(found > 100);
}

CASE(test_which_memory)
{
	static const struct {
		const char *path;
		uint64_t inode;
		uint32_t protection;
		bool may_be;
	} maps[] = {
		{"", 0, PROT_EXEC | PROT_READ, true},
		{"", 0, PROT_READ, false},
		{"[anon:text]", 0, PROT_EXEC, true},
		{"[vdso]", 0, PROT_EXEC, false},
		{"/bin/true", 7, PROT_EXEC, false},
		{"/anon_hugepage (deleted)", 9, PROT_EXEC, true},
		{"/anon_hugepage (deleted)", 9, PROT_READ, false},
	};

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct proc_map map = {.path = maps[i].path,
				       .path_bytes = (uint32_t)strlen(maps[i].path),
				       .inode = maps[i].inode,
				       .protection = maps[i].protection};

		assert_int_equal(surrounding_file_may_be(&map), maps[i].may_be);
	}
}
