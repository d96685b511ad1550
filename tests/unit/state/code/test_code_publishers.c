/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Code that several publishers describe; moves; line tables; late loads; snapshots. */
#include <stdint.h>

#include <stdlib.h>

#include "tests/unit/cases.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/code_text.h"

#define MS     1000000ull
#define T0     (1000 * MS)
#define ENGINE CODE_ENGINE_KNOWN

#define SHIM	 JITBPF_PUBLISHER_SHIM
#define JITDUMP	 JITBPF_PUBLISHER_JITDUMP
#define PERF_MAP JITBPF_PUBLISHER_PERF_MAP

struct fixture {
	struct code_map *map;
	struct code_account *account;
	const struct code_counts *counts;
	uint64_t next_number, sequence;
};

static void begin_with(struct fixture *f, const struct code_budget *budget)
{
	*f = (struct fixture){.account = make_account(budget)};
	f->counts = &f->account->counts;
	assert_int_equal(code_map_create(&f->next_number, &f->map), 0);
}

static void begin(struct fixture *f)
{
	begin_with(f, &code_budget_default);
}

/* All memory is given back with the map and what was held. */
static void end(struct fixture *f)
{
	code_map_destroy(f->map);
	assert_int_equal(f->account->methods + f->account->inlines + f->account->lines +
				 f->account->name_bytes,
			 0);
	assert_int_equal(f->account->refs, 1);
	code_account_put(f->account);
}

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = s ? strlen(s) : 0};
}

static struct code_event event_of(struct fixture *f, enum jitbpf_publisher publisher,
				  enum jitbpf_code_event_kind kind, uint64_t time_ns)
{
	return (struct code_event){
		.origin = {.publisher = publisher, .engine = ENGINE, .sequence = f->sequence++},
		.kind = (uint16_t)kind,
		.time_ns = time_ns,
		.reported_ns = time_ns,
	};
}

static void apply(struct fixture *f, const struct code_event *event)
{
	assert_int_equal(code_map_apply(f->map, f->account, event), 0);
}

/* Ids of publishers differ: code of the same id is not the same for that. */
static uint64_t id_by(enum jitbpf_publisher publisher, uint64_t id)
{
	return publisher == PERF_MAP ? 0 : id * 3 + publisher;
}

static struct code_event load_of(struct fixture *f, enum jitbpf_publisher publisher, uint64_t id,
				 uint64_t address, uint64_t size_bytes, const char *name,
				 uint64_t time_ns)
{
	struct code_event event = event_of(f, publisher, JITBPF_CODE_LOAD, time_ns);

	event.method_id = id_by(publisher, id);
	event.address = address;
	event.size_bytes = size_bytes;
	event.name = string_of(name);
	return event;
}

static void load(struct fixture *f, enum jitbpf_publisher publisher, uint64_t id, uint64_t address,
		 uint64_t size_bytes, const char *name, uint64_t time_ns)
{
	struct code_event event = load_of(f, publisher, id, address, size_bytes, name, time_ns);

	apply(f, &event);
}

static void unload(struct fixture *f, enum jitbpf_publisher publisher, uint64_t id,
		   uint64_t time_ns)
{
	struct code_event event = event_of(f, publisher, JITBPF_CODE_UNLOAD, time_ns);

	event.method_id = id_by(publisher, id);
	apply(f, &event);
}

static void move(struct fixture *f, enum jitbpf_publisher publisher, uint64_t id, uint64_t from,
		 uint64_t to, uint64_t size_bytes, uint64_t time_ns)
{
	struct code_event event = event_of(f, publisher, JITBPF_CODE_MOVE, time_ns);

	event.method_id = id_by(publisher, id);
	event.old_address = from;
	event.address = to;
	event.size_bytes = size_bytes;
	apply(f, &event);
}

static void inlined(struct fixture *f, uint64_t id, uint64_t parent, uint64_t address,
		    uint64_t size_bytes, const char *name, uint64_t time_ns)
{
	struct code_event event = event_of(f, SHIM, JITBPF_CODE_INLINE, time_ns);

	event.method_id = id_by(SHIM, id);
	event.parent_id = id_by(SHIM, parent);
	event.address = address;
	event.size_bytes = size_bytes;
	event.name = string_of(name);
	apply(f, &event);
}

static const struct code_region *at(const struct fixture *f, uint64_t address, uint64_t time_ns)
{
	return code_map_find(f->map, address, time_ns);
}

static void assert_at(const struct fixture *f, uint64_t address, uint64_t time_ns, const char *want)
{
	const struct code_region *region = at(f, address, time_ns);
	char text[CODE_TEXT_BYTES] = "nothing";

	if (region)
		code_text(region, address, text);
	assert_string_equal(text, want ?: "nothing");
}

