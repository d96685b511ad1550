/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Mappings and names that are read again after a loss of side-band records. */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define FILE_CODE 0x700000

/* A mapping that is read at time_ns, after a loss at lost_ns. */
static void read_again(struct made_run *run, uint64_t lost_ns, uint64_t time_ns, const char *path,
		       uint64_t inode)
{
	for (int i = 0; i < 2; i++) {
		struct jitbpf_mapping *mapping =
			make_mapping(run, i ? time_ns : lost_ns, MADE_PID, FILE_CODE, path);

		mapping->h.flags = i ? JITBPF_MAPPING_READ_AGAIN : JITBPF_MAPPING_DOUBTFUL;
		mapping->inode = inode;
	}
}

static void map_file(struct made_run *run, uint64_t time_ns)
{
	make_mapping(run, time_ns, MADE_PID, FILE_CODE, "/bin/old")->inode = 1;
}

static enum location_kind kind_at(const struct made_run *run, uint64_t time_ns)
{
	for (size_t i = 0; i < run->seen_count; i++) {
		if (run->seen[i].time_ns == time_ns)
			return run->seen[i].kind;
	}
	fail_msg("no sample at %llu", (unsigned long long)time_ns);
	return 0;
}

/* What is known stays, with its own time. */
CASE_WITH(test_known, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	map_file(run, 10);
	make_sample(run, 20, FILE_CODE);
	made_round(run, 40);
	read_again(run, 40, 90, "/bin/old (deleted)", 1);
	make_sample(run, 50, FILE_CODE);
	make_sample(run, 95, FILE_CODE);
	made_round(run, 100);
	assert_int_equal(kind_at(run, 50), LOCATION_NATIVE);
	assert_int_equal(kind_at(run, 95), LOCATION_NATIVE);
	assert_int_equal(run->seen[2].offset, run->seen[0].offset);
}

/* A mapping whose record was lost: named from the reading on. */
CASE_WITH(test_missed, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_comm(run, 10, MADE_PID, "victim", false);
	make_sample(run, 20, FILE_CODE);
	read_again(run, 15, 40, "/bin/new", 2);
	make_sample(run, 50, FILE_CODE);
	made_round(run, 100);
	assert_int_equal(kind_at(run, 20), LOCATION_UNKNOWN);
	assert_int_equal(kind_at(run, 50), LOCATION_NATIVE);
}

/* Another file than the known one: unknown from the loss to the reading. */
CASE_WITH(test_replaced, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	map_file(run, 10);
	make_sample(run, 30, FILE_CODE);
	read_again(run, 40, 60, "/bin/new", 2);
	make_sample(run, 50, FILE_CODE);
	make_sample(run, 70, FILE_CODE);
	made_round(run, 100);
	assert_int_equal(kind_at(run, 30), LOCATION_NATIVE);
	assert_int_equal(kind_at(run, 50), LOCATION_ANON);
	assert_int_equal(kind_at(run, 70), LOCATION_NATIVE);
}

/* The same file at another offset is another mapping. */
CASE_WITH(test_moved_in_file, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_mapping(run, 10, MADE_PID, FILE_CODE - 0x1000, "/bin/old")->inode = 1;
	make_sample(run, 30, FILE_CODE);
	read_again(run, 40, 60, "/bin/old", 1);
	make_sample(run, 50, FILE_CODE);
	made_round(run, 100);
	assert_int_equal(kind_at(run, 30), LOCATION_NATIVE);
	assert_int_equal(kind_at(run, 50), LOCATION_ANON);
}

/* Mappings that were made after the loss, and reported, are what the reading finds. */
CASE_WITH(test_reported_after_loss, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	read_again(run, 15, 60, "/bin/old", 1);
	map_file(run, 20);
	make_sample(run, 30, FILE_CODE);
	made_round(run, 100);
	assert_int_equal(kind_at(run, 30), LOCATION_NATIVE);
}

/*
 * The file of a mapping was identified late: a known mapping is of that file from then on. A
 * mapping that is another one by then stays as it is.
 */
CASE_WITH(test_identified_late, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	const struct module_table *modules = pipeline_modules(run->pipeline);

	for (int i = 0; i < 2; i++) {
		struct jitbpf_mapping *late;

		make_mapping(run, 10 + 40 * i, MADE_PID, FILE_CODE, "/bin/old")->inode = 1 + 6 * i;
		make_sample(run, 20 + 40 * i, FILE_CODE);
		late = make_mapping(run, 30 + 40 * i, MADE_PID, FILE_CODE, "/bin/old");
		late->h.flags = JITBPF_MAPPING_IDENTIFIED;
		late->inode = 1;
		late->inode_generation = 5;
		make_sample(run, 40 + 40 * i, FILE_CODE);
	}
	made_round(run, 100);
	assert_int_equal(run->seen_count, 4);
	assert_int_equal(modules->count, 3); /* not identified, identified, and another file */
	assert_int_equal(module_table_get(modules, 0)->inode_generation, 0);
	assert_int_equal(module_table_get(modules, 1)->inode_generation, 5);
	assert_int_equal(module_table_get(modules, 2)->inode, 7);
	for (size_t i = 0; i < run->seen_count; i++)
		assert_int_equal(run->seen[i].kind, LOCATION_NATIVE);
}

/*
 * Engines can report code that lies in a file, as V8's builtins in its program. The file does not
 * replace this code when it is identified: it was mapped before.
 */
CASE_WITH(test_code_in_a_file_identified_late, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_mapping *late;

	map_file(run, 10);
	make_load(run, 20, 0, "builtin")->address = FILE_CODE;
	make_sample(run, 30, FILE_CODE);
	late = make_mapping(run, 40, MADE_PID, FILE_CODE, "/bin/old");
	late->h.flags = JITBPF_MAPPING_IDENTIFIED;
	late->inode = 1;
	late->inode_generation = 5;
	make_sample(run, 50, FILE_CODE);
	map_file(run, 60); /* again: the code is gone */
	make_sample(run, 70, FILE_CODE);
	made_round(run, 100);
	assert_int_equal(kind_at(run, 30), LOCATION_JIT);
	assert_int_equal(kind_at(run, 50), LOCATION_JIT);
	assert_int_equal(kind_at(run, 70), LOCATION_NATIVE);
}

CASE_WITH(test_name, made_run_setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_sample(run, 20, FILE_CODE);
	made_round(run, 100);
	make_comm(run, 110, MADE_PID, "renamed", false);
	run->records[0]->flags = JITBPF_COMM_READ_AGAIN;
	make_sample(run, 120, FILE_CODE);
	made_round(run, 200);
	assert_string_equal(run->seen[1].comm, "renamed");
}
