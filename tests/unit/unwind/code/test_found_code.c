/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that was found in memory: addresses that were asked for, news, pieces, and their checks. */
#include <stdint.h>

#include "runtimes/runtime_readers.h"
#include "state/code/code_region.h"
#include "tests/unit/cases.h"
#include "tests/unit/unwind/unwind_world.h"
#include "unwind/code/code_checks.h"
#include "unwind/code/found_code.h"

#define PID    77
#define CODE   0x7f0000001000ull
#define SIZE   0x100
#define SECOND 1000000000ull

struct fixture {
	struct world *world;
	struct process *process;
	struct found_code found;
	struct code_checks checks;
	struct code_copies copies;
	struct code_check *check;
	struct unwind_request request;
	struct unwind_woken woken;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->world = world_create(4096, 256);
	f->process = world_process(f->world, PID);
	assert_int_equal(found_code_init(&f->found), 0);
	assert_int_equal(code_checks_init(&f->checks), 0);
	assert_int_equal(code_copies_init(&f->copies), 0);
	f->checks.found = &f->found.pieces;
	f->found.woken = &f->woken;
	world_map(f->world, &(struct world_mapping){PID, 5, CODE, 0x10000, 0, 0, "//anon", 0});
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_checks_deinit(&f->checks);
	code_copies_deinit(&f->copies);
	found_code_deinit(&f->found);
	vec_deinit(&f->woken.keys);
	world_destroy(f->world);
	free(f);
	return 0;
}

static struct runtime_identity identity_of(uint64_t value)
{
	struct runtime_identity identity = {.word[0] = {CODE - 64, UINT32_MAX, value}};

	return identity;
}

/* Ask for an address. Returns the number of the request. */
static uint32_t ask(struct fixture *f, uint64_t address)
{
	uint32_t number;

	assert_int_equal(found_code_at(&f->found, f->process, address), FOUND_NEW);
	assert_int_equal(found_code_asked(&f->found, f->process, address, &number), 0);
	assert_int_equal(found_code_at(&f->found, f->process, address), FOUND_WAITS);
	return number;
}

/* Answer with code that has an identity, or without code. */
static void answer(struct fixture *f, uint32_t number, uint64_t address, uint64_t found_ns,
		   uint64_t value, int error)
{
	static const struct runtime_reader reader = {.engine = &engine_java};
	static const struct runtime_known known = {.reader = &reader};
	struct runtime_code code = {.start = CODE, .size_bytes = SIZE};
	struct unwind_answer made = {
		.request = {.kind = UNWIND_RUNTIME_CODE,
			    .pid = PID,
			    .find = {.known = &known, .address = address, .number = number}},
		.error = error,
		.found_ns = found_ns,
		.read_ns = found_ns + 5,
	};

	if (!error) {
		code.name = strdup("pkg.A.run");
		code.source = strdup("A.java");
		code.identity = identity_of(value);
		made.code = &code;
	}
	assert_int_equal(found_code_take(&f->found, &made), 0);
	runtime_code_deinit(&code);
}

CASE_WITH(test_not_found, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t number = ask(f, CODE);
	struct found_news news;

	answer(f, number, CODE, 10, 0, -ENOENT);
	assert_int_equal(f->woken.keys.size, 1);
	assert_true(f->woken.keys.data[0] == found_code_key(f->process, CODE));
	assert_int_equal(found_code_at(&f->found, f->process, CODE), FOUND_NONE);
	assert_int_equal(found_code_at(&f->found, f->process, CODE + 1), FOUND_NEW);
	assert_false(found_code_next(&f->found, &news));
	f->found.now_ns += FOUND_NONE_NS;
	ask(f, CODE);
}

/* What changes while it is read is asked for again, but not without end. */
CASE_WITH(test_tries, setup, teardown)
{
	struct fixture *f = *state;

	f->found.now_ns = 10 * SECOND;
	for (uint32_t i = 0; i < FOUND_TRIES; i++)
		answer(f, ask(f, CODE), CODE, 10, 0, -EAGAIN);
	assert_int_equal(found_code_at(&f->found, f->process, CODE), FOUND_NONE);
	f->found.now_ns += FOUND_SECOND_NS;
	ask(f, CODE);
}

