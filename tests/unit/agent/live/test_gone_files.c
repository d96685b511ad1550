/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/live/gone_files.h"
#include "tests/unit/cases.h"

#define PID	7u
#define ADDRESS 0x7f0000000000ull
#define OFFSET	0x1000u
#define NONE	0

static const struct owner_key user = {.uid = 1000}, other = {.uid = 1001};

/* No map is behind the descriptor: changes of it fail, and nothing depends on them. */
static int setup(void **state)
{
	static struct gone_files gone;

	gone_files_init(&gone, open("/dev/null", O_RDONLY | O_CLOEXEC));
	gone_files_add(&gone, PID, user);
	*state = &gone;
	return 0;
}

static int teardown(void **state)
{
	struct gone_files *gone = *state;

	close(gone->map_fd);
	gone_files_deinit(gone);
	return 0;
}

static struct jitbpf_mapping mapped(uint64_t time_ns, uint64_t address)
{
	return (struct jitbpf_mapping){
		.h.time_ns = time_ns,
		.pid = PID,
		.address = address,
		.size_bytes = 0x2000,
		.file_offset = OFFSET,
	};
}

static void note(struct gone_files *gone, uint64_t time_ns)
{
	struct jitbpf_mapping mapping = mapped(time_ns, ADDRESS);

	gone_files_note(gone, &mapping);
}

static void report(struct gone_files *gone, uint32_t pid, uint64_t time_ns, uint64_t file_offset,
		   uint8_t id)
{
	struct jitbpf_build_id report = {
		.h.time_ns = time_ns,
		.pid = pid,
		.address = ADDRESS + 0x10,
		.file_offset = file_offset,
		.build_id = {id},
	};

	gone_files_report(gone, &report);
}

/* Returns the first byte of the build ID that a mapping gets, or NONE. */
static uint8_t found(const struct gone_files *gone, uint64_t time_ns)
{
	struct jitbpf_mapping mapping = mapped(time_ns, ADDRESS);

	gone_files_find(gone, &mapping);
	assert_int_equal(mapping.build_id_bytes, mapping.build_id[0] ? JITBPF_BUILD_ID_MAX : 0);
	return mapping.build_id[0];
}

/* Libraries come one after the other to the same addresses: each gets its own build ID. */
CASE_WITH(test_mappings_in_turn, setup, teardown)
{
	struct gone_files *gone = *state;

	report(gone, PID, 15, OFFSET + 0x10, 1);
	report(gone, PID, 35, OFFSET + 0x10, 3);
	note(gone, 10);
	note(gone, 20); /* no sample was taken in this one */
	note(gone, 30);
	assert_int_equal(found(gone, 10), 1);
	assert_int_equal(found(gone, 20), NONE);
	assert_int_equal(found(gone, 30), 3);
}

/* A report that cannot be about the mapping. */
CASE_WITH(test_others, setup, teardown)
{
	struct jitbpf_mapping elsewhere = mapped(10, ADDRESS + 0x10000);
	struct gone_files *gone = *state;

	report(gone, PID, 15, OFFSET + 0x20, 1); /* another offset */
	report(gone, PID, 5, OFFSET + 0x10, 2);	 /* before the mapping */
	report(gone, PID + 1, 15, OFFSET + 0x10, 3);
	note(gone, 10);
	gone_files_note(gone, &elsewhere);
	assert_int_equal(found(gone, 10), NONE);
	gone_files_find(gone, &elsewhere);
	assert_int_equal(elsewhere.build_id_bytes, 0);
	report(gone, PID, 15, OFFSET + 0x10, 4);
	assert_int_equal(found(gone, 10), 4);
}

/* A mapping that was lost may have been between the mapping and the report. */
CASE_WITH(test_after_a_loss, setup, teardown)
{
	struct gone_files *gone = *state;

	report(gone, PID, 15, OFFSET + 0x10, 1);
	note(gone, 10);
	gone_files_lose(gone);
	assert_int_equal(found(gone, 10), NONE);
}

/* With more mappings than there is room for, one that is not noted may be the right one. */
CASE_WITH(test_too_many_mappings, setup, teardown)
{
	struct gone_files *gone = *state;

	report(gone, PID, GONE_MAPPINGS_MAX, OFFSET + 0x10, 1);
	for (uint64_t i = 0; i < GONE_MAPPINGS_MAX; i++)
		note(gone, i);
	assert_int_equal(found(gone, GONE_MAPPINGS_MAX - 1), 1);
	note(gone, GONE_MAPPINGS_MAX);
	assert_int_equal(found(gone, GONE_MAPPINGS_MAX - 1), NONE);
	assert_int_equal(gone->processes.data[0].mappings.size, GONE_MAPPINGS_MAX);
	for (uint32_t i = 0; i < 2 * GONE_REPORTS_MAX; i++)
		report(gone, PID, i, OFFSET, 1);
	assert_int_equal(gone->processes.data[0].reports.size, GONE_REPORTS_MAX);
}

/* A mapping that is younger than the start of its round may be emitted in the next one. */
CASE_WITH(test_rounds, setup, teardown)
{
	struct gone_files *gone = *state;

	report(gone, PID, 15, OFFSET + 0x10, 1);
	note(gone, 12);
	gone_files_end_round(gone, 10);
	assert_int_equal(found(gone, 12), 1);
	gone_files_end_round(gone, 20);
	assert_int_equal(found(gone, 12), 1);
	gone_files_end_round(gone, 30);
	assert_int_equal(found(gone, 12), NONE);
	assert_int_equal(gone->processes.data[0].mappings.size, 0);
}

CASE_WITH(test_exit, setup, teardown)
{
	struct gone_files *gone = *state;

	report(gone, PID, 15, OFFSET + 0x10, 1);
	gone_files_exit(gone, PID);
	assert_int_equal(found(gone, 10), 1); /* its mappings of this round may come later */
	gone_files_end_round(gone, 20);
	assert_false(gone_files_any(gone));
	assert_int_equal(gone->budget.used, 0);
}

/* A user with any number of such processes leaves room for others. */
CASE_WITH(test_owners, setup, teardown)
{
	struct gone_files *gone = *state;
	size_t before;

	for (uint32_t pid = 100; pid < 100 + 2 * JITBPF_FILES_GONE_MAX; pid++)
		gone_files_add(gone, pid, user);
	before = gone->processes.size;
	assert_true(before < JITBPF_FILES_GONE_MAX);
	gone_files_add(gone, 5, other);
	assert_int_equal(gone->processes.size, before + 1);
	gone_files_add(gone, 5, other);
	assert_int_equal(gone->processes.size, before + 1);
}
