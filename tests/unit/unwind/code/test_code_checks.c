/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code whose memory was mapped again: vouched for, waiting, unknown. */
#include <stdint.h>

#include "state/code/code_region.h"
#include "tests/unit/cases.h"
#include "tests/unit/unwind/unwind_world.h"
#include "unwind/code/code_checks.h"

#define PID   77
#define CODE  0x7f0000001000ull
#define SIZE  0x100
#define ROUND 50000000ull

struct fixture {
	struct world *world;
	struct process *process;
	struct code_checks checks;
	struct code_copies copies, large;
	struct code_check *check;
	struct unwind_request request;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	assert_non_null(f);
	f->world = world_create(4096, 256);
	f->process = world_process(f->world, PID);
	assert_int_equal(code_checks_init(&f->checks), 0);
	assert_int_equal(code_copies_init(&f->copies), 0);
	assert_int_equal(code_copies_init(&f->large), 0);
	world_map(f->world, &(struct world_mapping){PID, 5, CODE, 0x10000, 0, 0, "//anon", 0});
	world_load(f->world, PID, 10, CODE, SIZE);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_checks_deinit(&f->checks);
	code_copies_deinit(&f->copies);
	code_copies_deinit(&f->large);
	world_destroy(f->world);
	free(f);
	return 0;
}

static void event(struct fixture *f, uint64_t time_ns)
{
	assert_int_equal(code_checks_mapped(&f->checks, f->process, CODE, CODE + 0x10000, time_ns),
			 0);
}

static enum code_trust trust_at(struct fixture *f, uint64_t address, uint64_t time_ns)
{
	struct code_doubts *doubts = code_checks_of(&f->checks, f->process);

	return doubts ? code_checks_trust(&f->checks, doubts, address, time_ns, &f->check)
		      : CODE_VOUCHED;
}

static enum code_trust trust(struct fixture *f, uint64_t time_ns)
{
	return trust_at(f, CODE + 8, time_ns);
}

static bool request(struct fixture *f)
{
	return code_checks_request(&f->checks, f->check, &f->copies, &f->request);
}

/* The answer has bytes if it is of a read. */
static void answer(struct fixture *f, uint64_t read_ns, int error, bool differs)
{
	uint8_t bytes[4] = {1, 2, 3, 4};
	struct unwind_answer answer = {
		.request = f->request,
		.read_ns = read_ns,
		.error = error,
		.differs = differs,
		.bytes = error ? NULL : bytes,
		.bytes_read = error ? 0 : sizeof(bytes),
	};

	code_checks_take(&f->checks, &f->copies, &answer);
}

/* Takes the only verdict. */
static struct code_verdict verdict_of(struct fixture *f)
{
	struct code_verdict verdict, none;

	assert_true(code_checks_take_verdict(&f->checks, &verdict));
	assert_false(code_checks_take_verdict(&f->checks, &none));
	return verdict;
}

CASE_WITH(test_no_event, setup, teardown)
{
	struct fixture *f = *state;

	assert_int_equal(trust(f, 100), CODE_VOUCHED);
	/* From before the load, and at other addresses. */
	event(f, 9);
	assert_int_equal(code_checks_mapped(&f->checks, f->process, 0x1000, 0x2000, 20), 0);
	assert_null(code_checks_of(&f->checks, f->process));
}

CASE_WITH(test_passes, setup, teardown)
{
	struct fixture *f = *state;

	event(f, 20);
	assert_int_equal(trust(f, 19), CODE_VOUCHED);
	assert_int_equal(trust(f, 20), CODE_WAITS);
	assert_true(request(f));
	assert_false(request(f)); /* once */
	assert_int_equal(f->request.code.address, CODE);
	assert_int_equal(f->request.code.size_bytes, SIZE);
	assert_null(f->request.code.copy);
	answer(f, 30, 0, false);
	assert_int_equal(trust(f, 20), CODE_VOUCHED);
	assert_int_equal(trust(f, 1000), CODE_VOUCHED);
	assert_int_equal(f->checks.trusted, 1);
	assert_int_equal(code_copies_find(&f->copies, f->request.code.region)->size_bytes, 4);
	/* The read came before this event. */
	event(f, 31);
	assert_int_equal(trust(f, 30), CODE_VOUCHED);
	assert_int_equal(trust(f, 31), CODE_WAITS);
	assert_false(request(f)); /* not so soon */
	f->checks.now_ns = ROUND;
	assert_true(request(f));
	assert_int_equal(f->request.code.copy_bytes, 4);
	answer(f, 40, 0, false);
	assert_int_equal(f->checks.trusted, 1);
	assert_int_equal(f->checks.verdicts.size, 0);
}