static void assert_counts(const struct fixture *f, uint64_t loads, uint64_t merged)
{
	uint64_t published = 0;

	for (size_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++)
		published += f->counts->published[i];
	assert_int_equal(f->counts->loads, loads);
	assert_int_equal(f->counts->merged, merged);
	assert_int_equal(published, loads + merged);
}

/* --- the same code ------------------------------------------------------------------- */

/* Line tables of both; only the shim's has ends of ranges. */
static const struct jitbpf_code_line shim_lines[] = {{0x20, 3}, {0x40, 4}};
static const struct jitbpf_code_line dump_lines[] = {{0, 30}, {0x20, 40}};

static void load_rich(struct fixture *f, uint64_t time_ns)
{
	struct code_event event = load_of(f, SHIM, 1, 0x1000, 0x40, "shim's", time_ns);

	event.class_name = string_of("Class");
	event.source = string_of("a.c");
	event.lines = shim_lines;
	event.line_count = 2;
	apply(f, &event);
}

static void load_poor(struct fixture *f, uint64_t time_ns)
{
	struct code_event event = load_of(f, JITDUMP, 1, 0x1000, 0x40, "dump's", time_ns);

	event.source = string_of("b.c");
	event.module = string_of("module");
	event.lines = dump_lines;
	event.line_count = 2;
	event.flags = JITBPF_EVENT_LINE_STARTS;
	apply(f, &event);
}

#define BOTH_FIRST_HALF	 "Class::shim's@a.c:3 [module]"
#define BOTH_SECOND_HALF "Class::shim's@a.c:4 [module]"

CASE(test_richer_first)
{
	struct fixture f;

	begin(&f);
	load_rich(&f, T0);
	assert_at(&f, 0x1000, T0, "Class::shim's@a.c:3");
	load_poor(&f, T0 + 2 * MS);
	assert_counts(&f, 1, 1);
	assert_int_equal(f.counts->code_bytes, 0x40);
	assert_int_equal(f.counts->published[SHIM], 1);
	assert_int_equal(f.counts->published[JITDUMP], 1);
	/* One region, from the exact time on; the dump adds what the shim did not say. */
	assert_at(&f, 0x1000, T0 - 1, NULL);
	assert_at(&f, 0x1000, T0, BOTH_FIRST_HALF);
	assert_at(&f, 0x1020, T0 + 9 * MS, BOTH_SECOND_HALF);
	assert_int_equal(at(&f, 0x1000, T0)->claim_count, 2);
	assert_int_equal(at(&f, 0x1000, T0)->claims[0].origin.publisher, SHIM);
	assert_int_equal(at(&f, 0x1000, T0)->claims[1].origin.publisher, JITDUMP);
	assert_int_equal(at(&f, 0x1000, T0)->loaded_ns, T0);
	end(&f);
}

CASE(test_richer_second)
{
	struct fixture f;

	begin(&f);
	load_poor(&f, T0 + 2 * MS);
	assert_at(&f, 0x1000, T0 + 2 * MS, "dump's@b.c:30 [module]");
	load_rich(&f, T0);
	assert_counts(&f, 1, 1);
	assert_at(&f, 0x1000, T0 - 1, NULL);
	assert_at(&f, 0x1000, T0, BOTH_FIRST_HALF);
	assert_at(&f, 0x1000, T0 + 2 * MS, BOTH_FIRST_HALF);
	assert_at(&f, 0x1020, T0 + 9 * MS, BOTH_SECOND_HALF);
	assert_int_equal(at(&f, 0x1000, T0)->claims[0].origin.publisher, SHIM);
	assert_int_equal(at(&f, 0x1000, T0)->loaded_ns, T0);
	end(&f);
}

/* The richer one's later time does not take anything away; another name holds from then on. */
CASE(test_richer_second_and_later)
{
	struct fixture f;

	begin(&f);
	load_poor(&f, T0);
	load_rich(&f, T0 + 2 * MS);
	assert_counts(&f, 1, 1);
	assert_at(&f, 0x1000, T0 - 1, NULL);
	assert_at(&f, 0x1000, T0, "dump's@b.c:30 [module]");
	assert_at(&f, 0x1000, T0 + 2 * MS, BOTH_FIRST_HALF);
	end(&f);
}

/* A richer publisher that gives no name, source and lines leaves the poorer one's. */
CASE(test_richer_says_less)
{
	struct fixture f;

	begin(&f);
	load_poor(&f, T0);
	load(&f, SHIM, 1, 0x1000, 0x40, "", T0 + 1);
	assert_counts(&f, 1, 1);
	assert_at(&f, 0x1020, T0 + 1, "dump's@b.c:40 [module]");
	assert_int_equal(at(&f, 0x1000, T0)->claims[0].origin.publisher, SHIM);
	end(&f);
}

