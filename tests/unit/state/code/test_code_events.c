/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the code map counts, refuses and forgets; lost events; memory sizes. */
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include "state/code/code_layout.h"
#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/code_text.h"

#define ENGINE CODE_ENGINE_KNOWN
#define HOUR   3600000000000ull

struct fixture {
	struct code_map *map;
	struct code_account *account;
	const struct code_counts *counts;
	uint64_t next_number, sequence;
};

static void begin(struct fixture *f, const struct code_budget *budget)
{
	*f = (struct fixture){.next_number = 0};
	f->account = make_account(budget);
	f->counts = &f->account->counts;
	assert_int_equal(code_map_create(&f->next_number, &f->map), 0);
}

static void end(struct fixture *f)
{
	code_map_destroy(f->map);
	assert_int_equal(f->account->methods + f->account->inlines + f->account->lines +
				 f->account->name_bytes,
			 0);
	code_account_put(f->account);
}

static void apply(struct fixture *f, uint16_t kind, uint32_t id, uint32_t parent_id, uint64_t at,
		  uint64_t size_bytes, uint64_t time_ns)
{
	struct jit_event event = {
		.header = {.event = kind,
			   .sequence = f->sequence++,
			   .method_id = id,
			   .parent_id = parent_id,
			   .address = at,
			   .code_bytes = size_bytes},
		.name = {(const char[]){(char)('a' + id % 26)}, 1},
	};

	assert_int_equal(apply_jit(f->map, f->account, &event, ENGINE, time_ns), 0);
}

static void load(struct fixture *f, uint32_t id, uint64_t at, uint64_t size_bytes, uint64_t time_ns)
{
	apply(f, JIT_EVENT_LOAD, id, 0, at, size_bytes, time_ns);
}

static void inlined(struct fixture *f, uint32_t id, uint32_t parent_id, uint64_t at,
		    uint64_t size_bytes, uint64_t time_ns)
{
	apply(f, JIT_EVENT_INLINE_LOAD, id, parent_id, at, size_bytes, time_ns);
}

static void segment(struct fixture *f, uint32_t type, uint64_t at, uint64_t size_bytes)
{
	struct jit_event event = {
		.header = {.event = JIT_EVENT_UPDATE_V2, .address = at, .code_bytes = size_bytes},
		.segment = type,
	};

	assert_int_equal(apply_jit(f->map, f->account, &event, ENGINE, 50), 0);
}

static void assert_at(const struct fixture *f, uint64_t address, uint64_t time_ns, const char *want)
{
	const struct code_region *region = code_map_find(f->map, address, time_ns);
	char text[CODE_TEXT_BYTES] = "nothing";

	if (region)
		code_text(region, address, text);
	assert_string_equal(text, want ?: "nothing");
}

CASE(test_counts_by_kind)
{
	struct fixture f;

	begin(&f, &code_budget_default);
	load(&f, 1, 0x100, 0x40, 1);
	inlined(&f, 2, 1, 0x110, 0x10, 2);
	inlined(&f, 3, 1, 0x118, 0x10, 2); /* overlaps a sibling */
	inlined(&f, 3, 2, 0x118, 0x10, 2); /* extends beyond its parent */
	inlined(&f, 3, 9, 0x118, 4, 2);	   /* without a parent */
	inlined(&f, 3, 1, 0x118, 0, 2);	   /* empty */
	inlined(&f, 0, 1, 0x118, 4, 2);	   /* without an id */
	inlined(&f, 3, 1, UINT64_MAX - 1, 4, 2);
	inlined(&f, 3, 1, UINT64_MAX - 9, 4, 2); /* at an address where nothing can be loaded */
	assert_int_equal(f.counts->inlines, 1);
	assert_int_equal(f.counts->inline_overlap, 1);
	assert_int_equal(f.counts->inline_outside, 1);
	assert_int_equal(f.counts->inline_no_parent, 2);
	assert_int_equal(f.counts->invalid, 3);
	apply(&f, JIT_EVENT_UPDATE, 1, 0, 0x100, 4, 3);
	apply(&f, JIT_EVENT_UPDATE, 2, 0, 0x100, 4, 3); /* of another region */
	apply(&f, JIT_EVENT_UPDATE, 1, 0, 0x140, 4, 3); /* of no region */
	apply(&f, JIT_EVENT_UPDATE, 1, 0, 0x100, 0, 3); /* empty */
	segment(&f, 1, 0x100, 0x10);
	segment(&f, 2, 0x108, 0x10); /* across the border of another segment */
	segment(&f, 3, 0x100, 0x10); /* unchanged */
	segment(&f, 5, 0x100, 0x10); /* unknown segment type */
	assert_int_equal(f.counts->updates, 3);
	assert_int_equal(f.counts->update_unknown, 2);
	assert_int_equal(f.counts->segment_overlap, 1);
	assert_int_equal(f.counts->invalid, 5);
	apply(&f, JIT_EVENT_ENTER_NIDS, 0, 0, 0, 0, 4);
	apply(&f, JIT_EVENT_LEAVE_NIDS, 0, 0, 0, 0, 4);
	apply(&f, 18, 0, 0, 0, 0, 4);
	assert_int_equal(f.counts->nothing, 2);
	assert_int_equal(f.counts->not_understood, 1);
	assert_at(&f, 0x110, 4, "c < b");
	end(&f);
}