CASE_WITH(test_fails, setup, teardown)
{
	struct fixture *f = *state;
	struct code_verdict verdict;

	event(f, 20);
	event(f, 25);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	assert_true(request(f));
	assert_int_equal(trust(f, 40), CODE_WAITS);
	f->checks.now_ns = 100;
	answer(f, 50, 0, true);
	verdict = verdict_of(f);
	assert_int_equal(verdict.address, CODE);
	assert_int_equal(verdict.size_bytes, SIZE);
	assert_int_equal(verdict.since_ns, 20);
	assert_false(verdict.unchecked);
	assert_int_equal(trust(f, 40), CODE_UNKNOWN);
	assert_int_equal(trust(f, 19), CODE_VOUCHED);
}

/* Errors that may pass are no verdict; others are. */
CASE_WITH(test_errors, setup, teardown)
{
	struct fixture *f = *state;

	event(f, 20);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	assert_true(request(f));
	answer(f, 30, -ETIMEDOUT, false);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	f->checks.now_ns += ROUND;
	assert_true(request(f));
	answer(f, 40, -ESRCH, false);
	assert_true(verdict_of(f).unchecked);
	assert_int_equal(trust(f, 22), CODE_UNKNOWN);
}

/* A region that is replaced while it waits can be checked no more. */
CASE_WITH(test_loaded_meanwhile, setup, teardown)
{
	static const struct jitbpf_code_event elsewhere = {
		.kind = JITBPF_CODE_LOAD, .address = CODE + SIZE, .code_bytes = SIZE};
	static const struct jitbpf_code_event here = {
		.kind = JITBPF_CODE_LOAD, .address = CODE - 8, .code_bytes = 9};
	struct fixture *f = *state;
	struct code_verdict verdict;

	event(f, 20);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	assert_true(request(f));
	code_checks_code_changes(&f->checks, f->process, &elsewhere, 50);
	assert_int_equal(f->checks.verdicts.size, 0);
	code_checks_code_changes(&f->checks, f->process, &here, 60);
	verdict = verdict_of(f);
	assert_true(verdict.unchecked);
	assert_int_equal(verdict.since_ns, 20);
	world_load(f->world, PID, 60, CODE, SIZE);
	assert_int_equal(trust(f, 59), CODE_UNKNOWN);
	assert_int_equal(trust(f, 60), CODE_VOUCHED);
	answer(f, 70, 0, true); /* too late */
	assert_int_equal(f->checks.verdicts.size, 0);
	event(f, 80);
	assert_int_equal(trust(f, 90), CODE_WAITS);
	assert_true(request(f));
}

/* A region that ended before a sample in it was looked at. */
CASE_WITH(test_ended, setup, teardown)
{
	struct fixture *f = *state;

	event(f, 20);
	world_load(f->world, PID, 60, CODE, SIZE);
	assert_int_equal(trust(f, 30), CODE_ENDED);
	assert_null(f->check);
	assert_int_equal(trust(f, 60), CODE_VOUCHED);
}

/* Unloads by id, moves, and events that may end anything. */
CASE_WITH(test_ends, setup, teardown)
{
	const struct jitbpf_code_event events[] = {
		{.kind = JITBPF_CODE_UNLOAD, .method_id = 10},
		{.kind = JITBPF_CODE_UNLOAD, .address = CODE, .code_bytes = 1},
		{.kind = JITBPF_CODE_MOVE, .old_address = CODE, .address = CODE + 0x8000},
	};
	const struct jitbpf_code_event others[] = {
		{.kind = JITBPF_CODE_UNLOAD, .method_id = 11},
		{.kind = JITBPF_CODE_INLINE, .address = CODE, .code_bytes = SIZE},
		{.kind = JITBPF_CODE_LINES, .address = CODE, .code_bytes = SIZE},
	};
	struct fixture *f = *state;

	event(f, 20);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		assert_int_equal(trust(f, 22), CODE_WAITS);
		code_checks_code_changes(&f->checks, f->process, &others[i], 30);
		assert_int_equal(f->checks.verdicts.size, 0);
	}
	for (size_t i = 0; i <= ARRAY_SIZE(events); i++) {
		const uint64_t time_ns = 50 + 20 * i;

		event(f, time_ns);
		assert_int_equal(trust(f, time_ns), CODE_WAITS);
		code_checks_code_changes(&f->checks, f->process,
					 i < ARRAY_SIZE(events) ? &events[i] : NULL, time_ns + 5);
		verdict_of(f);
		assert_int_equal(trust(f, time_ns), CODE_UNKNOWN);
		assert_int_equal(trust(f, time_ns + 5), CODE_WAITS);
	}
}

