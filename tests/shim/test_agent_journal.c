/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The journal of the agent for Java: loads with scope tables, and what is written without room. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/scope.h"
#include "jitapi-shim/journal.h"
#include "jitapi-shim/send.h"
#include "tests/shim/journal_copy.h"
#include "tests/shim/shim_fixture.h"

#define NAME "pkg.Fill.fill"

const char send_journal_name[] = JITBPF_JOURNAL_NAME; /* journal_copy_own() looks for it */

/* Run it in a child, with a journal of at most that size. */
static void run_in_child(void (*child)(void), uint64_t journal_bytes)
{
	struct rlimit limit = {journal_bytes, journal_bytes};
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		MUST(setrlimit(RLIMIT_FSIZE, &limit) == 0);
		journal_prepare();
		child();
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void send_jvm_load(uint32_t id, uint32_t scope_bytes)
{
	AUTO_FREE char *scopes = calloc(1, scope_bytes + 1);
	struct record record;

	send_begin(&record, JIT_EVENT_JVM_LOAD, NULL);
	record.header.method_id = id;
	record.header.address = id * 0x1000ull;
	record.header.code_bytes = 0x100;
	record_add_string(&record, JITBPF_JIT_NAME, NAME);
	record_add_scopes(&record, scopes, scope_bytes);
	send_record(&record);
}

static void send_jvm_unload(uint32_t id)
{
	struct record record;

	send_begin(&record, JIT_EVENT_JVM_UNLOAD, NULL);
	record.header.address = id * 0x1000ull;
	record.header.code_bytes = 1;
	send_record(&record);
}

/* Returns true if the entry is the load with that ID and its name. */
static bool is_load(const struct journal_copy *copy, uint32_t entry, uint32_t id)
{
	const size_t head_bytes = sizeof(struct jitbpf_jit_field);
	size_t bytes;
	const uint8_t *fields = journal_fields(copy, entry, &bytes);

	return copy->entries[entry].header.method_id == id && bytes >= head_bytes + strlen(NAME) &&
	       memcmp(fields + head_bytes, NAME, strlen(NAME)) == 0;
}

/* Once the tables have used up their part, loads have their names only, and none is missing. */
static void child_scopes_fill_it(void)
{
	uint32_t sent = 100, with_scopes = 0;
	struct journal_copy copy;

	for (uint32_t id = 1; id <= sent; id++)
		send_jvm_load(id, 1000);
	MUST(journal_copy_own(&copy));
	MUST(copy.header.left_out == 0 && copy.count == sent);
	for (uint32_t i = 0; i < copy.count; i++) {
		bool cut = copy.entries[i].header.flags & JITBPF_JIT_TRUNCATED;

		MUST(is_load(&copy, i, i + 1));
		MUST(cut == (copy.entries[i].header.size_bytes < 1000));
		with_scopes += !cut;
	}
	MUST(with_scopes > 30 && with_scopes < sent);
	journal_copy_free(&copy);
}

static void test_scopes_are_left_out_before_names(void **state)
{
	run_in_child(child_scopes_fill_it, 64 << 10);
}

/* Readers refuse a journal with a larger entry. */
static void child_large_table(void)
{
	struct journal_copy copy;

	send_jvm_load(1, RECORD_SCOPES_MAX);
	send_jvm_load(2, RECORD_SCOPES_MAX / 2);
	MUST(journal_copy_own(&copy));
	MUST(copy.header.left_out == 0 && copy.count == 2);
	MUST(is_load(&copy, 0, 1) && is_load(&copy, 1, 2));
	MUST(copy.entries[0].header.flags & JITBPF_JIT_TRUNCATED);
	MUST(copy.entries[1].header.size_bytes > RECORD_SCOPES_MAX / 2);
	journal_copy_free(&copy);
}

static void test_a_table_that_no_reader_takes(void **state)
{
	run_in_child(child_large_table, 64 << 20);
}

/* When not even headers of loads have room, unloads have, and make some. */
static void child_unloads(void)
{
	uint32_t sent = 2000, room;
	struct journal_copy copy;
	uint64_t left_out;

	for (uint32_t id = 1; id <= sent; id++)
		send_jvm_load(id, 0);
	MUST(journal_copy_own(&copy));
	left_out = copy.header.left_out;
	room = (uint32_t)((copy.header.capacity - copy.header.used_bytes) / 80);
	MUST(left_out > 0 && room > 20 && room < copy.count);
	journal_copy_free(&copy);
	for (uint32_t id = 1; id <= room; id++)
		send_jvm_unload(id);
	MUST(journal_copy_own(&copy));
	MUST(copy.header.left_out == left_out && copy.header.next_sequence == sent + room);
	journal_copy_free(&copy);
}

static void test_unloads_find_room(void **state)
{
	run_in_child(child_unloads, 64 << 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scopes_are_left_out_before_names),
		cmocka_unit_test(test_a_table_that_no_reader_takes),
		cmocka_unit_test(test_unloads_find_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
