/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include "base/scope.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/shared_fixture.h"

#define A 10 /* pids */
#define B 11
#define C 12

static int set_up(void **state)
{
	*state = fixture_create(&code_budget_default);
	return 0;
}

static int tear_down(void **state)
{
	fixture_destroy(*state);
	return 0;
}

/* Code is found wherever a process maps the object, and whichever part it maps. */
CASE_WITH(test_by_object_and_offset, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	map_shared(f, B, 0x50000, 0, 7, 1);
	map_shared(f, C, 0x90000, 0x800, 7, 1);
	load(f, A, 1, 0x10000, "at 0", 5); /* offset 0 is an offset like any other */
	load(f, B, 1, 0x50900, "at 900", 6);
	assert_string_equal(runs(f, A, 0x10000, 9), "at 0");
	assert_string_equal(runs(f, B, 0x5000f, 9), "at 0");
	assert_string_equal(runs(f, B, 0x50010, 9), "");
	assert_string_equal(runs(f, A, 0x10900, 9), "at 900");
	assert_string_equal(runs(f, C, 0x90100, 9), "at 900");
	assert_string_equal(runs(f, C, 0x90000, 9), "");
	assert_string_equal(runs(f, B, 0x50000, 4), ""); /* not loaded yet */
	assert_string_equal(runs(f, B, 0x10000, 9), "");
}

CASE_WITH(test_what_is_not_shared, set_up, tear_down)
{
	static const struct {
		const char *path;
		uint32_t flags, device;
		uint64_t inode;
		const char *seen;
	} cases[] = {
		{ZERO, MAP_SHARED, 1, 7, "code"},
		{"/memfd:jit (deleted)", MAP_SHARED, 1, 7, "code"},
		{"/dev/shm/jit", MAP_SHARED, 1, 7, "code"},
		{ZERO, MAP_PRIVATE, 1, 7, ""},
		{ZERO, MAP_SHARED, 2, 7, ""},
		{ZERO, MAP_SHARED, 1, 8, ""},
		{"//anon", MAP_SHARED, 1, 0, ""},
		{"/SYSV00000000 (deleted)", MAP_SHARED, 1, 7, ""},
	};
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	load(f, A, 1, 0x10000, "code", 5);
	for (uint32_t i = 0; i < ARRAY_SIZE(cases); i++) {
		map_as(f, 100 + i, 0x10000, 0, cases[i].path, cases[i].flags, cases[i].device,
		       cases[i].inode, 6);
		assert_string_equal(runs(f, 100 + i, 0x10000, 9), cases[i].seen);
		/* Each process knows its own code, shared or not. */
		load(f, 100 + i, 1, 0x10100, "own", 7);
		assert_string_equal(runs(f, 100 + i, 0x10100, 9), "own");
		assert_string_equal(runs(f, A, 0x10100, 9), *cases[i].seen ? "own" : "");
		unload(f, 100 + i, 1, 8);
	}
}

/* After a fork, each worker continues with its own ids. */
/* A process that cannot write the object did not generate the code: it reports for itself. */
CASE_WITH(test_reports_without_write_access, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	map_as(f, B, 0x10000, 0, ZERO, MAP_SHARED | CANNOT_WRITE, 1, 7, 1);
	load(f, A, 1, 0x10000, "code", 5);
	load(f, B, 1, 0x10000, "wrong", 6);
	load(f, B, 2, 0x10100, "own", 6);
	unload(f, B, 1, 7);
	assert_string_equal(runs(f, A, 0x10000, 9), "code");
	assert_string_equal(runs(f, B, 0x10000, 9), "code");
	assert_string_equal(runs(f, A, 0x10100, 9), "");
	assert_string_equal(runs(f, B, 0x10100, 9), "own");
	/* The right to report is inherited with the mapping, and comes with write access. */
	fork_to(f, C, B, 10);
	load(f, C, 3, 0x10000, "wrong", 11);
	assert_string_equal(runs(f, A, 0x10000, 12), "code");
	map_shared(f, B, 0x20000, 0, 7, 13);
	load(f, B, 4, 0x20000, "written", 14);
	assert_string_equal(runs(f, A, 0x10000, 15), "written");
	map_as(f, B, 0x20000, 0, ZERO, MAP_SHARED | CANNOT_WRITE, 1, 7, 16); /* mprotect() */
	load(f, B, 5, 0x20000, "protected", 17);
	assert_string_equal(runs(f, A, 0x10000, 18), "protected");
	fork_to(f, C, A, 20);
	load(f, C, 1, 0x10000, "of a worker", 21);
	assert_string_equal(runs(f, A, 0x10000, 22), "of a worker");
}

