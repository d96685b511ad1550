/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Which entries a compaction may drop: random logs, replayed whole and without
 * what it would drop, must leave the same; and by rules, what it must drop.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "jitapi-shim/caller_engine.h"
#include "jitapi-shim/log_liveness.h"
#include "tests/shim/journal_model.h"
#include "uapi/jit_journal.h"

#define ENTRIES_MAX 1200
#define RANDOM_MAX  200
#define RUNS	    20000
#define WAITING_MAX 1024	 /* inlined ones that may wait for their parents for any time */
#define EVENT_NS    200000000ull /* between two events */
#define WAIT_EVENTS 50		 /* any number may wait so long */

struct log {
	struct jitbpf_journal_entry entries[ENTRIES_MAX];
	uint32_t count;
	struct jitbpf_journal_unsure unsure;
};

#define IN_NO_FILE 3

/*
 * Two call sites of one engine, here; one of another, somewhere in libc; and one
 * that may be any engine's.
 */
static uint64_t caller_of(uint32_t site)
{
	switch (site) {
	case 0:
		return (uintptr_t)caller_of;
	case 1:
		return (uintptr_t)model_apply;
	case IN_NO_FILE:
		return 0x1000;
	}
	return (uintptr_t)stdout;
}

static uint32_t engine_of(uint64_t caller)
{
	return caller == caller_of(IN_NO_FILE) ? 2 : caller == caller_of(2);
}

static void put(struct log *log, struct jitbpf_jit_header header)
{
	struct jitbpf_journal_entry *entry = &log->entries[log->count];

	assert_true(log->count < ENTRIES_MAX);
	if (!header.caller)
		header.caller = caller_of(0);
	header.sequence = log->count++;
	header.time_ns = header.sequence * EVENT_NS;
	header.size_bytes = sizeof(header);
	*entry = (struct jitbpf_journal_entry){
		.size_bytes = sizeof(*entry),
		.commit = JITBPF_JOURNAL_COMMITTED,
		.header = header,
	};
}

static void load(struct log *log, uint32_t id, uint64_t address, uint64_t size)
{
	put(log, (struct jitbpf_jit_header){
			 .event = 13, .method_id = id, .address = address, .code_bytes = size});
}

static void inlined(struct log *log, uint32_t id, uint32_t parent, uint64_t address, uint64_t size)
{
	put(log, (struct jitbpf_jit_header){.event = 16,
					    .method_id = id,
					    .parent_id = parent,
					    .address = address,
					    .code_bytes = size});
}

static void unload(struct log *log, uint32_t id, uint32_t site)
{
	put(log,
	    (struct jitbpf_jit_header){.event = 14, .method_id = id, .caller = caller_of(site)});
}

static void judge(const struct log *log, bool *ret_stays)
{
	AUTO_FREE void *memory = malloc(log_liveness_bytes(log->count));

	assert_non_null(memory);
	memcpy(ret_stays, log_liveness_judge(log->entries, log->count, &log->unsure, memory, NULL),
	       log->count);
}

/* expected: 'k' keeps, '-' drops, one letter an entry. */
static void expect(const struct log *log, const char *expected)
{
	bool stays[ENTRIES_MAX];
	char got[ENTRIES_MAX + 1] = "";

	judge(log, stays);
	for (uint32_t i = 0; i < log->count; i++)
		got[i] = stays[i] ? 'k' : '-';
	assert_string_equal(got, expected);
}

static void test_overwritten(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	load(&log, 2, 0x1200, 0x100);
	load(&log, 3, 0x10ff, 0x102); /* both, by a byte */
	load(&log, 4, 0x1300, 0x100);
	expect(&log, "--kk");
}

static void thread(struct log *log, uint32_t tid, bool begins)
{
	put(log, (struct jitbpf_jit_header){.event = begins ? JIT_EVENT_JVM_THREAD
							    : JIT_EVENT_JVM_THREAD_END,
					    .tid = 3,
					    .method_id = tid});
}

static void test_threads(void **state)
{
	struct log log = {0};

	load(&log, 5, 0x1000, 0x100);
	thread(&log, 5, true);
	thread(&log, 6, true);
	thread(&log, 7, true);
	thread(&log, 7, false);
	thread(&log, 5, true);
	unload(&log, 6, 0);
	thread(&log, 8, false);
	expect(&log, "k-k--k--");
	thread(&log, 6, false);
	thread(&log, 7, true);
	expect(&log, "k----k---k");
}

