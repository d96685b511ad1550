/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of threads over time: by rules, and random events against a plain list. */
#include <stdint.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state/process/thread_names.h"
#include "tests/unit/cases.h"
#include "uapi/code_event.h"
#include "uapi/jit_record.h"

#define LONG_NAME "request-handler-alpha-1"

struct fixture {
	struct thread_names names;
	struct code_account *account;
	struct owner_budget memory;
	uint64_t sequence;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	if (!f || code_account_create(&code_budget_default, &f->account))
		return -1;
	f->memory.limit = OWNER_BUDGET_UNLIMITED;
	if (code_account_set_owner(f->account, &f->memory, (struct owner_key){.uid = 7}))
		return -1;
	*state = f;
	return 0;
}

/* What was charged is released. */
static int tear_down(void **state)
{
	struct fixture *f = *state;
	uint64_t left;

	thread_names_deinit(&f->names, f->account);
	left = f->account->bytes;
	code_account_put(f->account);
	owner_budget_deinit(&f->memory);
	free(f);
	return left ? -1 : 0;
}

static struct code_event event_of(struct fixture *f, uint32_t tid, const char *name,
				  uint64_t time_ns)
{
	return (struct code_event){
		.origin = {.publisher = JITBPF_PUBLISHER_JVMTI, .sequence = f->sequence++},
		.kind = name ? JITBPF_CODE_THREAD : JITBPF_CODE_THREAD_END,
		.tid = tid,
		.method_id = tid,
		.time_ns = time_ns,
		.name = {.bytes = name, .size_bytes = name ? strlen(name) : 0},
	};
}

/* name NULL: the thread ends. */
static void tell(struct fixture *f, uint32_t tid, const char *name, uint64_t time_ns)
{
	struct code_event event = event_of(f, tid, name, time_ns);

	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
}

static void expect(struct fixture *f, uint32_t tid, uint64_t time_ns, const char *want)
{
	const char *name = thread_names_at(&f->names, tid, "other", "process", time_ns);

	assert_string_equal(name ?: "", want);
}

CASE_WITH(test_over_time, set_up, tear_down)
{
	struct fixture *f = *state;

	tell(f, 5, "first", 10);
	tell(f, 6, "other", 10);
	tell(f, 5, "second", 20);
	tell(f, 5, NULL, 30);
	tell(f, 5, "reused", 40);
	tell(f, 5, "too old", 39);
	tell(f, 6, NULL, 1000);
	expect(f, 5, 9, "");
	expect(f, 5, 10, "first");
	expect(f, 5, 19, "first");
	expect(f, 5, 20, "second");
	expect(f, 5, 39, "second"); /* it exits after it has told its end */
	expect(f, 5, 40, "reused");
	expect(f, 6, 1000, "other");
	expect(f, 6, 999 + THREAD_NAMES_GRACE_NS, "other");
	expect(f, 6, 1000 + THREAD_NAMES_GRACE_NS, "");
	thread_names_end(&f->names, 6, 2000);
	expect(f, 6, 1999, "other");
	expect(f, 6, 2000, "");
	expect(f, 7, 1000, "");
}

/* It may have renamed itself since then, which its comm shows. */
CASE_WITH(test_reported_before_the_run, set_up, tear_down)
{
	static const struct {
		const char *comm, *process_comm, *want;
	} cases[] = {
		{"request-handler", "java", LONG_NAME},
		{"request..lpha-1", "java", LONG_NAME},
		{"java", "java", LONG_NAME},
		{"renamed-itself", "java", NULL},
		{"request-handle", "java", NULL},
		{"java", "embedder", NULL},
		{"", "java", NULL},
	};
	struct fixture *f = *state;
	struct code_event event = event_of(f, 5, LONG_NAME, 10);

	event.flags = JITBPF_EVENT_BEFORE_RUN;
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *name =
			thread_names_at(&f->names, 5, cases[i].comm, cases[i].process_comm, 20);

		assert_string_equal(name ?: "", cases[i].want ?: "");
	}
	tell(f, 5, LONG_NAME, 30);
	expect(f, 5, 30, LONG_NAME);
}

CASE_WITH(test_a_new_thread_has_the_tid, set_up, tear_down)
{
	struct fixture *f = *state;

	tell(f, 5, "first", 10);
	thread_names_end(&f->names, 5, 5); /* the begin of this very thread */
	expect(f, 5, 30, "first");
	thread_names_end(&f->names, 5, 20);
	thread_names_end(&f->names, 6, 20);
	expect(f, 5, 19, "first");
	expect(f, 5, 20, "");
}

CASE_WITH(test_comm, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_event running = event_of(f, 8, LONG_NAME, 10);

	running.tid = 0;
	for (uint32_t tid = 5; tid < 8; tid++)
		tell(f, tid, LONG_NAME, 10);
	assert_int_equal(thread_names_apply(&f->names, f->account, &running), 0);
	thread_names_comm(&f->names, 5, "request-handler", 11);
	expect(f, 5, 12, LONG_NAME);
	/* The same 15 bytes may stand for another name. */
	thread_names_comm(&f->names, 5, "request-handler", 20);
	expect(f, 5, 19, LONG_NAME);
	expect(f, 5, 20, "");
	thread_names_comm(&f->names, 6, "native", 20);
	expect(f, 6, 20, "");
	thread_names_comm(&f->names, 7, "parent's", 9); /* of before */
	expect(f, 7, 20, LONG_NAME);
	thread_names_comm(&f->names, 8, "request-handler", 20);
	expect(f, 8, 20, "");
	tell(f, 8, "again", 30);
	expect(f, 8, 30, "again");
}