CASE_WITH(test_ids_of_workers, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	load(f, A, 1, 0x10000, "parent's 1", 2);
	fork_to(f, B, A, 3);
	fork_to(f, C, A, 3);
	load(f, A, 2, 0x10100, "A's 2", 4);
	load(f, B, 2, 0x10200, "B's 2", 5);
	load(f, C, 2, 0x10300, "", 6); /* belongs to neither */
	for (uint32_t pid = A; pid <= C; pid++) {
		assert_string_equal(runs(f, pid, 0x10000, 9), "parent's 1");
		assert_string_equal(runs(f, pid, 0x10100, 9), "A's 2");
		assert_string_equal(runs(f, pid, 0x10200, 9), "B's 2");
		assert_string_equal(runs(f, pid, 0x10300, 9), "");
	}
	unload(f, B, 2, 10);
	assert_string_equal(runs(f, A, 0x10200, 9), "B's 2");
	assert_string_equal(runs(f, A, 0x10200, 10), "");
	assert_string_equal(runs(f, C, 0x10100, 10), "A's 2");
	/* But code that overwrites other code ends it, whichever process loads it. */
	load(f, C, 9, 0x10108, "over it", 11);
	assert_string_equal(runs(f, A, 0x10100, 11), "");
	assert_string_equal(runs(f, B, 0x10108, 11), "over it");
	assert_int_equal(process_of(f, A)->account->counts.loads, 2);
	assert_int_equal(process_of(f, C)->account->counts.loads, 2);
	assert_int_equal(process_of(f, B)->account->counts.unloads, 1);
}

/* A call site without a known DSO still identifies an engine of the process. */
CASE_WITH(test_engine_not_known, set_up, tear_down)
{
	struct fixture *f = *state;
	struct jit_event jit = {
		.header = {.event = JIT_EVENT_UNLOAD, .method_id = 1},
	};
	struct code_event event = code_event_of(&jit, 0x4242, 3);

	map_shared(f, A, 0x10000, 0, 7, 1);
	map_shared(f, B, 0x10000, 0, 7, 1);
	load(f, A, 1, 0x10000, "A's", 2);
	assert_int_equal(process_code_apply(process_of(f, B), &event), 0);
	assert_string_equal(runs(f, A, 0x10000, 9), "A's");
	assert_int_equal(process_of(f, B)->account->counts.unload_unknown, 1);
}

/* All code of a method ends, in shared and in private memory. */
CASE_WITH(test_unload_everywhere, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	map_shared(f, A, 0x20000, 0, 8, 1);
	map_as(f, A, 0x30000, 0, "//anon", MAP_PRIVATE, 0, 0, 1);
	for (uint64_t at = 0x10000; at <= 0x30000; at += 0x10000)
		load(f, A, 1, at, "part", 2);
	unload(f, A, 1, 3);
	for (uint64_t at = 0x10000; at <= 0x30000; at += 0x10000) {
		assert_string_equal(runs(f, A, at, 2), "part");
		assert_string_equal(runs(f, A, at, 3), "");
	}
	unload(f, A, 1, 4);
	assert_int_equal(process_of(f, A)->account->counts.unload_unknown, 1);
}

/* Another object, or private memory, is mapped at the same address. */
CASE_WITH(test_mapped_over, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	load(f, A, 1, 0x10000, "in 7", 2);
	map_shared(f, A, 0x10000, 0, 8, 3);
	assert_string_equal(runs(f, A, 0x10000, 2), "in 7");
	assert_string_equal(runs(f, A, 0x10000, 3), "");
	load(f, A, 2, 0x10000, "in 8", 4);
	map_as(f, A, 0x10000, 0, "//anon", MAP_PRIVATE, 0, 0, 5);
	assert_string_equal(runs(f, A, 0x10000, 5), "");
	load(f, A, 3, 0x10000, "own", 6);
	map_shared(f, A, 0x10000, 0, 7, 7);
	assert_string_equal(runs(f, A, 0x10000, 4), "in 8");
	assert_string_equal(runs(f, A, 0x10000, 6), "own");
	assert_string_equal(runs(f, A, 0x10000, 7), "in 7");
}

CASE_WITH(test_exec, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	fork_to(f, B, A, 1);
	load(f, B, 1, 0x10000, "B's", 2);
	exec_of(f, B, 3);
	assert_string_equal(runs(f, B, 0x10000, 2), "B's");
	assert_string_equal(runs(f, B, 0x10000, 3), "");
	assert_string_equal(runs(f, A, 0x10000, 4), "B's"); /* still loaded there */
	assert_int_equal(process_of(f, B)->reported_count, 0);
	/* Method 1 of the new program is another method. */
	unload(f, B, 1, 5);
	assert_string_equal(runs(f, A, 0x10000, 5), "B's");
}