/* Engines that toggle the protection all the time: each region is checked seldom. */
CASE_WITH(test_rate, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t now_ns = ROUND;
	uint32_t checked = 0;

	for (uint32_t i = 0; i < 200; i++, now_ns += ROUND / 10) {
		f->checks.now_ns = now_ns;
		event(f, now_ns);
		if (trust(f, now_ns) == CODE_WAITS && request(f)) {
			answer(f, now_ns + 1, 0, false);
			checked++;
		}
	}
	assert_in_range(checked, 3, 10);
	/* No sample waits longer than a deferred one may. */
	assert_true(CODE_CHECK_PAUSE_MAX < 1000000000);
}

/* Checks of a process are bounded, and those of others are not affected. */
CASE_WITH(test_budget, setup, teardown)
{
	struct fixture *f = *state;
	uint32_t sent = 0;

	for (uint32_t i = 0; i < CODE_CHECKS_PER_S + 100; i++)
		world_load(f->world, PID, 11, CODE + 0x1000 + i * 16, 16);
	event(f, 20);
	for (uint32_t i = 0; i < CODE_CHECKS_PER_S + 100; i++) {
		assert_int_equal(trust_at(f, CODE + 0x1000 + i * 16, 30), CODE_WAITS);
		sent += request(f);
	}
	assert_int_equal(sent, CODE_CHECKS_PER_S);
	f->checks.now_ns = 1000000000;
	assert_true(request(f));
}

/*
 * Samples of one owner wait for more checks than there are. What is beyond the owner's share is
 * unknown at once, and others have checks.
 */
CASE_WITH(test_share, setup, teardown)
{
	struct fixture *f = *state;
	struct process *attacker = f->process, *victim = world_process(f->world, PID + 1);
	uint32_t waiting = 0, refused = 0;
	struct code_verdict verdict;

	attacker->owner = (struct process_owner){.uid = 1, .charged_uid = 1};
	victim->owner = (struct process_owner){.uid = 2, .charged_uid = 2};
	world_map(f->world, &(struct world_mapping){PID + 1, 5, CODE, 0x10000, 0, 0, "//anon", 0});
	world_map(f->world, &(struct world_mapping){PID, 6, CODE, 0x100000, 0, 0, "//anon", 0});
	world_load(f->world, PID + 1, 10, CODE, SIZE);
	for (uint32_t i = 0; i < 2 * CODE_CHECKS_MAX; i++)
		world_load(f->world, PID, 11, CODE + 0x1000 + i * 16, 16);
	assert_int_equal(code_checks_mapped(&f->checks, attacker, CODE, CODE + 0x100000, 20), 0);
	for (uint32_t i = 0; i < 2 * CODE_CHECKS_MAX; i++) {
		enum code_trust trust = trust_at(f, CODE + 0x1000 + i * 16, 30);

		waiting += trust == CODE_WAITS;
		refused += trust == CODE_UNKNOWN;
	}
	assert_int_equal(waiting + refused, 2 * CODE_CHECKS_MAX);
	assert_in_range(waiting, CODE_CHECKS_MAX / 2, CODE_CHECKS_MAX * 3 / 4);
	for (uint32_t i = 0; i < refused; i++) {
		assert_true(code_checks_take_verdict(&f->checks, &verdict));
		assert_true(verdict.unchecked && verdict.process == attacker);
		assert_int_equal(verdict.since_ns, 20);
	}
	f->process = victim;
	event(f, 20);
	assert_int_equal(trust(f, 30), CODE_WAITS);
	assert_true(request(f));
	answer(f, 40, 0, false);
	assert_int_equal(trust(f, 30), CODE_VOUCHED);
	f->process = attacker;
}