static void test_many_threads(void **state)
{
	struct log log = {0};
	bool stays[ENTRIES_MAX];
	uint32_t count = 0;

	for (uint32_t i = 0; i < ENTRIES_MAX / 2; i++) {
		thread(&log, i % 100 + 1, true);
		thread(&log, i % 50 + 1, false);
	}
	judge(&log, stays);
	for (uint32_t i = 0; i < log.count; i++)
		count += stays[i];
	assert_int_equal(count, 50); /* those above 50 */
}

static void test_unloaded(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	load(&log, 2, 0x2000, 0x100);
	unload(&log, 1, 1); /* from another place in the same engine */
	load(&log, 1, 0x3000, 0x100);
	expect(&log, "-k-k");
}

static void test_unloaded_by_another_engine(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	unload(&log, 1, 2);
	expect(&log, "k-");
	load(&log, 2, 0x1000, 0x100);
	expect(&log, "--k");
}

static void test_unloaded_by_range(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	load(&log, 2, 0x2000, 0x100);
	put(&log, (struct jitbpf_jit_header){.event = 14, .address = 0x1000, .code_bytes = 0x100});
	put(&log, (struct jitbpf_jit_header){.event = 14, .address = 0x1fff, .code_bytes = 2});
	expect(&log, "----");
	load(&log, 3, 0x3000, 0x100);
	put(&log, (struct jitbpf_jit_header){.event = 14, .address = 0x3001, .code_bytes = 0x100});
	expect(&log, "----kk"); /* who knows whether the last one meant it */
}

/* The first part of a function names the second: it stays, and so does what ended it. */
static void test_first_of_its_method(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	load(&log, 1, 0x2000, 0x100);
	load(&log, 2, 0x1000, 0x100);
	load(&log, 3, 0x1000, 0x100);
	expect(&log, "kkkk");
	unload(&log, 1, 0);
	expect(&log, "---k-");
}

/* A method without code stays, and then with the loads that it names. */
static void test_registered(void **state)
{
	struct log log = {0};

	load(&log, 1, 0, 0);
	load(&log, 2, 0, 0x10);
	load(&log, 1, 0, 0);
	expect(&log, "kk-");
	load(&log, 1, 0x1000, 0x100);
	load(&log, 1, 0x2000, 0x100);
	expect(&log, "kk-kk");
	unload(&log, 2, 0);
	load(&log, 3, 0x1000, 0x100);
	expect(&log, "k--kk-k");
	unload(&log, 1, 0);
	expect(&log, "------k-");
}

static void test_update_of_a_part_that_is_dead(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	load(&log, 1, 0x2000, 0x100);
	put(&log, (struct jitbpf_jit_header){.event = 17, .address = 0x1080, .code_bytes = 16});
	load(&log, 2, 0x1000, 0x100);
	expect(&log, "kkkk");
}

static void test_unknown_engines(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	put(&log, (struct jitbpf_jit_header){.event = 13,
					     .method_id = 1,
					     .address = 0x10ff,
					     .code_bytes = 1,
					     .caller = caller_of(IN_NO_FILE)});
	expect(&log, "-k"); /* engines do not matter */
	unload(&log, 3, 0);
	expect(&log, "kkk");
}

static void test_waits_for_its_parent(void **state)
{
	struct log log = {0};

	inlined(&log, 2, 1, 0x1010, 0x40);
	while (log.count < 60)
		load(&log, 3, 0x3000, 0x100);
	expect(&log, "k----------------------------------------------------------k");
	load(&log, 1, 0x1000, 0x100);
	expect(&log, "k----------------------------------------------------------kk");
}

/* Returns the number of inlined methods that stay; the others are older. */
static uint32_t waiting(const struct log *log)
{
	bool stays[ENTRIES_MAX];
	uint32_t count = 0;

	judge(log, stays);
	for (uint32_t i = 0; i < log->count; i++) {
		const struct jitbpf_jit_header *header = &log->entries[i].header;

		if (header->event != 16)
			continue;
		assert_true(stays[i] || !count);
		count += stays[i];
	}
	return count;
}

static void test_only_some_wait_for_long(void **state)
{
	struct log log = {0};

	while (log.count < WAITING_MAX)
		inlined(&log, 2, 1, 0x1010 + log.count, 0x40);
	assert_int_equal(waiting(&log), WAITING_MAX);
	while (log.count < WAITING_MAX + WAIT_EVENTS)
		inlined(&log, 2, 1, 0x1010 + log.count, 0x40);
	assert_int_equal(waiting(&log), WAITING_MAX);
	/* All events of one moment: none has waited for long. */
	for (uint32_t i = 0; i < log.count; i++)
		log.entries[i].header.time_ns = 0;
	assert_int_equal(waiting(&log), log.count);
}