CASE(test_three_publishers)
{
	struct fixture f;

	begin(&f);
	load(&f, PERF_MAP, 1, 0x1000, 0x40, "map's", T0 + 1000 * MS);
	load_poor(&f, T0 + 5 * MS);
	load_rich(&f, T0);
	assert_counts(&f, 1, 2);
	assert_at(&f, 0x1000, T0, BOTH_FIRST_HALF);
	assert_int_equal(at(&f, 0x1000, T0)->claim_count, 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(at(&f, 0x1000, T0)->claims[i].origin.publisher, i);
	unload(&f, JITDUMP, 1, T0 + 2000 * MS);
	assert_at(&f, 0x1000, T0 + 2000 * MS, NULL);
	end(&f);
}

/* Whatever a sample was told stays what it means. */
CASE(test_held_stays)
{
	struct fixture f;
	struct code_region *held;
	char text[CODE_TEXT_BYTES];

	begin(&f);
	load_poor(&f, T0);
	held = (struct code_region *)at(&f, 0x1000, T0);
	space_value_get(&held->value);
	load_rich(&f, T0);
	assert_at(&f, 0x1000, T0, BOTH_FIRST_HALF);
	assert_int_not_equal(at(&f, 0x1000, T0)->number, held->number);
	code_text(held, 0x1000, text);
	assert_string_equal(text, "dump's@b.c:30 [module]");
	assert_int_equal(held->claim_count, 1);
	space_value_put(&held->value);
	end(&f);
}

CASE(test_not_the_same)
{
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "shim's", T0);
	/* Another size; another start; too far apart in time. */
	load(&f, JITDUMP, 1, 0x1000, 0x41, "longer", T0 + 1);
	assert_at(&f, 0x1000, T0, "shim's");
	assert_at(&f, 0x1000, T0 + 1, "longer");
	load(&f, SHIM, 2, 0x1001, 0x40, "shifted", T0 + 2);
	assert_at(&f, 0x1000, T0 + 2, NULL);
	assert_at(&f, 0x1001, T0 + 2, "shifted");
	load(&f, JITDUMP, 2, 0x1001, 0x40, "later", T0 + 2 + 10 * MS + 1);
	assert_counts(&f, 4, 0);
	assert_at(&f, 0x1001, T0 + 2 + 10 * MS, "shifted");
	assert_at(&f, 0x1001, T0 + 2 + 10 * MS + 1, "later");
	/* A publisher's own second load is new code, always. */
	load(&f, JITDUMP, 3, 0x1001, 0x40, "again", T0 + 2 + 10 * MS + 2);
	assert_counts(&f, 5, 0);
	assert_at(&f, 0x1001, T0 + 2 + 10 * MS + 2, "again");
	end(&f);
}

/*
 * A thread is preempted between its reports of "a", and code is loaded at one place all the time:
 * the dump's "a" is not taken for the next code, nor all that follow for those after them.
 */
CASE(test_preempted_between_reports)
{
	for (int same = 0; same < 2; same++) {
		struct fixture f;

		begin(&f);
		load(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
		load(&f, JITDUMP, 1, 0x1000, 0x40, same ? "a" : "A", T0 + 11 * MS);
		for (uint64_t i = 1; i < 20; i++) {
			uint64_t time_ns = T0 + (11 + 8 * i) * MS;
			const char name[] = {(char)('a' + i), 0};
			const char other[] = {(char)('A' + i), 0};

			load(&f, SHIM, 1 + i, 0x1000, 0x40, name, time_ns);
			load(&f, JITDUMP, 1 + i, 0x1000, 0x40, same ? name : other, time_ns + 1);
		}
		if (same)
			assert_counts(&f, 20, 20);
		for (uint64_t i = 1; i < 20; i++) {
			const struct code_region *region =
				at(&f, 0x1000, T0 + (11 + 8 * i) * MS + MS);

			assert_non_null(region);
			assert_true(region->name[0] == (char)('a' + i) ||
				    region->name[0] == (char)('A' + i));
		}
		end(&f);
	}
}

/* A jitdump file numbers its loads. */
CASE(test_numbered_names)
{
	static const struct {
		const char *dump;
		uint64_t merged;
	} cases[] = {{"gemm.0", 1},  {"gemm.12", 1}, {"gemm", 1}, {"gemm.", 0},
		     {"gemm.1a", 0}, {"gemm0", 0},   {"gem", 0},  {"", 0}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture f;

		begin(&f);
		load(&f, JITDUMP, 1, 0x1000, 0x40, cases[i].dump, T0);
		load(&f, SHIM, 1, 0x1000, 0x40, "gemm", T0 + 100 * MS);
		assert_int_equal(f.counts->merged, cases[i].merged);
		assert_string_equal(at(&f, 0x1000, T0)->name,
				    cases[i].merged ? "gemm" : cases[i].dump);
		end(&f);
	}
}

CASE(test_time_error_of_the_poorer)
{
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0 + 10 * MS);
	load(&f, SHIM, 2, 0x2000, 0x40, "b", T0);
	load(&f, JITDUMP, 2, 0x2000, 0x40, "b", T0 - 10 * MS);
	load(&f, JITDUMP, 3, 0x3000, 0x40, "c", T0);
	load(&f, PERF_MAP, 3, 0x3000, 0x40, "c", T0 + 3000 * MS);
	assert_counts(&f, 3, 3);
	load(&f, JITDUMP, 4, 0x4000, 0x40, "d", T0);
	load(&f, PERF_MAP, 4, 0x4000, 0x40, "d", T0 + 3000 * MS + 1);
	assert_counts(&f, 5, 3);
	end(&f);
}

