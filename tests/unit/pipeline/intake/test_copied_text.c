/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Text that a program copies to anonymous memory at the same addresses. */
#include <stdint.h>

#include <sys/mman.h>

#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define TEXT 0x700000

struct fixture {
	struct made_run run;
	uint64_t copied_from, copied_to; /* memory that has the file's bytes */
	uint32_t compared;
	uint64_t offset; /* of the last comparison */
};

static bool equals(void *context, const struct jitbpf_mapping *mapping)
{
	struct fixture *f = context;

	assert_string_equal(mapping->path, "/bin/program");
	assert_int_equal(mapping->inode, 9);
	f->compared++;
	f->offset = mapping->file_offset;
	return mapping->address >= f->copied_from &&
	       mapping->address + mapping->size_bytes <= f->copied_to;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	const struct text_source texts = {.equals = equals, .context = f};

	made_run_begin(&f->run, &(struct pipeline_options){.texts = &texts});
	make_mapping(&f->run, 10, MADE_PID, TEXT, "/bin/program")->file_offset = 0x3000;
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	made_run_end(&f->run);
	free(f);
	return 0;
}

static void map_anonymous(struct fixture *f, uint64_t time_ns, uint64_t address,
			  uint64_t size_bytes)
{
	struct jitbpf_mapping *mapping =
		make_mapping(&f->run, time_ns, MADE_PID, address, "//anon");

	mapping->protection = PROT_READ | PROT_EXEC;
	mapping->size_bytes = size_bytes;
}

static void check(struct fixture *f, size_t sample, enum location_kind kind, uint64_t offset)
{
	assert_true(sample < f->run.seen_count);
	assert_int_equal(f->run.seen[sample].kind, kind);
	assert_int_equal(f->run.seen[sample].offset, offset);
}

/* A part of the text is copied; the copy is complete at the second event. */
CASE_WITH(test_copied, setup, teardown)
{
	struct fixture *f = *state;

	map_anonymous(f, 20, TEXT + 0x2000, 0x4000);
	make_sample(&f->run, 30, TEXT + 0x2100);
	made_round(&f->run, 40);
	check(f, 0, LOCATION_ANON, TEXT + 0x2100);
	f->copied_from = TEXT + 0x2000;
	f->copied_to = TEXT + 0x6000;
	map_anonymous(f, 50, TEXT + 0x2000, 0x4000);
	make_sample(&f->run, 60, TEXT + 0x2100);
	make_sample(&f->run, 61, TEXT + 0x7000);
	made_round(&f->run, 100);
	check(f, 1, LOCATION_NATIVE, 0x5100);
	check(f, 2, LOCATION_NATIVE, 0xa000);
	assert_int_equal(f->compared, 2);
	assert_int_equal(f->offset, 0x5000);
	assert_int_equal(pipeline_modules(f->run.pipeline)->count, 1); /* the same file */
}

static void map_huge(struct fixture *f, uint64_t time_ns, uint64_t address, uint64_t size_bytes)
{
	struct jitbpf_mapping *mapping =
		make_mapping(&f->run, time_ns, MADE_PID, address, "/anon_hugepage (deleted)");

	mapping->protection = PROT_READ | PROT_EXEC;
	mapping->size_bytes = size_bytes;
	mapping->inode = 1000 + time_ns;
}

/* Memory of explicit huge pages, which the kernel maps as a file of its own. */
CASE_WITH(test_huge_pages, setup, teardown)
{
	struct fixture *f = *state;

	map_huge(f, 20, TEXT + 0x2000, 0x4000);
	make_sample(&f->run, 30, TEXT + 0x2100);
	made_round(&f->run, 40);
	assert_int_equal(f->compared, 1);
	check(f, 0, LOCATION_NATIVE, 0x100); /* of the kernel's file */
	f->copied_from = TEXT + 0x2000;
	f->copied_to = TEXT + 0x6000;
	map_huge(f, 50, TEXT + 0x2000, 0x4000);
	make_sample(&f->run, 60, TEXT + 0x2100);
	made_round(&f->run, 100);
	check(f, 1, LOCATION_NATIVE, 0x5100);
	assert_int_equal(f->compared, 2);
}

/* Other bytes at the addresses of a file, and memory beyond the file, are no text. */
CASE_WITH(test_not_copied, setup, teardown)
{
	struct fixture *f = *state;

	f->copied_from = TEXT + 0x8000;
	f->copied_to = UINT64_MAX;
	map_anonymous(f, 20, TEXT, 0x4000);
	map_anonymous(f, 21, TEXT + 0xc000, 0x8000);
	make_sample(&f->run, 30, TEXT + 0x100);
	make_sample(&f->run, 31, TEXT + 0xc100);
	make_sample(&f->run, 32, TEXT + 0x10100);
	made_round(&f->run, 100);
	check(f, 0, LOCATION_ANON, TEXT + 0x100);
	check(f, 1, LOCATION_NATIVE, 0xf100);
	check(f, 2, LOCATION_ANON, TEXT + 0x10100);
	assert_int_equal(f->compared, 2);
}

/* Only the present program's files count, and only executable memory is compared. */
CASE_WITH(test_not_compared, setup, teardown)
{
	struct fixture *f = *state;

	f->copied_to = UINT64_MAX;
	make_mapping(&f->run, 15, MADE_PID, TEXT, "//anon");
	make_comm(&f->run, 20, MADE_PID, "next", true);
	map_anonymous(f, 30, TEXT, 0x4000);
	make_sample(&f->run, 40, TEXT);
	made_round(&f->run, 100);
	check(f, 0, LOCATION_ANON, TEXT);
	assert_int_equal(f->compared, 0);
}