/* More ranges than are kept: they are joined, so that nothing is vouched for without a check. */
CASE_WITH(test_ranges, setup, teardown)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < 3 * CODE_DOUBTS_MAX; i++) {
		uint64_t at = CODE + 0x20000 + i * 0x2000;

		world_load(f->world, PID, 11, at, 16);
		assert_int_equal(
			code_checks_mapped(&f->checks, f->process, at, at + 0x1000, 20 + i), 0);
	}
	for (uint32_t i = 0; i < 3 * CODE_DOUBTS_MAX; i++)
		assert_int_equal(trust_at(f, CODE + 0x20000 + i * 0x2000, 20 + i), CODE_WAITS);
	assert_int_equal(trust(f, 100), CODE_VOUCHED);
	event(f, 200);
	assert_int_equal(trust(f, 200), CODE_WAITS);
}

/* More events than are remembered: the code is unknown from its load on. */
CASE_WITH(test_many_events, setup, teardown)
{
	struct fixture *f = *state;

	for (uint64_t time_ns = 20; time_ns < 30; time_ns++)
		event(f, time_ns);
	assert_int_equal(trust(f, 25), CODE_WAITS);
	assert_int_equal(f->check->since_ns, 11);
}

/* Store a copy of the region, of bytes 0, 1, 2, ... */
static void copy_region_at(struct fixture *f, uint64_t address)
{
	uint8_t bytes[SIZE];
	const struct code_region *region = code_map_find(f->process->code, address, 100);

	for (uint32_t i = 0; i < SIZE; i++)
		bytes[i] = (uint8_t)i;
	code_copies_put(&f->copies, code_region_identity(region), bytes, SIZE);
}

static void copy_region(struct fixture *f)
{
	copy_region_at(f, CODE);
}

/* A sample sees the bytes from CODE + offset on, the first `other` of them changed. */
static void see(struct fixture *f, uint64_t time_ns, uint32_t offset, uint32_t other)
{
	struct jitbpf_code_bytes seen = {.address = CODE + offset};

	for (uint32_t i = 0; i < JITBPF_CODE_BYTES; i++)
		seen.bytes[i] = (uint8_t)(offset + i) ^ (i < other ? 0x80 : 0);
	assert_int_equal(code_checks_seen(&f->checks, &f->copies, &f->large, f->process,
					  CODE + offset + 8, time_ns, &seen),
			 0);
}

/* What a sample saw is enough, without a read, for the samples up to it. */
CASE_WITH(test_seen, setup, teardown)
{
	struct fixture *f = *state;

	copy_region(f);
	see(f, 15, 64, 0);
	assert_null(code_checks_of(&f->checks, f->process));
	event(f, 20);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	assert_true(request(f));
	see(f, 25, 64, 0);
	assert_int_equal(trust(f, 22), CODE_VOUCHED);
	assert_int_equal(trust(f, 30), CODE_VOUCHED);
	answer(f, 23, -ESRCH, false); /* too late to matter */
	assert_int_equal(f->checks.verdicts.size, 0);
	assert_int_equal(trust(f, 22), CODE_VOUCHED);
	event(f, 40);
	assert_int_equal(trust(f, 40), CODE_WAITS);
}

/* Code beyond the part that all copies have: equal bytes vouch for it, too; others mean nothing. */
CASE_WITH(test_seen_in_large_code, setup, teardown)
{
	struct fixture *f = *state;
	struct code_copies none = f->large;
	uint64_t identity;

	copy_region(f);
	identity = code_region_identity(code_map_next(f->process->code, CODE));
	f->large = f->copies;
	f->copies = none;
	f->copies.copy_bytes_max = 64;
	code_copies_put(&f->copies, identity, code_copies_find(&f->large, identity)->bytes, 64);
	event(f, 20);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	see(f, 23, 128, 2);
	assert_int_equal(trust(f, 22), CODE_WAITS);
	see(f, 25, 128, 0);
	assert_int_equal(trust(f, 22), CODE_VOUCHED);
	assert_int_equal(trust(f, 30), CODE_VOUCHED);
	assert_int_equal(f->checks.verdicts.size, 0);
}