/* News come when all events up to the read are known. */
CASE_WITH(test_news, setup, teardown)
{
	struct fixture *f = *state;
	struct found_news news;

	answer(f, ask(f, CODE + 8), CODE + 8, 100, 3, 0);
	f->found.now_ns = 104;
	assert_false(found_code_next(&f->found, &news));
	f->found.now_ns = 105;
	assert_true(found_code_next(&f->found, &news));
	assert_ptr_equal(news.process, f->process);
	assert_ptr_equal(news.engine, &engine_java);
	assert_int_equal(news.found_ns, 100);
	assert_string_equal(news.code.name, "pkg.A.run");
	assert_int_equal(found_code_keep(&f->found, &news), 0);
	runtime_code_deinit(&news.code);
	assert_false(found_code_next(&f->found, &news));
	assert_int_equal(found_pieces_at(&f->found.pieces, f->process, CODE)->found_ns, 100);
	assert_null(found_pieces_at(&f->found.pieces, f->process, CODE + 8));
	found_pieces_end(&f->found.pieces, f->process, CODE);
	assert_null(found_pieces_at(&f->found.pieces, f->process, CODE));
	assert_int_equal(f->found.pieces.budget.used, 0);
}

/* Another program runs by then: its memory is another one. */
CASE_WITH(test_exec, setup, teardown)
{
	struct fixture *f = *state;
	struct found_news news;

	answer(f, ask(f, CODE), CODE, 100, 3, 0);
	answer(f, ask(f, CODE + 1), CODE + 1, 100, 3, 0);
	f->found.now_ns = 200;
	assert_true(found_code_next(&f->found, &news));
	assert_int_equal(found_code_keep(&f->found, &news), 0);
	runtime_code_deinit(&news.code);
	f->process->program_ns = 150;
	assert_false(found_code_next(&f->found, &news));
	assert_null(found_pieces_at(&f->found.pieces, f->process, CODE));
}

/* Pieces without end: an owner has its share, and no more. */
CASE_WITH(test_budget, setup, teardown)
{
	struct fixture *f = *state;
	struct found_news news = {.process = f->process,
				  .engine = &engine_java,
				  .program_ns = f->process->program_ns,
				  .code = {.start = CODE, .size_bytes = 16}};
	uint32_t kept = 0;

	f->found.pieces.budget.limit = 100;
	for (uint32_t i = 0; i < 200; i++) {
		int err = found_code_keep(&f->found, &news);

		assert_true(!err || err == -EDQUOT);
		kept += !err;
		news.code.start += 16;
	}
	assert_true(kept >= 50 && kept < 100);
	assert_int_equal(f->found.pieces.budget.used, kept);
	found_pieces_end(&f->found.pieces, f->process, CODE);
	assert_int_equal(found_code_keep(&f->found, &news), 0);
}

/* Requests without answers: an owner has its share of the places. */
CASE_WITH(test_places, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t asked = 0, number;
	int err = 0;

	for (uint32_t i = 0; i < FOUND_PLACES_MAX && !err; i++) {
		err = found_code_asked(&f->found, f->process, CODE + i, &number);
		asked += !err;
	}
	assert_int_equal(err, -EBUSY);
	assert_true(asked > FOUND_PLACES_MAX / 2);
	for (uint32_t i = 0; i < asked; i++)
		found_code_drop_request(&f->found, i);
	assert_int_equal(found_code_asked(&f->found, f->process, CODE + asked, &number), 0);
}

CASE_WITH(test_retired, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t number = ask(f, CODE);
	struct found_news news;

	answer(f, ask(f, CODE + 1), CODE + 1, 100, 3, 0);
	answer(f, ask(f, CODE + 2), CODE + 2, 100, 3, 0);
	f->found.now_ns = 200;
	assert_true(found_code_next(&f->found, &news));
	assert_int_equal(found_code_keep(&f->found, &news), 0);
	runtime_code_deinit(&news.code);
	f->process->exit_ns = 100;
	process_table_forget(&f->world->processes, 100 + PROCESS_GRACE_NS);
	process_table_forget(&f->world->processes, 101 + PROCESS_KEEP_NS);
	unwinder_forget_processes(f->world->unwinder, f->world->processes.leaving.data,
				  f->world->processes.leaving.size);
	found_code_forget_retired(&f->found);
	assert_int_equal(f->found.pieces.budget.used, 0);
	assert_false(found_code_next(&f->found, &news));
	answer(f, number, CODE, 300, 4, 0);
	assert_int_equal(f->found.index.size, 0);
	assert_false(found_code_next(&f->found, &news));
}

/* --- checks ------------------------------------------------------------------------------ */