/* Both from before the profiler ran: their times say nothing, that both are live does. */
CASE(test_before_the_run)
{
	struct code_event event;
	struct fixture f;

	begin(&f);
	event = load_of(&f, JITDUMP, 1, 0x1000, 0x40, "a", 5);
	event.flags = JITBPF_EVENT_BEFORE_RUN;
	apply(&f, &event);
	event = load_of(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
	event.flags = JITBPF_EVENT_BEFORE_RUN | JITBPF_EVENT_RECOVERED;
	apply(&f, &event);
	assert_counts(&f, 1, 1);
	event = load_of(&f, JITDUMP, 2, 0x2000, 0x40, "b", 5);
	event.flags = JITBPF_EVENT_BEFORE_RUN;
	apply(&f, &event);
	load(&f, SHIM, 2, 0x2000, 0x40, "b", T0);
	assert_counts(&f, 3, 1);
	end(&f);
}

/* --- the end of it --------------------------------------------------------------------- */

CASE(test_unload_by_either)
{
	const enum jitbpf_publisher publishers[] = {SHIM, JITDUMP};

	for (size_t first = 0; first < 2; first++) {
		for (size_t by = 0; by < 2; by++) {
			struct fixture f;

			begin(&f);
			load(&f, publishers[first], 1, 0x1000, 0x40, "a", T0);
			load(&f, publishers[!first], 1, 0x1000, 0x40, "a", T0);
			unload(&f, publishers[by], 1, T0 + 5);
			assert_counts(&f, 1, 1);
			assert_int_equal(f.counts->unloads, 1);
			assert_at(&f, 0x1000, T0 + 4, "a");
			assert_at(&f, 0x1000, T0 + 5, NULL);
			unload(&f, publishers[!by], 1, T0 + 5);
			assert_int_equal(f.counts->unload_unknown, 1);
			end(&f);
		}
	}
}

/* Ids are each publisher's own. */
CASE(test_unload_of_the_same_id)
{
	struct code_event event;
	struct fixture f;

	begin(&f);
	event = load_of(&f, SHIM, 0, 0x1000, 0x40, "shim's", T0);
	event.method_id = 7;
	apply(&f, &event);
	event = load_of(&f, JITDUMP, 0, 0x2000, 0x40, "dump's", T0);
	event.method_id = 7;
	apply(&f, &event);
	event = event_of(&f, JITDUMP, JITBPF_CODE_UNLOAD, T0 + 1);
	event.method_id = 7;
	apply(&f, &event);
	assert_at(&f, 0x1000, T0 + 1, "shim's");
	assert_at(&f, 0x2000, T0 + 1, NULL);
	/* The same id by both, for one region. */
	event = load_of(&f, JITDUMP, 0, 0x1000, 0x40, "shim's", T0);
	event.method_id = 7;
	apply(&f, &event);
	assert_counts(&f, 2, 1);
	event = event_of(&f, SHIM, JITBPF_CODE_UNLOAD, T0 + 2);
	event.method_id = 7;
	apply(&f, &event);
	assert_at(&f, 0x1000, T0 + 2, NULL);
	end(&f);
}

/* What one publisher has ended, a late report by the other does not bring back. */
CASE(test_reported_after_its_end)
{
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
	unload(&f, SHIM, 1, T0 + 3);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0 + 1);
	assert_counts(&f, 1, 1);
	assert_at(&f, 0x1000, T0 + 2, "a");
	assert_at(&f, 0x1000, T0 + 3, NULL);
	/* The dump's next load there is another one. */
	load(&f, JITDUMP, 2, 0x1000, 0x40, "b", T0 + 4);
	assert_counts(&f, 2, 1);
	assert_at(&f, 0x1000, T0 + 4, "b");
	end(&f);
}