/* The code is freed with the last process that maps it, once no sample needs it. */
CASE_WITH(test_end_of_an_object, set_up, tear_down)
{
	const uint64_t later = 10 * PROCESS_GRACE_NS;
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	fork_to(f, B, A, 2);
	load(f, A, 1, 0x10000, "code", 3);
	exit_of(f, A, 4);
	process_table_forget(&f->table, later);
	assert_string_equal(runs(f, B, 0x10000, later), "code");
	assert_int_equal(f->table.shared.all.size, 1);
	exit_of(f, B, later + 1);
	process_table_forget(&f->table, later + PROCESS_GRACE_NS);
	assert_int_equal(f->table.shared.all.size, 1);
	process_table_forget(&f->table, 2 * later);
	assert_int_equal(f->table.shared.all.size, 0);
	assert_null(f->table.shared.with_code);
	/* The inode has been reused for another object. */
	map_shared(f, C, 0x10000, 0, 7, 2 * later);
	assert_string_equal(runs(f, C, 0x10000, 2 * later), "");
}

/* History is forgotten, live code is kept. */
CASE_WITH(test_forget, set_up, tear_down)
{
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	load(f, A, 1, 0x10000, "old", 2);
	load(f, A, 2, 0x10000, "new", 10);
	assert_string_equal(runs(f, A, 0x10000, 5), "old");
	process_table_forget(&f->table, 11);
	assert_string_equal(runs(f, A, 0x10000, 5), "");
	assert_string_equal(runs(f, A, 0x10000, 12), "new");
}

/* A process over its budget does not affect others. */
CASE(test_budgets)
{
	struct code_budget budget = code_budget_default;
	struct fixture *f;

	budget.methods = 2;
	f = fixture_create(&budget);
	map_shared(f, A, 0x10000, 0, 7, 1);
	map_shared(f, B, 0x10000, 0, 7, 1);
	map_as(f, A, 0x20000, 0, "//anon", MAP_PRIVATE, 0, 0, 1);
	for (uint32_t i = 0; i < 5; i++)
		load(f, A, 1 + i, 0x10000 + i * 0x20, "A's", 2 + i);
	load(f, A, 9, 0x20000, "A's", 8); /* all memory of a process shares one budget */
	load(f, B, 1, 0x10200, "B's", 8);
	assert_int_equal(process_of(f, A)->account->counts.loads, 2);
	assert_int_equal(process_of(f, A)->account->counts.over_budget, 4);
	assert_string_equal(runs(f, A, 0x20000, 9), "");
	assert_string_equal(runs(f, A, 0x10200, 9), "B's");
	assert_int_equal(process_of(f, B)->account->counts.over_budget, 0);
	fixture_destroy(f);
	(void)state;
}

/* Beyond the limit of objects, code is known to its process and its children only. */
CASE_WITH(test_too_many_objects, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t past = 0x100000 + PROCESS_REPORTED_MAX * 0x1000;

	for (uint64_t i = 0; i <= PROCESS_REPORTED_MAX; i++) {
		map_shared(f, A, 0x100000 + i * 0x1000, 0, 7 + i, 1);
		map_shared(f, B, 0x100000 + i * 0x1000, 0, 7 + i, 1);
		load(f, A, 1 + (uint32_t)i, 0x100000 + i * 0x1000, "code", 2);
	}
	fork_to(f, C, A, 3);
	assert_string_equal(runs(f, B, past - 0x1000, 9), "code");
	assert_string_equal(runs(f, A, past, 9), "code");
	assert_string_equal(runs(f, B, past, 9), "");
	assert_string_equal(runs(f, C, past, 9), "code");
	unload(f, A, 1 + PROCESS_REPORTED_MAX, 10);
	assert_string_equal(runs(f, A, past, 11), "");
}

/* Objects reuse the numbers of freed ones. */
CASE_WITH(test_many_objects, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t time_ns = 1;

	for (uint32_t i = 0; i < 3000; i++) {
		uint32_t pid = 100 + i;

		map_shared(f, pid, 0x10000, 0, 50 + i % 40, ++time_ns);
		if (i % 3)
			load(f, pid, 1, 0x10000, "code", ++time_ns);
		if (i >= 7) {
			exit_of(f, pid - 7, ++time_ns);
			process_table_forget(&f->table, time_ns + PROCESS_GRACE_NS);
		}
		assert_string_equal(runs(f, pid, 0x10000, time_ns), i % 3 ? "code" : "");
	}
	assert_int_equal(f->table.shared.all.size, 7);
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(f->table.shared.all.data[i]->number, i);
}