static void test_inlined(void **state)
{
	struct log log = {0};

	inlined(&log, 3, 2, 0x1020, 0x10); /* children first */
	inlined(&log, 2, 1, 0x1010, 0x40);
	load(&log, 1, 0x1000, 0x100);
	inlined(&log, 4, 1, 0x1080, 0x10);
	expect(&log, "kkkk");
	load(&log, 9, 0x10f0, 0x100);
	expect(&log, "----k");
}

/* One method is inlined twice at one place, and only the longer copy has room for its child. */
static void test_fits_in_one_of_its_parents(void **state)
{
	struct log log = {0};

	inlined(&log, 3, 2, 0x1010, 0x10);
	inlined(&log, 2, 1, 0x1010, 0x08);
	inlined(&log, 2, 1, 0x1010, 0x10);
	inlined(&log, 4, 2, 0x1010, 0x18); /* in neither */
	load(&log, 1, 0x1000, 0x100);
	expect(&log, "kkk-k");
}

static void test_changes(void **state)
{
	struct log log = {0};

	load(&log, 1, 0x1000, 0x100);
	put(&log, (struct jitbpf_jit_header){
			  .event = 15, .method_id = 1, .address = 0x1010, .code_bytes = 16});
	put(&log, (struct jitbpf_jit_header){.event = 17, .address = 0x10ff, .code_bytes = 16});
	put(&log, (struct jitbpf_jit_header){.event = 17, .address = 0x1100, .code_bytes = 16});
	put(&log, (struct jitbpf_jit_header){.event = 2});
	put(&log, (struct jitbpf_jit_header){.event = 19, .method_id = 1});
	expect(&log, "kkk---");
	unload(&log, 1, 0);
	expect(&log, "-------");
}

static void test_what_cannot_be(void **state)
{
	struct log log = {0};

	load(&log, 0, 0, 0x100);
	load(&log, 1, 0x1000, 0);
	load(&log, 0, 0x1000, 0x100);
	load(&log, 1, UINT64_MAX - 0x10, 0x100);
	load(&log, 1, 0x10, UINT64_MAX);
	load(&log, 1, UINT64_MAX - 0x10, 0x10);
	expect(&log, "-----k");
}

static uint32_t pick(uint32_t count)
{
	return (uint32_t)random() % count;
}

static void put_random(struct log *log, uint32_t sites)
{
	static const uint16_t events[] = {13, 13, 13, 21, 22, 16, 16, 16, 14, 14, 15, 17, 2, 19};
	struct jitbpf_jit_header header = {
		.event = events[pick(ARRAY_SIZE(events))],
		.caller = caller_of(pick(sites)),
		.method_id = pick(6),
		.parent_id = pick(6),
		.address = 0x10000 + pick(24) * 8,
		.code_bytes = pick(6) * 8,
	};

	if (!pick(24))
		header.address = 0;
	if (header.event == 14 && pick(3))
		header.method_id = 0;
	if (header.event == 16)
		header.code_bytes = pick(3) * 8;
	put(log, header);
}

static void replay(struct model *model, const struct jitbpf_jit_header *event)
{
	model_apply(model, event, engine_of(event->caller));
}

static void test_random_logs_mean_the_same_without(void **state)
{
	AUTO_FREE struct model *whole = malloc(sizeof(*whole));
	AUTO_FREE struct model *compact = malloc(sizeof(*compact));
	static struct log log;
	size_t dropped = 0, inlined_live = 0;

	assert_true(whole && compact);
	for (unsigned int seed = 0; seed < RUNS; seed++) {
		bool stays[ENTRIES_MAX];
		uint32_t count;

		log.count = 0;
		srandom(seed);
		count = 1 + pick(pick(4) ? 30 : RANDOM_MAX);
		while (log.count < count)
			put_random(&log, seed % 4 ? 3 : 4);
		judge(&log, stays);
		whole->count = compact->count = 0;
		whole->unload_count = compact->unload_count = 0;
		for (uint32_t i = 0; i < log.count; i++) {
			replay(whole, &log.entries[i].header);
			if (stays[i])
				replay(compact, &log.entries[i].header);
			dropped += !stays[i];
			/* A reader that lost events believes what it reads until that ends. */
			if (!model_within(compact, whole))
				fail_msg("seed %u, entry %u of %u", seed, i, count);
		}
		if (!model_equal(whole, compact))
			fail_msg("seed %u, %u entries", seed, count);
		for (size_t i = 0; i < whole->count; i++)
			inlined_live +=
				whole->regions[i].live && whole->regions[i].host != MODEL_NOBODY;
	}
	print_message("dropped %zu, inlined %zu\n", dropped, inlined_live);
	assert_true(dropped > RUNS && inlined_live > RUNS / 10); /* it was worth it */
}