/*
 * Code that is loaded anew at one place within the time error: each report finds its own, by
 * name or time, though the other publisher is ahead.
 */
CASE(test_loaded_anew_at_one_place)
{
	for (int named = 0; named < 2; named++) {
		struct fixture f;

		begin(&f);
		for (uint64_t i = 0; i < 20; i++)
			load(&f, SHIM, 1 + i, 0x1000, 0x40, (char[]){(char)('a' + i), 0},
			     T0 + i * MS / 4);
		for (uint64_t i = 0; i < 20; i++) {
			const char name[] = {(char)('a' + i), 0};
			uint64_t shift_ns = named ? MS : MS / 16;

			load(&f, JITDUMP, 1 + i, 0x1000, 0x40, named ? name : "?",
			     T0 + i * MS / 4 + shift_ns);
		}
		assert_counts(&f, 20, 20);
		for (uint64_t i = 0; i < 20; i++)
			assert_at(&f, 0x1000, T0 + i * MS / 4, (char[]){(char)('a' + i), 0});
		assert_at(&f, 0x1000, T0 + 100 * MS, "t");
		unload(&f, JITDUMP, 20, T0 + 200 * MS);
		assert_at(&f, 0x1000, T0 + 200 * MS, NULL);
		end(&f);
	}
}

/* A version that an update made is no other code: it is not claimed twice. */
CASE(test_versions_are_one)
{
	struct code_event update;
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
	update = event_of(&f, SHIM, JITBPF_CODE_UPDATE, T0 + 1);
	update.address = 0x1000;
	update.size_bytes = 4;
	apply(&f, &update);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0 + 2);
	assert_counts(&f, 1, 1);
	load(&f, JITDUMP, 2, 0x1000, 0x40, "b", T0 + 3);
	assert_counts(&f, 2, 1);
	assert_at(&f, 0x1000, T0 + 3, "b");
	end(&f);
}

/* A gap in one publisher's events ends what that one described, whoever else did. */
CASE(test_gap)
{
	struct fixture f;

	begin(&f);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "both", T0);
	load(&f, SHIM, 1, 0x1000, 0x40, "both", T0);
	load(&f, JITDUMP, 2, 0x2000, 0x40, "dump's", T0);
	load(&f, SHIM, 3, 0x3000, 0x40, "shim's", T0);
	assert_int_equal(apply_shim_gap(f.map, f.account, T0 + 5, T0 + 9, NULL, 0), 0);
	assert_at(&f, 0x1000, T0 + 5, NULL);
	assert_at(&f, 0x2000, T0 + 5, "dump's");
	assert_at(&f, 0x3000, T0 + 5, NULL);
	/* The shim's report of that time is over, and so is the dump's of the same code. */
	load(&f, JITDUMP, 4, 0x4000, 0x40, "lost", T0 + 6);
	load(&f, SHIM, 4, 0x4000, 0x40, "lost", T0 + 6);
	assert_int_equal(f.counts->in_gap, 1);
	assert_at(&f, 0x4000, T0 + 6, NULL);
	end(&f);
}

/* Inlined methods of the shim go into a region that a dump told of first. */
CASE(test_inlined_into_merged)
{
	struct fixture f;

	begin(&f);
	inlined(&f, 2, 1, 0x1010, 0x10, "in", T0);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "outer", T0);
	assert_at(&f, 0x1010, T0, "outer");
	load(&f, SHIM, 1, 0x1000, 0x40, "outer", T0);
	assert_at(&f, 0x1010, T0, "in < outer");
	inlined(&f, 3, 2, 0x1010, 8, "inner", T0 + 1);
	assert_at(&f, 0x1010, T0 + 1, "inner < in < outer");
	/* And stay in it when the dump adds something. */
	load(&f, PERF_MAP, 0, 0x1000, 0x40, "outer", T0 + 2);
	assert_at(&f, 0x1010, T0 + 2, "inner < in < outer");
	assert_int_equal(f.counts->inlines, 2);
	assert_int_equal(f.counts->inline_no_parent, 0);
	end(&f);
}