/* A gap in the events of one process does not affect code of others. */
CASE_WITH(test_gap, set_up, tear_down)
{
	static const uint64_t live[] = {3};
	struct code_gap gap = {.from_ns = 10, .to_ns = 20, .live = live, .live_count = 1};
	struct fixture *f = *state;

	map_shared(f, A, 0x10000, 0, 7, 1);
	map_shared(f, B, 0x10000, 0, 7, 1);
	load(f, A, 1, 0x10000, "gone", 2);
	load(f, A, 2, 0x10100, "lives", 3);
	load(f, B, 1, 0x10200, "B's", 4);
	assert_int_equal(process_code_gap(process_of(f, A), &gap), 0);
	load(f, A, 3, 0x10300, "over by 20", 15);
	load(f, B, 3, 0x10400, "B's too", 15);
	load(f, A, 4, 0x10500, "after", 21);
	assert_string_equal(runs(f, B, 0x10000, 9), "gone");
	assert_string_equal(runs(f, B, 0x10000, 10), "");
	assert_string_equal(runs(f, B, 0x10100, 30), "lives");
	assert_string_equal(runs(f, B, 0x10200, 30), "B's");
	assert_string_equal(runs(f, B, 0x10300, 30), "");
	assert_string_equal(runs(f, A, 0x10400, 30), "B's too");
	assert_string_equal(runs(f, B, 0x10500, 30), "after");
	assert_int_equal(process_of(f, A)->account->counts.in_gap, 1);
}

/* A child inherits the code as of the fork; the running processes know more. */
CASE_WITH(test_inherited, set_up, tear_down)
{
	struct fixture *f = *state;
	struct jitbpf_jit_header inherited = {
		.event = JIT_EVENT_LOAD,
		.sequence = JITBPF_JIT_INHERITED,
		.method_id = 1,
		.address = 0x10008,
		.code_bytes = 16,
	};

	map_shared(f, A, 0x10000, 0, 7, 1);
	map_shared(f, B, 0x10000, 0, 7, 1);
	load(f, A, 5, 0x10010, "now", 2);
	send_event(f, B, inherited, "at the fork", 2);
	assert_string_equal(runs(f, B, 0x10008, 9), "");
	assert_string_equal(runs(f, B, 0x10010, 9), "now");
	inherited.address = 0x10100;
	send_event(f, B, inherited, "only B tells", 2);
	assert_string_equal(runs(f, A, 0x10100, 9), "only B tells");
}

/* Inlined methods and updates apply to the object as well. */
CASE_WITH(test_other_events, set_up, tear_down)
{
	struct fixture *f = *state;
	const struct code_region *region;
	struct code_level levels[CODE_LEVELS_MAX];
	struct code_place place;

	map_shared(f, A, 0x10000, 0x3000, 7, 1);
	load(f, A, 1, 0x10000, "outer", 2);
	send_event(f, A,
		   (struct jitbpf_jit_header){.event = JIT_EVENT_INLINE_LOAD,
					      .method_id = 2,
					      .parent_id = 1,
					      .address = 0x10004,
					      .code_bytes = 4},
		   "inner", 3);
	region = process_code_find(process_of(f, A),
				   process_mapping_told(process_of(f, A), 0x10005, 3), 0x10005, 4,
				   &place);
	assert_non_null(region);
	assert_int_equal(code_region_levels(region, place.address - region->address, levels), 2);
	assert_string_equal(levels[0].name, "inner");
	assert_int_equal(levels[0].offset, 1);
	assert_int_equal(levels[1].offset, 5);
	send_event(f, A,
		   (struct jitbpf_jit_header){
			   .event = JIT_EVENT_UNLOAD, .address = 0x10000, .code_bytes = 16},
		   "", 5);
	assert_string_equal(runs(f, A, 0x10000, 5), "");
}

CASE_WITH(test_generation, set_up, tear_down)
{
	struct fixture *f = *state;
	uint64_t before;

	map_shared(f, A, 0x10000, 0, 7, 1);
	before = f->table.shared.generation;
	load(f, A, 1, 0x10000, "a", 2);
	assert_true(f->table.shared.generation > before);
	before = f->table.shared.generation;
	unload(f, A, 1, 3);
	assert_true(f->table.shared.generation > before);
	before = f->table.shared.generation;
	unload(f, A, 1, 4);
	assert_true(f->table.shared.generation == before);
}