/* Without an event: the bytes are compared with the copy, and no memory is read. */
CASE_WITH(test_saw_linked_code, setup, teardown)
{
	struct fixture *f = *state;

	copy_region(f);
	see(f, 30, 64, 2);
	assert_int_equal(trust(f, 29), CODE_VOUCHED);
	assert_int_equal(trust(f, 30), CODE_WAITS);
	assert_true(request(f));
	assert_int_equal(f->request.code.copy_bytes, SIZE);
	assert_int_equal(f->request.code.check.is[63], 63);
	assert_int_equal(f->request.code.check.is[64], 64 ^ 0x80);
	assert_int_equal(f->request.code.copy[64], 64);
	/* It saw the code before it was linked: it vouches for nothing now. */
	see(f, 32, 128, 0);
	assert_int_equal(trust(f, 30), CODE_WAITS);
	answer(f, 0, 0, false);
	assert_int_equal(trust(f, 30), CODE_VOUCHED);
	assert_int_equal(code_copies_find(&f->copies, f->request.code.region)->bytes[64],
			 64 ^ 0x80);
	see(f, 40, 64, 2);
	assert_int_equal(trust(f, 40), CODE_VOUCHED);
}

/* The copy that the sample differs from was evicted, and a shorter one came: memory is read. */
CASE_WITH(test_saw_what_the_copy_lacks, setup, teardown)
{
	static const uint8_t shorter[32];
	struct fixture *f = *state;

	copy_region(f);
	see(f, 30, 64, 64);
	assert_int_equal(trust(f, 31), CODE_WAITS);
	code_copies_deinit(&f->copies);
	code_copies_deinit(&f->large);
	assert_int_equal(code_copies_init(&f->copies), 0);
	assert_int_equal(code_copies_init(&f->large), 0);
	code_copies_put(&f->copies, f->check->identity, shorter, sizeof(shorter));
	assert_int_equal(code_copies_find(&f->copies, f->check->identity)->size_bytes,
			 sizeof(shorter));
	assert_true(request(f));
	assert_int_equal(f->request.code.copy_bytes, sizeof(shorter));
	assert_null(f->request.code.check.is);
}

CASE_WITH(test_saw_other_code, setup, teardown)
{
	struct fixture *f = *state;
	struct code_verdict verdict;

	copy_region(f);
	see(f, 30, 0, 64);
	assert_int_equal(trust(f, 31), CODE_WAITS);
	assert_true(request(f));
	/* A later sample does not excuse it. */
	see(f, 35, 0, 0);
	f->checks.now_ns = 100;
	answer(f, 0, 0, true);
	verdict = verdict_of(f);
	assert_int_equal(verdict.since_ns, 30);
	assert_false(verdict.unchecked);
	assert_int_equal(trust(f, 30), CODE_UNKNOWN);
}

/* Code of a Java virtual machine: its heap grows, and bytes that a sample saw still count. */
CASE_WITH(test_java, setup, teardown)
{
	struct fixture *f = *state;
	uint64_t java = CODE + 0x1000;

	world_load_event(f->world, PID, 11, java, SIZE, JIT_EVENT_JVM_LOAD);
	event(f, 20);
	assert_int_equal(trust_at(f, java + 8, 30), CODE_VOUCHED);
	/* Other code of the memory was replaced. */
	assert_int_equal(trust(f, 30), CODE_WAITS);
	assert_true(request(f));
	f->checks.now_ns = 90;
	answer(f, 60, 0, true);
	assert_int_equal(verdict_of(f).address, CODE);
	assert_int_equal(trust_at(f, java + 8, 42), CODE_VOUCHED);
}

/* A process with code of a Java virtual machine, of which a sample at 30 saw other bytes. */
static void differ_in_java(struct fixture *f)
{
	f->process = world_process(f->world, PID + 1);
	world_map(f->world, &(struct world_mapping){PID + 1, 5, CODE, 0x10000, 0, 0, "//anon", 0});
	world_load_event(f->world, PID + 1, 11, CODE, SIZE, JIT_EVENT_JVM_LOAD);
	copy_region(f);
	see(f, 30, 64, 32);
	assert_int_equal(trust(f, 31), CODE_WAITS);
	assert_true(request(f));
}