/* A child's publisher describes inherited code: the parent's region stays the parent's. */
CASE(test_fork)
{
	struct code_map *child;
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
	assert_int_equal(code_map_clone(f.map, &child), 0);
	for (int i = 0; i < 2; i++) {
		struct code_event event = load_of(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0 + 1);

		event.module = string_of(i ? "parent" : "child");
		assert_int_equal(code_map_apply(i ? f.map : child, f.account, &event), 0);
	}
	assert_counts(&f, 1, 2);
	assert_string_equal(code_region_module(code_map_find(child, 0x1000, T0)), "child");
	assert_string_equal(code_region_module(at(&f, 0x1000, T0)), "parent");
	unload(&f, JITDUMP, 1, T0 + 2);
	assert_at(&f, 0x1000, T0 + 2, NULL);
	assert_non_null(code_map_find(child, 0x1000, T0 + 2));
	assert_int_equal(code_map_clear(child, T0 + 3), 0);
	assert_null(code_map_find(child, 0x1000, T0 + 3));
	code_map_destroy(child);
	end(&f);
}

/* Claims alone, without anything new to show: the other map does not see them either. */
CASE(test_fork_claims)
{
	struct code_map *child;
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "a", T0);
	assert_int_equal(code_map_clone(f.map, &child), 0);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0 + 1);
	assert_int_equal(at(&f, 0x1000, T0)->claim_count, 2);
	assert_int_equal(code_map_find(child, 0x1000, T0)->claim_count, 1);
	unload(&f, JITDUMP, 1, T0 + 2);
	assert_at(&f, 0x1000, T0 + 2, NULL);
	assert_non_null(code_map_find(child, 0x1000, T0 + 2));
	code_map_destroy(child);
	end(&f);
}

/* Without a budget for what it adds, a report is merged all the same. */
CASE(test_over_budget)
{
	struct code_budget budget = {.methods = 10, .name_bytes = 12, .lines = 0};
	struct fixture f;

	begin_with(&f, &budget);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "name", T0);
	load(&f, SHIM, 1, 0x1000, 0x40, "a longer name", T0);
	assert_counts(&f, 1, 1);
	assert_int_equal(f.counts->over_budget, 1);
	assert_at(&f, 0x1000, T0, "name");
	unload(&f, SHIM, 1, T0 + 1);
	assert_at(&f, 0x1000, T0 + 1, NULL);
	end(&f);
}

/* --- moves, lines ------------------------------------------------------------------------ */

CASE(test_move)
{
	struct fixture f;

	begin(&f);
	load_rich(&f, T0);
	inlined(&f, 2, 1, 0x1010, 0x10, "in", T0 + 1);
	load(&f, JITDUMP, 9, 0x2020, 0x40, "in the way", T0 + 1);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "dump's", T0 + 2);
	move(&f, JITDUMP, 1, 0x1000, 0x2000, 0x40, T0 + 10);
	assert_int_equal(f.counts->moves, 1);
	assert_counts(&f, 2, 1);
	assert_at(&f, 0x1010, T0 + 9, "in < Class::shim's@a.c:3");
	assert_at(&f, 0x1010, T0 + 10, NULL);
	assert_at(&f, 0x2010, T0 + 9, NULL);
	assert_at(&f, 0x2010, T0 + 10, "in < Class::shim's@a.c:3");
	assert_at(&f, 0x2020, T0 + 9, "in the way");
	assert_at(&f, 0x2020, T0 + 10, "Class::shim's@a.c:4");
	assert_at(&f, 0x2040, T0 + 10, NULL);
	/* It can be inlined into, updated and unloaded there, by either. */
	inlined(&f, 3, 2, 0x2018, 0x8, "inner", T0 + 11);
	assert_at(&f, 0x2018, T0 + 11, "inner < in < Class::shim's@a.c:3");
	unload(&f, SHIM, 1, T0 + 20);
	assert_at(&f, 0x2010, T0 + 20, NULL);
	end(&f);
}

/* Onto a part of itself; and back. */
CASE(test_move_overlaps)
{
	struct fixture f;

	begin(&f);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0);
	move(&f, JITDUMP, 1, 0x1000, 0x1020, 0x40, T0 + 1);
	assert_at(&f, 0x1000, T0 + 1, NULL);
	assert_at(&f, 0x105f, T0 + 1, "a");
	move(&f, JITDUMP, 1, 0x1020, 0x1000, 0, T0 + 2); /* of any size */
	assert_at(&f, 0x1000, T0 + 2, "a");
	assert_at(&f, 0x1040, T0 + 2, NULL);
	move(&f, JITDUMP, 1, 0x1000, 0x1000, 0x40, T0 + 3); /* nowhere else */
	assert_at(&f, 0x1000, T0 + 3, "a");
	assert_int_equal(f.counts->moves, 3);
	assert_int_equal(at(&f, 0x1000, T0 + 3)->loaded_ns, T0 + 3);
	unload(&f, JITDUMP, 1, T0 + 4);
	assert_at(&f, 0x1000, T0 + 4, NULL);
	end(&f);
}