/* An inlined range counts as without a parent only as long as it waits for one. */
CASE(test_waiting)
{
	struct code_budget budget = code_budget_default;
	struct fixture f;

	budget.waiting = 2;
	begin(&f, &budget);
	inlined(&f, 2, 1, 0x110, 4, 1);
	inlined(&f, 3, 1, 0x114, 4, 10);
	inlined(&f, 4, 1, 0x118, 4, 10);
	/* The first one was dropped; the others wait for any time. */
	assert_int_equal(f.counts->over_budget, 1);
	assert_int_equal(f.counts->inline_no_parent, 2);
	code_map_forget(f.map, HOUR);
	load(&f, 1, 0x100, 0x40, HOUR + 1);
	assert_int_equal(f.counts->inline_no_parent, 0);
	assert_int_equal(f.counts->inlines, 2);
	assert_at(&f, 0x110, HOUR + 1, "b");
	assert_at(&f, 0x114, HOUR + 1, "d < b");
	assert_at(&f, 0x118, HOUR + 1, "e < b");
	/* Ranges whose parent never loads are dropped at last. */
	inlined(&f, 2, 9, 0x200, 4, HOUR + 2);
	for (uint64_t i = 0; i < 20; i++)
		load(&f, 8, 0x200, 0x10, HOUR + 3 + i);
	load(&f, 9, 0x200, 0x10, HOUR + 30);
	assert_at(&f, 0x200, HOUR + 30, "j");
	assert_int_equal(f.counts->inline_no_parent, 1);
	end(&f);
}

static int note_waiting(void *text, const struct code_inline *inlined)
{
	return *strcat(text, inlined->name) == 0;
}

static void assert_waiting(const struct fixture *f, const char *want)
{
	char text[CODE_TEXT_BYTES] = "";

	code_map_for_each_waiting(f->map, note_waiting, text);
	assert_string_equal(text, want);
}

/* Above the budget, the first ones are dropped, in order of arrival, at any addresses. */
CASE(test_first_ones_are_dropped)
{
	struct code_budget budget = code_budget_default;
	struct fixture f;

	budget.waiting = 4;
	begin(&f, &budget);
	for (uint32_t i = 1; i <= 6; i++)
		inlined(&f, i, 20, i % 2 ? 0x100 : 0x200 - i, 4, 1);
	assert_waiting(&f, "defg");
	load(&f, 20, 0x100, 0x40, 2);
	assert_waiting(&f, "eg");
	inlined(&f, 7, 20, 0x200, 4, 3);
	inlined(&f, 8, 20, 0x300, 4, 3);
	assert_waiting(&f, "eghi");
	inlined(&f, 9, 20, 0x200, 4, 3);
	assert_waiting(&f, "ghij");
	assert_int_equal(code_map_clear(f.map, 4), 0);
	assert_waiting(&f, "");
	inlined(&f, 10, 20, 0x200, 4, 5);
	assert_waiting(&f, "k");
	end(&f);
	budget.waiting_bytes = 3 * (sizeof(struct code_inline) + sizeof("a"));
	begin(&f, &budget);
	for (uint32_t i = 1; i <= 8; i++)
		inlined(&f, i, 20, 0x100, 4, 1);
	assert_waiting(&f, "ghi");
	assert_int_equal(f.counts->over_budget, 5);
	assert_int_equal(f.counts->inline_no_parent, 3);
	end(&f);
	budget.waiting_bytes /= 4;
	begin(&f, &budget);
	inlined(&f, 1, 20, 0x100, 4, 1);
	assert_waiting(&f, "");
	assert_int_equal(f.counts->over_budget, 1);
	end(&f);
	budget = code_budget_default;
	budget.waiting = 0;
	begin(&f, &budget);
	inlined(&f, 1, 20, 0x100, 4, 1);
	assert_waiting(&f, "");
	assert_int_equal(f.counts->over_budget, 1);
	end(&f);
}