/* The virtual machine reports no end: it has changed its code, which is named again. */
CASE_WITH(test_java_saw_other_code, setup, teardown)
{
	const uint64_t end_ns = 30 + CODE_DOUBT_NS;
	struct fixture *f = *state;
	struct code_verdict none;

	differ_in_java(f);
	f->checks.now_ns = 100;
	answer(f, 0, 0, true);
	assert_false(code_checks_take_verdict(&f->checks, &none));
	assert_int_equal(trust(f, 29), CODE_VOUCHED);
	assert_int_equal(trust(f, 30), CODE_DOUBTED);
	/* Equal bytes may be so by chance: they do not end the doubt. Others do not extend it. */
	see(f, 110, 128, 0);
	assert_int_equal(trust(f, 110), CODE_DOUBTED);
	see(f, end_ns - 1, 64, 32);
	assert_int_equal(trust(f, end_ns - 1), CODE_DOUBTED);
	assert_int_equal(trust(f, end_ns), CODE_VOUCHED);
	/* The different bytes are those of the code now. */
	see(f, end_ns, 64, 32);
	assert_int_equal(trust(f, end_ns), CODE_VOUCHED);
	assert_int_equal(trust(f, end_ns - 1), CODE_DOUBTED);
	/* But not other ones. */
	see(f, end_ns + 10, 128, 32);
	assert_int_equal(trust(f, end_ns + 9), CODE_VOUCHED);
	assert_int_equal(trust(f, end_ns + 10), CODE_WAITS);
	assert_true(request(f));
	assert_int_equal(f->request.code.copy[64], 64 ^ 0x80);
	answer(f, 0, 0, true);
	assert_int_equal(trust(f, end_ns + 10), CODE_DOUBTED);
	assert_int_equal(trust(f, end_ns + 10 + CODE_DOUBT_NS), CODE_VOUCHED);
}

/* The virtual machine reports the end of the code: it had been replaced. */
CASE_WITH(test_java_replaced, setup, teardown)
{
	struct fixture *f = *state;
	struct code_verdict none;

	differ_in_java(f);
	f->checks.now_ns = 100;
	answer(f, 0, 0, true);
	world_load_event(f->world, PID + 1, 200, CODE, SIZE, JIT_EVENT_JVM_LOAD);
	assert_false(code_checks_take_verdict(&f->checks, &none));
	assert_int_equal(trust(f, 100), CODE_DOUBTED);
	assert_int_equal(trust(f, 199), CODE_DOUBTED);
	assert_int_equal(trust(f, 200), CODE_VOUCHED);
}

/* Checks that were not done in time: the code is unknown for the samples that waited. */
CASE_WITH(test_java_not_checked, setup, teardown)
{
	struct fixture *f = *state;
	struct code_verdict none;

	differ_in_java(f);
	assert_int_equal(code_checks_give_up(&f->checks, f->check, 40), CODE_DOUBTED);
	assert_false(code_checks_take_verdict(&f->checks, &none));
	assert_int_equal(trust(f, 29), CODE_VOUCHED);
	assert_int_equal(trust(f, 30), CODE_DOUBTED);
	assert_int_equal(trust(f, 40), CODE_DOUBTED);
	assert_int_equal(trust(f, 41), CODE_VOUCHED);
	answer(f, 0, 0, true); /* too late */
	assert_int_equal(trust(f, 41), CODE_VOUCHED);
	/* The next sample has a check of its own. */
	see(f, 50, 64, 32);
	assert_int_equal(trust(f, 50), CODE_WAITS);
}

/* Code that is equal by chance is unknown with the rest of its memory. */
CASE_WITH(test_memory_replaced, setup, teardown)
{
	struct fixture *f = *state;

	world_load(f->world, PID, 11, CODE + SIZE, SIZE);
	world_load(f->world, PID, 30, CODE + 2 * SIZE, SIZE); /* after the event */
	event(f, 20);
	f->checks.now_ns = 90;
	assert_int_equal(trust_at(f, CODE + SIZE, 40), CODE_WAITS);
	assert_true(request(f));
	answer(f, 50, 0, false);
	assert_int_equal(trust_at(f, CODE + SIZE, 41), CODE_VOUCHED);
	assert_int_equal(trust(f, 42), CODE_WAITS);
	assert_true(request(f));
	answer(f, 60, 0, true);
	assert_int_equal(f->checks.verdicts.size, 2);
	assert_int_equal(f->checks.verdicts.data[0].address, CODE);
	assert_int_equal(f->checks.verdicts.data[1].address, CODE + SIZE);
	assert_int_equal(f->checks.verdicts.data[1].since_ns, 20);
	assert_int_equal(trust_at(f, CODE + SIZE, 43), CODE_UNKNOWN);
	assert_int_equal(trust_at(f, CODE + 2 * SIZE, 43), CODE_VOUCHED);
}