/* A region that was found at 100, and may have run from 10 on. */
static void find(struct fixture *f, uint64_t value)
{
	struct jitbpf_code_event load = {
		.h = {.size_bytes = sizeof(load), .type = JITBPF_CODE_EVENT, .time_ns = 10},
		.pid = PID,
		.reported_ns = 10,
		.since_ns = 10,
		.publisher = JITBPF_PUBLISHER_FOUND,
		.kind = JITBPF_CODE_LOAD,
		.address = CODE,
		.code_bytes = SIZE,
	};
	struct found_news news = {.process = f->process,
				  .program_ns = f->process->program_ns,
				  .engine = &engine_java,
				  .found_ns = 100,
				  .code = {.start = CODE, .size_bytes = SIZE}};
	struct code_event event;

	if (value)
		news.code.identity = identity_of(value);
	assert_int_equal(code_event_decode(&load, sizeof(load), &event), 0);
	event.origin.engine = process_code_engine(f->process, &event);
	assert_int_equal(process_code_apply(f->process, &event), 0);
	assert_int_equal(found_code_keep(&f->found, &news), 0);
	assert_int_equal(code_checks_mapped(&f->checks, f->process, CODE, CODE + SIZE, 50), 0);
	code_checks_of(&f->checks, f->process)->has_found = true;
}

static void end_region(struct fixture *f, uint64_t time_ns)
{
	const struct code_event event = {.origin.publisher = JITBPF_PUBLISHER_FOUND,
					 .pid = PID,
					 .time_ns = time_ns,
					 .reported_ns = time_ns,
					 .kind = JITBPF_CODE_REPLACED,
					 .address = CODE,
					 .size_bytes = SIZE};

	assert_int_equal(process_code_apply(f->process, &event), 0);
}

static enum code_trust trust(struct fixture *f, uint64_t time_ns)
{
	return code_checks_trust(&f->checks, code_checks_of(&f->checks, f->process), CODE + 8,
				 time_ns, &f->check);
}

static void check(struct fixture *f, uint64_t read_ns, bool differs)
{
	struct unwind_answer made = {.read_ns = read_ns, .differs = differs};

	assert_true(code_checks_request(&f->checks, f->check, &f->copies, &made.request));
	assert_int_equal(made.request.kind, UNWIND_CODE_CHECK);
	assert_non_null(made.request.code.check.identity);
	assert_null(made.request.code.copy);
	code_checks_take(&f->checks, &f->copies, &made);
}

/* A sample that is newer than the last look at the words waits for the next one. */
CASE_WITH(test_checked, setup, teardown)
{
	struct fixture *f = *state;
	struct code_verdict verdict;

	find(f, 3);
	assert_int_equal(trust(f, 60), CODE_VOUCHED); /* the mapping of the memory says nothing */
	assert_int_equal(trust(f, 100), CODE_VOUCHED);
	assert_int_equal(trust(f, 101), CODE_WAITS);
	check(f, 120, false);
	assert_int_equal(trust(f, 120), CODE_VOUCHED);
	assert_int_equal(trust(f, 130), CODE_WAITS);
	f->checks.now_ns += CODE_CHECK_PAUSE_MAX;
	check(f, 140, true);
	assert_true(code_checks_take_verdict(&f->checks, &verdict));
	assert_int_equal(verdict.since_ns, 121);
	assert_int_equal(verdict.publisher, JITBPF_PUBLISHER_FOUND);
	assert_int_equal(trust(f, 130), CODE_UNKNOWN);
	end_region(f, verdict.since_ns);
	assert_int_equal(trust(f, 120), CODE_VOUCHED);
	assert_null(found_pieces_at(&f->found.pieces, f->process, CODE));
}

/* An interpreter has no words: its code stays. */
CASE_WITH(test_never_replaced, setup, teardown)
{
	struct fixture *f = *state;

	find(f, 0);
	assert_int_equal(trust(f, 10000), CODE_VOUCHED);
}

/* Code of a parent, whose words are not known in the child. */
CASE_WITH(test_without_words, setup, teardown)
{
	struct fixture *f = *state;
	struct code_verdict verdict;

	find(f, 3);
	found_pieces_end(&f->found.pieces, f->process, CODE);
	assert_int_equal(trust(f, 130), CODE_UNKNOWN);
	assert_true(code_checks_take_verdict(&f->checks, &verdict));
	assert_int_equal(verdict.since_ns, 11);
}

/* Other code was found there: the first one was there until its last check. */
CASE_WITH(test_other_found, setup, teardown)
{
	struct fixture *f = *state;
	const struct code_region *region;
	struct code_verdict verdict;

	find(f, 3);
	region = code_map_next(f->process->code, CODE);
	assert_int_equal(trust(f, 101), CODE_WAITS);
	check(f, 120, false);
	f->checks.now_ns = 200;
	code_checks_end_found(&f->checks, f->process, region);
	assert_true(code_checks_take_verdict(&f->checks, &verdict));
	assert_int_equal(verdict.since_ns, 121);
	assert_int_equal(verdict.decided_ns, 201);
	assert_false(verdict.unchecked);
}