/* Extends the range as the shim does for an event that has no entry. */
static void lose(struct log *log, const struct jitbpf_jit_header *event)
{
	struct jitbpf_journal_unsure *unsure = &log->unsure;
	uint64_t start = event->address, end = start + event->code_bytes;
	bool by_id = event->event == 14 && event->method_id;

	if (event->event == 16 || event->event == 2 || event->event == 19)
		return;
	if (by_id) {
		start = 0;
		end = UINT64_MAX;
	}
	if (start >= end || (!start && !by_id))
		return;
	unsure->before = event->sequence + 1;
	unsure->start = start < unsure->start ? start : unsure->start;
	unsure->end = end > unsure->end ? end : unsure->end;
}

/*
 * A dead load from which a live one has its name stays with the load that ended it. If that one may
 * have ended by a lost event, both go: without it, the dead load would be live again.
 */
static void test_a_name_goes_with_what_ended_it(void **state)
{
	struct log log = {.unsure = {.before = 4, .start = 0x120, .end = 0x130}};

	load(&log, 1, 0x100, 0x10);
	load(&log, 1, 0x200, 0x10);
	load(&log, 2, 0x108, 0x20);
	expect(&log, "-k-");
	log.unsure = (struct jitbpf_journal_unsure){.start = UINT64_MAX};
	expect(&log, "kkk");
}

/*
 * Logs that lack every sixteenth event or so: what stays, without what may have ended, is part of
 * what is live. Where loads share IDs, one may have its name from another one of the same method,
 * since the first one is lost.
 */
static void test_random_logs_that_lack_events(void **state)
{
	AUTO_FREE struct model *whole = malloc(sizeof(*whole));
	AUTO_FREE struct model *known = malloc(sizeof(*known));
	static struct log log;
	size_t sure = 0, in_doubt = 0;

	assert_true(whole && known);
	for (unsigned int seed = 0; seed < RUNS; seed++) {
		uint32_t sequence = 0, events;
		bool stays[ENTRIES_MAX];

		srandom(seed);
		log.count = 0;
		log.unsure = (struct jitbpf_journal_unsure){.start = UINT64_MAX};
		whole->count = known->count = 0;
		whole->unload_count = known->unload_count = 0;
		for (events = 1 + pick(60); events--; sequence++) {
			struct jitbpf_jit_header *event = &log.entries[log.count].header;

			put_random(&log, 3);
			event->sequence = sequence;
			event->event = event->event == 16 ? 13 : event->event;
			if (jit_event_is_load(event->event) && seed % 2)
				event->method_id = 1 + sequence;
			replay(whole, event);
			if (pick(16))
				continue;
			lose(&log, event);
			log.count--;
		}
		if (!log.count)
			continue;
		judge(&log, stays);
		for (uint32_t i = 0; i < log.count; i++) {
			const struct jitbpf_jit_header *event = &log.entries[i].header;
			bool unsure = jitbpf_journal_is_unsure(&log.unsure, event);

			assert_false(unsure && stays[i]);
			if (stays[i])
				replay(known, event);
			in_doubt += unsure;
		}
		if (!model_known(known, whole))
			fail_msg("seed %u, %u entries", seed, log.count);
		sure += log.unsure.before ? model_live(known) : 0;
	}
	print_message("sure %zu, in doubt %zu\n", sure, in_doubt);
	assert_true(sure > RUNS / 10 && in_doubt > RUNS / 10);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_overwritten),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_many_threads),
		cmocka_unit_test(test_unloaded),
		cmocka_unit_test(test_unloaded_by_another_engine),
		cmocka_unit_test(test_unloaded_by_range),
		cmocka_unit_test(test_first_of_its_method),
		cmocka_unit_test(test_registered),
		cmocka_unit_test(test_update_of_a_part_that_is_dead),
		cmocka_unit_test(test_unknown_engines),
		cmocka_unit_test(test_waits_for_its_parent),
		cmocka_unit_test(test_only_some_wait_for_long),
		cmocka_unit_test(test_inlined),
		cmocka_unit_test(test_fits_in_one_of_its_parents),
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_what_cannot_be),
		cmocka_unit_test(test_random_logs_mean_the_same_without),
		cmocka_unit_test(test_a_name_goes_with_what_ended_it),
		cmocka_unit_test(test_random_logs_that_lack_events),
	};

	caller_engines_find_files();
	return cmocka_run_group_tests_name("shim: liveness", tests, NULL, NULL);
}