/*
 * Two functions that were written over, and an event after that. The samples of each are unknown
 * from the first one on that saw other bytes, whichever of the two checks fails first.
 */
CASE_WITH(test_each_since_it_differed, setup, teardown)
{
	const uint64_t other = CODE + SIZE;

	for (uint32_t first = 0; first < 2; first++) {
		const struct code_verdict *verdicts;
		struct unwind_request requests[2];
		struct fixture *f;

		teardown(state);
		setup(state);
		f = *state;
		world_load(f->world, PID, 11, other, SIZE);
		copy_region(f);
		copy_region_at(f, other);
		see(f, 30, 0, 64);
		see(f, 40, SIZE, 64);
		event(f, 50);
		assert_int_equal(trust(f, 30), CODE_WAITS);
		assert_true(request(f));
		requests[0] = f->request;
		assert_int_equal(trust_at(f, other + 8, 40), CODE_WAITS);
		assert_true(request(f));
		requests[1] = f->request;
		f->checks.now_ns = 100;
		for (uint32_t i = 0; i < 2; i++) {
			f->request = requests[first ^ i];
			answer(f, 60, 0, true);
		}
		assert_int_equal(trust(f, 30), CODE_UNKNOWN);
		assert_int_equal(trust(f, 29), CODE_VOUCHED);
		assert_int_equal(f->checks.verdicts.size, 2);
		verdicts = f->checks.verdicts.data;
		assert_int_equal(verdicts[first].address, CODE);
		assert_int_equal(verdicts[first].since_ns, 30);
		assert_int_equal(verdicts[!first].address, other);
		/* With memory of which a part is known to have been replaced at 30. */
		assert_int_equal(verdicts[!first].since_ns, first ? 40 : 30);
	}
}

/* One function of many that was replaced says nothing about the others. */
CASE_WITH(test_one_of_many, setup, teardown)
{
	struct fixture *f = *state;

	event(f, 20);
	for (uint32_t i = 1; i <= 20; i++) {
		uint64_t at = CODE + i * SIZE;

		world_load(f->world, PID, 11, at, SIZE);
		assert_int_equal(trust_at(f, at, 40), CODE_WAITS);
		assert_true(request(f));
		answer(f, 50, 0, false);
	}
	assert_int_equal(trust(f, 42), CODE_WAITS);
	assert_true(request(f));
	answer(f, 60, 0, true);
	assert_int_equal(verdict_of(f).address, CODE);
	assert_int_equal(trust_at(f, CODE + SIZE, 43), CODE_VOUCHED);
}

/* A few bytes of a large region, and code without a copy, prove nothing. */
CASE_WITH(test_saw_too_little, setup, teardown)
{
	struct fixture *f = *state;

	see(f, 30, 0, 64);
	assert_null(code_checks_of(&f->checks, f->process));
	copy_region(f);
	see(f, 30, SIZE - 4, 4);
	assert_null(code_checks_of(&f->checks, f->process));
}

/* Processes that are retired, also with a request on its way. */
CASE_WITH(test_retired, setup, teardown)
{
	struct fixture *f = *state;

	event(f, 20);
	assert_int_equal(trust(f, 30), CODE_WAITS);
	assert_true(request(f));
	f->process->exit_ns = 100;
	process_table_forget(&f->world->processes, 100 + PROCESS_GRACE_NS);
	process_table_forget(&f->world->processes, 101 + PROCESS_KEEP_NS);
	unwinder_forget_processes(f->world->unwinder, f->world->processes.leaving.data,
				  f->world->processes.leaving.size);
	code_checks_forget_retired(&f->checks);
	assert_null(code_checks_of(&f->checks, f->process));
	answer(f, 40, 0, true);
	assert_int_equal(f->checks.verdicts.size, 0);
}