CASE(test_move_unknown)
{
	struct fixture f;

	begin(&f);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0);
	load(&f, JITDUMP, 2, 0x2000, 0x40, "b", T0);
	load(&f, JITDUMP, 3, 0x3000, 0x40, "c", T0);
	move(&f, JITDUMP, 2, 0x1000, 0x3000, 0x40, T0 + 1); /* not its id */
	assert_at(&f, 0x1000, T0 + 1, NULL);
	assert_at(&f, 0x3000, T0 + 1, NULL);
	move(&f, JITDUMP, 2, 0x2000, 0x3000, 0x30, T0 + 2); /* not its size */
	assert_at(&f, 0x2000, T0 + 2, NULL);
	move(&f, JITDUMP, 2, 0x2000, 0x3000, 0x40, T0 + 3); /* not there */
	assert_int_equal(f.counts->move_unknown, 3);
	move(&f, JITDUMP, 2, 0x2000, 0, 0x40, T0 + 4);
	move(&f, JITDUMP, 2, 0x2000, UINT64_MAX - 4, 0x40, T0 + 4);
	assert_int_equal(f.counts->invalid, 2);
	assert_int_equal(f.counts->moves, 0);
	/* One that came before the region did: the region is not there yet. */
	load(&f, JITDUMP, 4, 0x4000, 0x40, "d", T0 + 10);
	move(&f, JITDUMP, 4, 0x4000, 0x5000, 0x40, T0 + 9);
	assert_at(&f, 0x4000, T0 + 10, "d");
	assert_at(&f, 0x5000, T0 + 10, NULL);
	end(&f);
}

/* A sample at the old place keeps what it means, and budgets hold. */
CASE(test_move_held)
{
	struct code_budget budget = {.methods = 2, .name_bytes = 100, .lines = 0};
	struct code_region *held;
	struct fixture f;

	begin_with(&f, &budget);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0);
	held = (struct code_region *)at(&f, 0x1000, T0);
	space_value_get(&held->value);
	move(&f, JITDUMP, 1, 0x1000, 0x2000, 0x40, T0 + 1);
	assert_at(&f, 0x2000, T0 + 1, "a");
	assert_int_equal(held->address, 0x1000);
	move(&f, JITDUMP, 1, 0x2000, 0x3000, 0x40, T0 + 2);
	assert_int_equal(f.counts->over_budget, 1);
	assert_at(&f, 0x2000, T0 + 2, NULL);
	assert_at(&f, 0x3000, T0 + 2, NULL);
	space_value_put(&held->value);
	end(&f);
}

static void replace_lines(struct fixture *f, enum jitbpf_publisher publisher, uint64_t address,
			  const char *source, const struct jitbpf_code_line *lines, size_t count)
{
	struct code_event event = event_of(f, publisher, JITBPF_CODE_LINES, T0 + 5);

	event.address = address;
	event.source = string_of(source);
	event.lines = lines;
	event.line_count = count;
	event.flags = JITBPF_EVENT_LINE_STARTS;
	apply(f, &event);
}

CASE(test_lines)
{
	struct code_region *held;
	struct fixture f;
	char text[CODE_TEXT_BYTES];

	begin(&f);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0);
	held = (struct code_region *)at(&f, 0x1000, T0);
	space_value_get(&held->value);
	replace_lines(&f, JITDUMP, 0x1000, "b.c", dump_lines, 2);
	assert_at(&f, 0x1020, T0, "a@b.c:40");
	code_text(held, 0x1020, text);
	assert_string_equal(text, "a");
	space_value_put(&held->value);
	/* A source is not needed; a poorer publisher's table is not taken, a richer one's is. */
	replace_lines(&f, JITDUMP, 0x1000, "", dump_lines, 1);
	assert_at(&f, 0x1020, T0, "a@b.c:30");
	replace_lines(&f, PERF_MAP, 0x1000, "c.c", dump_lines, 2);
	assert_at(&f, 0x1020, T0, "a@b.c:30");
	replace_lines(&f, SHIM, 0x1000, "d.c", dump_lines, 2);
	assert_at(&f, 0x1020, T0, "a@d.c:40");
	replace_lines(&f, JITDUMP, 0x1000, "e.c", dump_lines, 1);
	assert_at(&f, 0x1020, T0, "a@d.c:40");
	assert_int_equal(f.counts->updates, 5);
	replace_lines(&f, JITDUMP, 0x1004, "", dump_lines, 2); /* in a region */
	replace_lines(&f, JITDUMP, 0x2000, "", dump_lines, 2); /* nowhere */
	assert_int_equal(f.counts->update_unknown, 2);
	end(&f);
}

/* --- late loads ---------------------------------------------------------------------------- */