CASE(test_budget_of_inlines)
{
	struct code_budget budget = code_budget_default;
	struct fixture f;

	budget.inlines = 3;
	budget.depth = 2;
	begin(&f, &budget);
	load(&f, 1, 0x100, 0x40, 1);
	inlined(&f, 2, 1, 0x110, 0x20, 2);
	inlined(&f, 3, 2, 0x110, 0x10, 2);
	inlined(&f, 4, 3, 0x110, 0x8, 2); /* too deep */
	assert_int_equal(f.counts->over_budget, 1);
	assert_at(&f, 0x110, 2, "d < c < b");
	inlined(&f, 5, 1, 0x130, 0x8, 2);
	assert_int_equal(f.counts->over_budget, 1);
	inlined(&f, 6, 1, 0x138, 0x8, 2);
	assert_int_equal(f.counts->over_budget, 2);
	assert_at(&f, 0x138, 2, "b");
	/* An update over budget makes the code unknown from then on. */
	apply(&f, JIT_EVENT_UPDATE, 1, 0, 0x110, 4, 10);
	assert_int_equal(f.counts->over_budget, 3);
	assert_at(&f, 0x110, 9, "d < c < b");
	assert_at(&f, 0x110, 10, NULL);
	assert_at(&f, 0x100, 10, NULL);
	code_map_forget(f.map, 20);
	load(&f, 1, 0x100, 0x40, 21);
	inlined(&f, 2, 1, 0x110, 0x20, 22);
	assert_at(&f, 0x110, 22, "c < b");
	end(&f);
}

CASE(test_deepest)
{
	struct code_level levels[CODE_LEVELS_MAX];
	struct fixture f;

	begin(&f, &code_budget_default);
	load(&f, 1, 0x1000, 0x400, 1);
	for (uint32_t i = 0; i < 2 * CODE_LEVELS_MAX; i++)
		inlined(&f, i + 2, i + 1, 0x1000, 0x400 - i, 2);
	assert_int_equal(code_region_levels(code_map_find(f.map, 0x1000, 2), 0, levels),
			 CODE_LEVELS_MAX);
	assert_int_equal(f.counts->inlines, CODE_LEVELS_MAX - 1);
	/* The first level that is too deep is refused; the levels below it have no parent. */
	assert_int_equal(f.counts->over_budget, 1);
	assert_int_equal(f.counts->inline_no_parent, CODE_LEVELS_MAX);
	end(&f);
}

/* 10,000 inlined methods, innermost first, then their parents, then the region. */
CASE(test_many)
{
	const uint32_t count = 10000;
	struct fixture f;

	begin(&f, &code_budget_default);
	for (uint32_t i = 0; i < count; i += 2)
		inlined(&f, 3, 2, 0x10000 + 8 * i, 8, 1);
	for (uint32_t i = 0; i < count; i += 2)
		inlined(&f, 2, 1, 0x10000 + 8 * i, 16, 1);
	assert_int_equal(f.counts->inline_no_parent, count);
	load(&f, 1, 0x10000, 8 * count, 2);
	assert_int_equal(f.counts->inline_no_parent, 0);
	assert_int_equal(f.counts->inlines, count);
	for (uint32_t i = 0; i < count; i += 2) {
		assert_at(&f, 0x10000 + 8 * i, 2, "d < c < b");
		assert_at(&f, 0x10000 + 8 * i + 8, 2, "c < b");
	}
	end(&f);
}

