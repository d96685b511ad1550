/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* JIT records to code events, in one part or several, and what is refused of them. */
#include <stdint.h>

#include <stdlib.h>

#include "decode/media/jit_event.h"
#include "decode/record/record_check.h"
#include "pipeline/intake/shim_records.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_jit.h"

#define OUT_MAX 600

struct fixture {
	struct shim_records records;
	struct round_buffer round;
	struct jitbpf_record *out[OUT_MAX]; /* since the last take_round() */
	size_t count;
};

static int set_up(void **state)
{
	*state = calloc(1, sizeof(struct fixture));
	assert_non_null(*state);
	return 0;
}

static void drop_out(struct fixture *f)
{
	while (f->count)
		free(f->out[--f->count]);
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	drop_out(f);
	shim_records_deinit(&f->records);
	round_buffer_deinit(&f->round);
	free(f);
	return 0;
}

static int keep(void *context, const struct jitbpf_record *record)
{
	struct fixture *f = context;

	assert_true(f->count < OUT_MAX);
	assert_int_equal(record_check(record, record->size_bytes), 0);
	f->out[f->count] = malloc(record->size_bytes);
	assert_non_null(f->out[f->count]);
	memcpy(f->out[f->count++], record, record->size_bytes);
	return 0;
}

static void take_round(struct fixture *f)
{
	drop_out(f);
	assert_int_equal(shim_records_put_refusals(&f->records, &f->round), 0);
	assert_int_equal(round_buffer_drain(&f->round, UINT64_MAX, keep, f), 0);
}

static void made_load(struct made_jit *made, uint64_t sequence, uint64_t time_ns, const char *name)
{
	made_jit_begin(made, JIT_EVENT_LOAD, sequence);
	made->header.time_ns = time_ns;
	made->header.method_id = 7;
	made->header.address = 0x1000;
	made->header.code_bytes = 64;
	made->header.caller = 0x400000;
	made_jit_string(made, JITBPF_JIT_NAME, name);
	made_jit_string(made, JITBPF_JIT_SOURCE, "a source file of some length");
}

/* One part of an event, in a JIT record. */
static void send_part(struct fixture *f, uint32_t pid, uint32_t tid, const struct made_jit *made,
		      unsigned part, unsigned part_count, uint16_t flags)
{
	struct jitbpf_jit *jit = calloc(1, sizeof(*jit) + sizeof(*made));

	assert_non_null(jit);
	jit->h = (struct jitbpf_record){
		.type = JITBPF_JIT, .flags = flags, .time_ns = made->header.time_ns + 5};
	jit->pid = pid;
	jit->tid = tid;
	jit->start_ns = 77;
	jit->data_bytes = (uint32_t)made_jit_part(made, part, part_count, jit->data);
	jit->h.size_bytes = (uint32_t)sizeof(*jit) + jit->data_bytes;
	assert_int_equal(shim_records_take(&f->records, jit, &f->round), 0);
	free(jit);
}

static void assert_event(const struct fixture *f, size_t i, uint32_t pid, uint64_t time_ns,
			 const char *name)
{
	const struct jitbpf_code_event *record = (const struct jitbpf_code_event *)f->out[i];
	struct code_event event;

	assert_true(i < f->count);
	assert_int_equal(record->h.type, JITBPF_CODE_EVENT);
	assert_int_equal(code_event_decode(record, record->h.size_bytes, &event), 0);
	assert_int_equal(event.pid, pid);
	assert_int_equal(event.start_ns, 77);
	assert_int_equal(event.kind, JITBPF_CODE_LOAD);
	assert_int_equal(event.origin.publisher, JITBPF_PUBLISHER_SHIM);
	assert_int_equal(event.time_ns, time_ns);
	assert_int_equal(event.reported_ns, time_ns + 5);
	assert_int_equal(event.name.size_bytes, strlen(name));
	assert_memory_equal(event.name.bytes, name, strlen(name));
}

