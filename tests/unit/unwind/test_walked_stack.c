/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Stacks that the kernel walked with outdated mappings. */
#include <stdint.h>

#include <stdlib.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/made_mapping.h"
#include "unwind/walked_stack.h"

#define PID    100
#define MAIN   0x400000
#define LIB    0x700000
#define FRAMES 4

struct fixture {
	struct string_pool *strings;
	struct module_table modules;
	struct process_table processes;
	struct process *process;
};

static void map_version(struct fixture *f, uint64_t time_ns, uint64_t address, const char *path,
			uint64_t file_offset, uint64_t version)
{
	static struct made_mapping made;

	made_mapping(&made, path, *path == '/' && path[1] != '/' ? (uint64_t)path[5] : 0, "");
	made.mapping.inode_generation = version;
	made.mapping.h.time_ns = time_ns;
	made.mapping.address = address;
	made.mapping.file_offset = file_offset;
	assert_int_equal(process_table_map(&f->processes, &made.mapping), 0);
}

static void map(struct fixture *f, uint64_t time_ns, uint64_t address, const char *path,
		uint64_t file_offset)
{
	map_version(f, time_ns, address, path, file_offset, 0);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	assert_int_equal(string_pool_create(&f->strings), 0);
	process_table_init(&f->processes, f->strings, &f->modules, &code_budget_default, NULL);
	assert_int_equal(process_table_at(&f->processes, PID, 7, 0, &f->process), 0);
	map(f, 1, MAIN, "/bin/m", 0);
	map(f, 1, LIB, "/lib/x.so", 0x2000);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	process_table_deinit(&f->processes);
	module_table_deinit(&f->modules);
	string_pool_destroy(f->strings);
	free(f);
	return 0;
}

/*
 * Returns the sound frames of a stack with a library frame second from the
 * leaf, before the root.
 */
static uint32_t sound(struct fixture *f, uint64_t time_ns, uint32_t age_ns)
{
	AUTO_FREE struct jitbpf_sample *sample =
		calloc(1, sizeof(*sample) + (1 + FRAMES) * sizeof(uint64_t));
	const uint64_t words[1 + FRAMES] = {~0ull, MAIN, LIB + 1, MAIN + 1, LIB + 0x10};

	assert_non_null(sample);
	sample->h.time_ns = time_ns;
	sample->kernel_words = 1;
	sample->user_words = FRAMES;
	sample->mappings_age_ns = age_ns;
	memcpy(sample->words, words, sizeof(words));
	return walked_stack_sound(f->process, sample);
}

CASE_WITH(test_nothing_has_changed, setup, teardown)
{
	assert_int_equal(sound(*state, 1000, 10), FRAMES);
	assert_int_equal(sound(*state, 1000, 0), FRAMES);
}

CASE_WITH(test_another_file_took_its_place, setup, teardown)
{
	struct fixture *f = *state;

	map(f, 500, LIB, "/lib/y.so", 0x2000);
	assert_int_equal(sound(f, 499, 100), FRAMES);
	assert_int_equal(sound(f, 500, 1), 2);
	assert_int_equal(sound(f, 600, 101), 2);
	/* The mappings of 500 were known at 500. */
	assert_int_equal(sound(f, 600, 100), FRAMES);
	assert_int_equal(sound(f, 600, 0), FRAMES);
}

/* A file that did not answer in time is identified at the end of a round, as of the round's time.
 */
CASE_WITH(test_identified_late, setup, teardown)
{
	struct fixture *f = *state;

	map_version(f, 500, LIB, "/lib/x.so", 0x2000, 77);
	assert_int_equal(sound(f, 550, 100), FRAMES);
	assert_int_equal(sound(f, 600, 100), FRAMES);
	/* Another version of the file is another file. */
	map_version(f, 700, LIB, "/lib/x.so", 0x2000, 78);
	assert_int_equal(sound(f, 750, 100), 2);
	assert_int_equal(sound(f, 750, 50), FRAMES);
}

CASE_WITH(test_another_part_of_the_file, setup, teardown)
{
	struct fixture *f = *state;

	map(f, 500, LIB, "/lib/x.so", 0x3000);
	assert_int_equal(sound(f, 600, 200), 2);
}

CASE_WITH(test_memory_took_its_place, setup, teardown)
{
	struct fixture *f = *state;

	map(f, 500, LIB, "//anon", 0);
	assert_int_equal(sound(f, 600, 200), 2);
	map(f, 700, LIB, "//anon", 0);
	assert_int_equal(sound(f, 750, 100), FRAMES);
}

/* The same file is mapped again: with another protection, or after an unmapping. */
CASE_WITH(test_the_same, setup, teardown)
{
	struct fixture *f = *state;

	map(f, 500, LIB, "/lib/x.so", 0x2000);
	assert_int_equal(sound(f, 600, 200), FRAMES);
}

CASE_WITH(test_new_where_nothing_was, setup, teardown)
{
	struct fixture *f = *state;

	map(f, 500, LIB + 0x1000, "/lib/y.so", 0);
	assert_int_equal(sound(f, 600, 200), FRAMES);
	map(f, 500, MAIN - 0x1000, "/lib/y.so", 0);
	assert_int_equal(sound(f, 600, 200), FRAMES);
}

/* Without any known mapping there was no rule. */
CASE_WITH(test_nothing_there, setup, teardown)
{
	struct fixture *f = *state;
	struct jitbpf_comm exec = {
		.h = {.time_ns = 500, .flags = JITBPF_COMM_EXEC}, .pid = PID, .tid = PID};

	assert_int_equal(process_table_comm(&f->processes, &exec), 0);
	map(f, 501, MAIN, "/bin/m", 0);
	assert_int_equal(sound(f, 600, 200), 2);
}