CASE_WITH(test_abbreviations, set_up, tear_down)
{
	assert_true(thread_names_is_abbreviation("main", "main"));
	assert_true(thread_names_is_abbreviation("request-handler", LONG_NAME));
	assert_true(thread_names_is_abbreviation("request..lpha-1", LONG_NAME));
	assert_true(thread_names_is_abbreviation("", ""));
	assert_true(
		thread_names_is_abbreviation("a-\xed\xa0\xbd\xed\xb8\x80", "a-\xf0\x9f\x98\x80"));
	assert_false(thread_names_is_abbreviation("", "main"));
	assert_false(thread_names_is_abbreviation("mai", "main"));
	assert_false(thread_names_is_abbreviation("main2", "main"));
	assert_false(thread_names_is_abbreviation("request", LONG_NAME));
	assert_false(thread_names_is_abbreviation("request..beta-2", LONG_NAME));
	assert_false(thread_names_is_abbreviation("reques...lpha-1", LONG_NAME));
	assert_false(thread_names_is_abbreviation("request..ndler-", "request-handler"));
}

CASE_WITH(test_exec_and_gap, set_up, tear_down)
{
	struct fixture *f = *state;
	const uint64_t live[] = {0, 2};

	for (uint32_t tid = 1; tid <= 3; tid++)
		tell(f, tid, "name", 10);
	thread_names_gap(&f->names, live, 2, 20);
	expect(f, 2, 19, "name");
	expect(f, 2, 20, "");
	expect(f, 3, 20, "name");
	thread_names_end_all(&f->names, 30);
	expect(f, 1, 29, "name");
	expect(f, 1, 30, "");
	expect(f, 3, 30, "");
}

CASE_WITH(test_hostile, set_up, tear_down)
{
	struct fixture *f = *state;
	static char huge[5000];
	struct code_event event = event_of(f, 5, huge, 10);

	memset(huge, 'x', sizeof(huge));
	event.name.size_bytes = sizeof(huge); /* without a NUL */
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
	assert_int_equal(strlen(thread_names_at(&f->names, 5, "", "", 10)), JITBPF_THREAD_NAME_MAX);
	event.name.size_bytes = 0;
	event.time_ns = 20;
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
	expect(f, 5, 20, "");
	event.name = (struct code_string){.bytes = "\0x", .size_bytes = 2};
	event.method_id = (1ull << 32) | 6;
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
	event.method_id = 0;
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
	event.method_id = 6;
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), 0);
	expect(f, 6, 20, "");
	assert_int_equal(f->names.names.size, 1);
}

CASE_WITH(test_without_memory, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_event event = event_of(f, 5, "second", 20);

	tell(f, 5, "first", 10);
	f->memory.limit = f->memory.used;
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), -EDQUOT);
	expect(f, 5, 19, "first");
	expect(f, 5, 20, "");
	f->memory.limit = OWNER_BUDGET_UNLIMITED;
	tell(f, 5, "third", 30);
	expect(f, 5, 30, "third");
}

CASE_WITH(test_many, set_up, tear_down)
{
	struct fixture *f = *state;
	struct code_event event;

	for (uint32_t tid = 1; tid <= THREAD_NAMES_MAX; tid++)
		tell(f, tid, "many", 10);
	event = event_of(f, THREAD_NAMES_MAX + 1, "more", 10);
	assert_int_equal(thread_names_apply(&f->names, f->account, &event), -EDQUOT);
	expect(f, THREAD_NAMES_MAX, 10, "many");
	thread_names_end_all(&f->names, 20);
	thread_names_forget(&f->names, f->account, 20);
	assert_int_equal(f->names.names.size, 0);
	assert_int_equal(f->account->bytes, 0);
	tell(f, 1, "anew", 30);
	expect(f, 1, 30, "anew");
}

/* --- random events ---------------------------------------------------------------------- */

#define STEPS	20000
#define THREADS 12
#define HISTORY 50
#define STEP_NS THREAD_NAMES_GRACE_NS

/* Each thread's name at each of the last times; "" for none. */
static char model[THREADS][STEPS + 1][8];

CASE_WITH(test_random, set_up, tear_down)
{
	struct fixture *f = *state;
	bool ends[THREADS] = {0};
	char name[8];

	srandom(1);
	for (uint64_t now = 1; now <= STEPS; now++) {
		uint32_t tid = (uint32_t)random() % THREADS;

		for (uint32_t i = 0; i < THREADS; i++) {
			if (!ends[i])
				memcpy(model[i][now], model[i][now - 1], sizeof(name));
		}
		memset(ends, 0, sizeof(ends));
		snprintf(name, sizeof(name), "t%ld", random() % 1000);
		switch (random() % 5) {
		case 0:
			tell(f, tid + 1, NULL, now * STEP_NS);
			ends[tid] = true;
			break;
		case 1:
			thread_names_end(&f->names, tid + 1, now * STEP_NS);
			*model[tid][now] = 0;
			break;
		default:
			tell(f, tid + 1, name, now * STEP_NS);
			memcpy(model[tid][now], name, sizeof(name));
		}
		if (random() % 8 == 0 && now > HISTORY)
			thread_names_forget(&f->names, f->account, (now - HISTORY) * STEP_NS);
		for (uint32_t i = 0; i < THREADS; i++) {
			uint64_t back = (uint64_t)random() % HISTORY;
			uint64_t at = now > back ? now - back : now;

			expect(f, i + 1, at * STEP_NS, model[i][at]);
		}
		assert_true(f->names.names.size <= 2 * (THREADS + HISTORY) + 64);
	}
}