static void assert_refused(const struct fixture *f, size_t i, uint32_t pid, uint64_t malformed,
			   uint64_t incomplete, uint64_t over_budget)
{
	const struct jitbpf_code_refused *refused = (const struct jitbpf_code_refused *)f->out[i];

	assert_true(i < f->count);
	assert_int_equal(refused->h.type, JITBPF_CODE_REFUSED);
	assert_int_equal(refused->pid, pid);
	assert_int_equal(refused->start_ns, 77);
	assert_int_equal(refused->publisher, JITBPF_PUBLISHER_SHIM);
	assert_int_equal(refused->malformed, malformed);
	assert_int_equal(refused->incomplete, incomplete);
	assert_int_equal(refused->over_budget, over_budget);
	assert_int_equal(refused->unreadable, 0);
}

/* Events come at their own times, in whatever order they were reported. */
CASE_WITH(test_whole, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit made;

	made_load(&made, 2, 2000, "second");
	send_part(f, 10, 11, &made, 0, 1, 0);
	made_load(&made, 1, 1000, "first");
	send_part(f, 10, 12, &made, 0, 1, 0);
	take_round(f);
	assert_int_equal(f->count, 2);
	assert_event(f, 0, 10, 1000, "first");
	assert_event(f, 1, 10, 2000, "second");
	assert_int_equal(f->records.unfinished.size, 0);
}

CASE_WITH(test_parts, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit a, b;

	made_load(&a, 1, 1000, "of a");
	made_load(&b, 1, 1001, "of b");
	/* Threads and processes do not mix, and a round can end in between. */
	send_part(f, 10, 1, &a, 0, 3, 0);
	send_part(f, 20, 1, &b, 0, 2, 0);
	send_part(f, 10, 2, &b, 0, 2, 0);
	send_part(f, 10, 1, &a, 1, 3, 0);
	take_round(f);
	assert_int_equal(f->count, 0);
	assert_int_equal(f->records.unfinished.size, 2);
	send_part(f, 10, 1, &a, 2, 3, 0);
	send_part(f, 10, 2, &b, 1, 2, 0);
	send_part(f, 20, 1, &b, 1, 2, 0);
	take_round(f);
	assert_int_equal(f->count, 3);
	assert_event(f, 0, 10, 1000, "of a");
	assert_event(f, 1, 10, 1001, "of b");
	assert_event(f, 2, 20, 1001, "of b");
	assert_int_equal(f->records.unfinished.size, 0);
}

/* A whole event of the same thread: the rest of the unfinished one will not come. */
CASE_WITH(test_part_missing, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit made;

	made_load(&made, 1, 1000, "cut");
	send_part(f, 10, 1, &made, 0, 2, 0);
	made_load(&made, 2, 2000, "whole");
	send_part(f, 10, 1, &made, 0, 1, 0);
	take_round(f);
	assert_int_equal(f->count, 2);
	assert_event(f, 0, 10, 2000, "whole");
	assert_refused(f, 1, 10, 0, 1, 0);
	/* The last part without the first. */
	made_load(&made, 3, 3000, "tail");
	send_part(f, 10, 1, &made, 1, 2, 0);
	take_round(f);
	assert_int_equal(f->count, 1);
	assert_refused(f, 0, 10, 0, 1, 0);
	assert_int_equal(f->records.unfinished.size, 0);
}

/* A journal's record is whole, and leaves the unfinished event of its thread as it is. */
CASE_WITH(test_journal, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit live, read;

	made_load(&live, 5, 1000, "live");
	made_load(&read, 4, 900, "read");
	send_part(f, 10, 1, &live, 0, 2, 0);
	send_part(f, 10, 1, &read, 0, 1, JITBPF_JIT_FROM_JOURNAL);
	send_part(f, 10, 1, &live, 1, 2, 0);
	send_part(f, 10, 1, &read, 0, 2, JITBPF_JIT_FROM_JOURNAL); /* not whole */
	take_round(f);
	assert_int_equal(f->count, 3);
	assert_event(f, 0, 10, 900, "read");
	assert_int_equal(f->out[0]->flags, JITBPF_EVENT_RECOVERED);
	assert_refused(f, 1, 10, 1, 0, 0);
	assert_event(f, 2, 10, 1000, "live");
	assert_int_equal(f->out[2]->flags, 0);
}