CASE(test_gap)
{
	/* Events 0, 2, 4 and 6 are still live after the gap. */
	static const uint64_t live[] = {0, 2, 4, 6};
	struct fixture f;

	begin(&f, &code_budget_default);
	load(&f, 1, 0x100, 0x40, 1);	/* 0 */
	inlined(&f, 2, 1, 0x100, 8, 1); /* 1: ended */
	inlined(&f, 3, 1, 0x108, 8, 1); /* 2 */
	inlined(&f, 4, 2, 0x100, 4, 1); /* 3: ended */
	load(&f, 5, 0x200, 0x40, 1);	/* 4 */
	load(&f, 6, 0x300, 0x40, 1);	/* 5: ended */
	assert_int_equal(apply_shim_gap(f.map, f.account, 10, 20, live, 4), 0);
	assert_at(&f, 0x300, 9, "g");
	assert_at(&f, 0x300, 10, NULL);
	assert_at(&f, 0x200, 10, "f");
	assert_at(&f, 0x100, 9, "e < c < b");
	assert_at(&f, 0x100, 10, "b");
	assert_at(&f, 0x108, 10, "d < b");
	load(&f, 7, 0x400, 0x40, 10);	 /* 6 */
	load(&f, 8, 0x500, 0x40, 10);	 /* 7: ended */
	load(&f, 9, 0x400, 0x10, 20);	 /* 8: ended by 9, and ended 6 */
	inlined(&f, 9, 5, 0x200, 8, 20); /* 9: ended */
	assert_int_equal(f.counts->in_gap, 3);
	assert_at(&f, 0x400, 19, "h");
	assert_at(&f, 0x400, 20, NULL);
	assert_at(&f, 0x500, 20, NULL);
	assert_at(&f, 0x200, 20, "f");
	/* Events after the gap are valid. */
	load(&f, 10, 0x500, 0x40, 21);
	assert_at(&f, 0x500, 21, "k");
	/* Another gap with nothing live. */
	assert_int_equal(apply_shim_gap(f.map, f.account, 30, 30, NULL, 0), 0);
	assert_at(&f, 0x200, 29, "f");
	assert_at(&f, 0x200, 30, NULL);
	code_map_forget(f.map, 31);
	load(&f, 11, 0x500, 0x40, 30);
	assert_at(&f, 0x500, 31, "l");
	end(&f);
}

/* A record that is committed late is applied after the gap, although its time is before it. */
CASE(test_late_in_gap)
{
	static const uint64_t live[] = {2};
	struct fixture f;

	begin(&f, &code_budget_default);
	load(&f, 1, 0x100, 0x40, 1); /* 0: ended by 1 */
	assert_int_equal(apply_shim_gap(f.map, f.account, 10, 20, live, 1), 0);
	load(&f, 2, 0x100, 0x40, 8); /* 1: ended */
	load(&f, 3, 0x200, 0x40, 9); /* 2 */
	assert_at(&f, 0x100, 7, "b");
	assert_at(&f, 0x100, 10, NULL);
	assert_at(&f, 0x100, 21, NULL);
	assert_at(&f, 0x200, 9, "d");
	assert_at(&f, 0x200, 21, "d");
	assert_int_equal(f.counts->in_gap, 1);
	end(&f);
}

/* An engine is identified by its DSO; an event without a caller may be of any engine. */
CASE(test_engines_not_known)
{
	struct jit_event event = {.header = {.event = JIT_EVENT_UNLOAD, .method_id = 1}};
	struct fixture f;

	begin(&f, &code_budget_default);
	load(&f, 1, 0x100, 0x40, 1);
	assert_int_equal(apply_jit(f.map, f.account, &event, ENGINE | 1, 2), 0);
	assert_at(&f, 0x100, 2, "b");
	assert_int_equal(f.counts->unload_unknown, 1);
	assert_int_equal(apply_jit(f.map, f.account, &event, 0x4711, 3), 0);
	assert_at(&f, 0x100, 3, NULL);
	end(&f);
}
