/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reports of processes and code changes to the unwinder. */
#include <stdint.h>

#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_unwinder.h"

#define CHILD 101
#define LIB   0x700000

static bool is_ready(uint64_t time_ns)
{
	return true;
}

static int setup(void **state)
{
	struct made_run *run = malloc(sizeof(*run));

	made_require(run);
	made_unwinder = (struct unwinder){.is_ready = is_ready};
	made_run_begin(run, &made_unwinding);
	*state = run;
	return 0;
}

/* Check the changes reported since the last call, in order. */
static void assert_told(const struct made_change *changes, size_t count)
{
	assert_int_equal(made_unwinder.change_count, count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(made_unwinder.changes[i].pid, changes[i].pid);
		assert_int_equal(made_unwinder.changes[i].address, changes[i].address);
		assert_int_equal(made_unwinder.changes[i].size_bytes, changes[i].size_bytes);
	}
	made_unwinder.change_count = 0;
}

#define ASSERT_TOLD(...)                                                                           \
	assert_told((struct made_change[]){__VA_ARGS__},                                           \
		    ARRAY_SIZE(((struct made_change[]){__VA_ARGS__})))

CASE_WITH(test_processes, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_mapping(run, 1, MADE_PID, LIB, "/lib/x.so");
	make_comm(run, 2, MADE_PID, "renamed", false);
	made_round(run, 10);
	ASSERT_TOLD({MADE_PID});
	make_comm(run, 11, MADE_PID, "program", true);
	made_round(run, 20);
	ASSERT_TOLD({MADE_PID});
	make_task(run, JITBPF_FORK, 21, CHILD, MADE_PID);
	made_round(run, 30);
	ASSERT_TOLD({CHILD});
	/* The pid is published, so its previous process is unpublished first. */
	make_task(run, JITBPF_FORK, 31, CHILD, MADE_PID);
	made_round(run, 40);
	ASSERT_TOLD({CHILD}, {CHILD});
	make_task(run, JITBPF_EXIT, 41, CHILD, 0);
	made_round(run, 50);
	ASSERT_TOLD({CHILD});
}

/* Threads do not change anything. */
CASE_WITH(test_threads, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_task(run, JITBPF_FORK, 1, MADE_PID, MADE_PID);
	make_task(run, JITBPF_EXIT, 2, MADE_PID, 0);
	((struct jitbpf_task *)run->records[1])->tid++;
	make_comm(run, 3, MADE_PID, "thread", false);
	make_sample(run, 4, LIB);
	made_round(run, 10);
	assert_int_equal(made_unwinder.change_count, 0);
}

CASE_WITH(test_code, setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_jit_header *jit;

	make_load(run, 1, 0, "a")->code_bytes = 0x40;
	made_round(run, 10);
	ASSERT_TOLD({MADE_PID, MADE_CODE, 0x40});
	make_load(run, 11, 1, "inlined")->event = JIT_EVENT_INLINE_LOAD;
	make_load(run, 12, 2, "nowhere")->address = 0;
	made_round(run, 20);
	assert_int_equal(made_unwinder.change_count, 0);
	jit = make_load(run, 21, 3, "a");
	jit->event = JIT_EVENT_UNLOAD;
	jit->code_bytes = 0;
	jit = make_load(run, 22, 4, "to the end and beyond");
	jit->address = UINT64_MAX - 0x10;
	made_round(run, 30);
	ASSERT_TOLD({MADE_PID, MADE_CODE, 0x40}, {MADE_PID, UINT64_MAX - 0x10, 0x10});
}