CASE_WITH(test_malformed, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit made;

	made_load(&made, 1, 1000, "name");
	made.header.version = 99;
	send_part(f, 10, 1, &made, 0, 1, 0);
	made_load(&made, 1, 1001, "name");
	made_jit_field(&made, JITBPF_JIT_ARCH, "?", 1);
	send_part(f, 10, 1, &made, 0, 1, 0);
	send_part(f, 10, 1, &made, 0, 2, 0);
	send_part(f, 10, 1, &made, 1, 2, 0);
	take_round(f);
	assert_int_equal(f->count, 2);
	assert_refused(f, 0, 10, 1, 0, 0);
	assert_int_equal(f->out[0]->flags, JITBPF_REFUSED_OTHER_VERSION);
	assert_refused(f, 1, 10, 2, 0, 0);
	assert_int_equal(f->out[1]->flags, 0);
	assert_int_equal(f->records.unfinished.size, 0);
	/* One record per process, however many they are. */
	made_load(&made, 1, 1000, "name");
	made.header.version = 99;
	for (uint32_t i = 0; i < 2 * SHIM_REFUSALS_MAX; i++) {
		send_part(f, 10 + i, 1, &made, 0, 1, 0);
		send_part(f, 10 + i, 1, &made, 0, 1, 0);
	}
	take_round(f);
	assert_int_equal(f->count, 2 * SHIM_REFUSALS_MAX);
	for (uint32_t i = 0; i < 2 * SHIM_REFUSALS_MAX; i++)
		assert_refused(f, i, 10 + i, 2, 0, 0);
}

/* More than a process may have unfinished. */
CASE_WITH(test_over_budget, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit made;

	made_load(&made, 1, 1000, "name");
	for (uint32_t tid = 1; tid <= JIT_ASSEMBLY_THREADS + 2; tid++)
		send_part(f, 10, tid, &made, 0, 2, 0);
	take_round(f);
	assert_int_equal(f->count, 1);
	assert_refused(f, 0, 10, 0, 0, 2);
	send_part(f, 10, 1, &made, 1, 2, 0);
	take_round(f);
	/* Its first part is gone, and now another thread's is. */
	assert_int_equal(f->count, 1);
	assert_refused(f, 0, 10, 0, 1, 1);
}

CASE_WITH(test_end, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit made;

	made_load(&made, 1, 1000, "name");
	for (uint32_t pid = 10; pid <= 12; pid++) {
		send_part(f, pid, 1, &made, 0, 2, 0);
		send_part(f, pid, 2, &made, 0, 2, 0);
	}
	assert_int_equal(shim_records_end(&f->records, 11, 2000, &f->round), 0);
	assert_int_equal(shim_records_end(&f->records, 99, 2000, &f->round), 0);
	take_round(f);
	assert_int_equal(f->count, 1);
	assert_refused(f, 0, 11, 0, 2, 0);
	assert_int_equal(f->out[0]->time_ns, 2000);
	assert_int_equal(shim_records_end_all(&f->records, 3000, &f->round), 0);
	take_round(f);
	assert_int_equal(f->count, 2);
	assert_refused(f, 0, 10, 0, 2, 0);
	assert_refused(f, 1, 12, 0, 2, 0);
	assert_int_equal(f->records.unfinished.size, 0);
}

/* Processes that never finish: the stalest makes room. */
CASE_WITH(test_too_many_processes, set_up, tear_down)
{
	struct fixture *f = *state;
	struct made_jit made;

	made_load(&made, 1, 1000, "name");
	for (uint32_t pid = 1; pid <= SHIM_UNFINISHED_MAX; pid++)
		send_part(f, pid, 1, &made, 0, 3, 0);
	send_part(f, 1, 1, &made, 1, 3, 0);
	send_part(f, 1000, 1, &made, 0, 3, 0);
	take_round(f);
	assert_int_equal(f->count, 1);
	assert_refused(f, 0, 2, 0, 1, 0);
	send_part(f, 1, 1, &made, 2, 3, 0);
	take_round(f);
	assert_int_equal(f->count, 1);
	assert_event(f, 0, 1, 1000, "name");
}