static void load_late(struct fixture *f, uint64_t id, uint64_t address, uint64_t size_bytes,
		      const char *name, uint64_t since_ns, uint64_t time_ns)
{
	struct code_event event = load_of(f, SHIM, id, address, size_bytes, name, time_ns);

	event.flags = JITBPF_EVENT_LATE;
	event.since_ns = since_ns;
	apply(f, &event);
}

CASE(test_late)
{
	struct fixture f;

	begin(&f);
	/* Free since ever, since since_ns, since an end, and not free at all. */
	load_late(&f, 1, 0x1000, 0x40, "ever", 0, T0);
	assert_at(&f, 0x1000, 0, "ever");
	load_late(&f, 2, 0x2000, 0x40, "since", T0 - 50, T0);
	assert_at(&f, 0x2000, T0 - 51, NULL);
	assert_at(&f, 0x2000, T0 - 50, "since");
	load(&f, SHIM, 3, 0x3020, 0x40, "before", T0 + 1);
	unload(&f, SHIM, 3, T0 + 5);
	load_late(&f, 4, 0x3000, 0x40, "after its end", 0, T0 + 9);
	assert_at(&f, 0x3020, T0 + 4, "before");
	assert_at(&f, 0x3020, T0 + 5, "after its end");
	assert_at(&f, 0x3000, T0 + 4, NULL);
	load_late(&f, 5, 0x3030, 0x40, "over it", 0, T0 + 20);
	assert_at(&f, 0x3030, T0 + 19, "after its end");
	assert_at(&f, 0x3030, T0 + 20, "over it");
	assert_int_equal(at(&f, 0x3030, T0 + 20)->loaded_ns, T0 + 20);
	assert_counts(&f, 5, 0);
	end(&f);
}

/* Not from before exec; and what is newer than the report stays. */
CASE(test_late_bounds)
{
	struct fixture f;

	begin(&f);
	load(&f, SHIM, 1, 0x1000, 0x40, "old", T0);
	assert_int_equal(code_map_clear(f.map, T0 + 10), 0);
	load_late(&f, 2, 0x2000, 0x40, "new", 0, T0 + 20);
	assert_at(&f, 0x2000, T0 + 9, NULL);
	assert_at(&f, 0x2000, T0 + 10, "new");
	load(&f, SHIM, 3, 0x3000, 0x40, "newer", T0 + 30);
	load_late(&f, 4, 0x3000, 0x40, "overtaken", T0 + 12, T0 + 25);
	assert_at(&f, 0x3000, T0 + 12, "overtaken");
	assert_at(&f, 0x3000, T0 + 29, "overtaken");
	assert_at(&f, 0x3000, T0 + 30, "newer");
	end(&f);
}

/* A late report of code that another publisher told of when it was loaded. */
CASE(test_late_merged)
{
	struct fixture f;

	begin(&f);
	load(&f, JITDUMP, 1, 0x1000, 0x40, "a", T0);
	load_late(&f, 1, 0x1000, 0x40, "better", T0 - 1, T0 + 500 * MS);
	assert_counts(&f, 1, 1);
	assert_at(&f, 0x1000, T0, "better");
	assert_at(&f, 0x1000, T0 - 1, NULL);
	end(&f);
}

/* --- ids ------------------------------------------------------------------------------------- */

/* 64 bits count; publishers that need no id may have none. */
CASE(test_ids)
{
	const uint64_t folded = 5ull << 32 | 6; /* its halves make 3, as does 3 itself */
	struct code_event event;
	struct fixture f;

	begin(&f);
	event = load_of(&f, JITDUMP, 0, 0x1000, 0x40, "wide", T0);
	event.method_id = folded;
	apply(&f, &event);
	event = load_of(&f, JITDUMP, 0, 0x2000, 0x40, "narrow", T0);
	event.method_id = 3;
	apply(&f, &event);
	assert_at(&f, 0x2000, T0, "narrow");
	event = event_of(&f, JITDUMP, JITBPF_CODE_UNLOAD, T0 + 1);
	event.method_id = folded;
	apply(&f, &event);
	assert_at(&f, 0x1000, T0 + 1, NULL);
	assert_at(&f, 0x2000, T0 + 1, "narrow");
	/* Regions without an id are methods of their own. */
	for (uint64_t i = 0; i < 3; i++) {
		event = load_of(&f, PERF_MAP, 0, 0x3000 + i * 0x40, 0x40,
				(char[]){(char)('x' + i), 0}, T0);
		apply(&f, &event);
	}
	assert_at(&f, 0x3000, T0, "x");
	assert_at(&f, 0x3080, T0, "z");
	event = load_of(&f, SHIM, 0, 0x5000, 0x40, "no id", T0);
	event.method_id = 0;
	apply(&f, &event);
	assert_int_equal(f.counts->invalid, 1);
	end(&f);
}