/* An unload of a JVM has only the address. */
CASE_WITH(test_code_that_was_unloaded, setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_jit_header *jit;

	jit = make_load(run, 1, 0, "a");
	jit->event = JIT_EVENT_JVM_LOAD;
	jit->code_bytes = 0x30000;
	made_round(run, 10);
	ASSERT_TOLD({MADE_PID, MADE_CODE, 0x30000});
	jit = make_load(run, 11, 1, "a");
	jit->event = JIT_EVENT_JVM_UNLOAD;
	jit->method_id = 0;
	jit->code_bytes = 1;
	made_round(run, 20);
	ASSERT_TOLD({MADE_PID, MADE_CODE, 0x30000});
	/* Nothing is there any more. */
	jit = make_load(run, 21, 2, "a");
	jit->event = JIT_EVENT_JVM_UNLOAD;
	jit->method_id = 0;
	jit->code_bytes = 1;
	made_round(run, 30);
	ASSERT_TOLD({MADE_PID, MADE_CODE, 1});
}

static struct jitbpf_code *make_copy(struct made_run *run, uint64_t time_ns, size_t bytes)
{
	struct jitbpf_code *code = make_record(run, JITBPF_CODE, sizeof(*code) + bytes, time_ns);

	code->pid = MADE_PID;
	code->start_ns = MADE_START;
	code->address = MADE_CODE;
	code->size_bytes = 0x40;
	return code;
}

/* A copy of code is reported after its load, however the source delivers it. */
CASE_WITH(test_code_that_was_copied, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_copy(run, 2, 0x40);
	make_load(run, 1, 0, "a")->code_bytes = 0x40;
	make_copy(run, 12, 0x20); /* of the next round */
	make_copy(run, 3, 0x10)->pid = 4711;
	make_copy(run, 3, 0x10)->size_bytes = 0xf;
	made_round(run, 10);
	assert_int_equal(made_unwinder.copied_bytes, 0x40);
	make_load(run, 11, 1, "b")->code_bytes = 0x40;
	made_round(run, 20);
	assert_int_equal(made_unwinder.copied_bytes, 0x60);
	assert_int_equal(made_finish(run, 30)->malformed_records, 1);
}

/* Only memory without a file is in doubt, and only what may end code is reported before. */
CASE_WITH(test_memory_that_was_mapped, setup, made_run_teardown)
{
	struct made_run *run = *state;

	make_mapping(run, 1, MADE_PID, LIB, "/lib/x.so");
	made_round(run, 10);
	assert_int_equal(made_unwinder.mapped_count, 0);
	make_mapping(run, 11, MADE_PID, MADE_CODE, "//anon")->size_bytes = 0x1000;
	made_round(run, 20);
	assert_int_equal(made_unwinder.mapped_count, 1);
	assert_int_equal(made_unwinder.mapped.pid, MADE_PID);
	assert_int_equal(made_unwinder.mapped.address, MADE_CODE);
	assert_int_equal(made_unwinder.mapped.size_bytes, 0x1000);
	assert_int_equal(made_unwinder.code_kind_count, 0);
	make_load(run, 21, 0, "a");
	make_comm(run, 22, MADE_PID, "renamed", false);
	make_comm(run, 23, MADE_PID, "new", true);
	make_sample(run, 24, MADE_CODE);
	made_round(run, 30);
	assert_int_equal(made_unwinder.code_kind_count, 2);
	assert_int_equal(made_unwinder.code_kinds[0], JITBPF_CODE_LOAD);
	assert_int_equal(made_unwinder.code_kinds[1], 0);
}

/* Lost events may concern any address. */
CASE_WITH(test_code_that_was_lost, setup, made_run_teardown)
{
	struct made_run *run = *state;
	struct jitbpf_journal *journal;

	make_load(run, 1, 0, "a");
	made_round(run, 10);
	made_unwinder.change_count = 0;
	journal = make_record(run, JITBPF_JOURNAL, sizeof(*journal), 11);
	journal->pid = MADE_PID;
	journal->start_ns = MADE_START;
	journal->from_ns = 11;
	journal->to_ns = 12;
	made_round(run, 20);
	ASSERT_TOLD({MADE_PID, 0, UINT64_MAX});
}
