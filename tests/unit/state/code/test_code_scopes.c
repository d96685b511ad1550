/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Loads with a scope table. */
#include <stdint.h>

#include <sys/mman.h>

#include "tests/unit/cases.h"
#include "state/code/code_region.h"
#include "tests/unit/decode/record/scope_bytes.h"
#include "tests/unit/state/apply_jit.h"
#include "tests/unit/state/code_text.h"

#define MS 1000000ull
#define T0 (5000 * MS)

#define JVMTI	JITBPF_PUBLISHER_JVMTI
#define JITDUMP JITBPF_PUBLISHER_JITDUMP

struct fixture {
	struct code_map *map;
	struct code_account *account;
	uint64_t next_number, sequence;
	uint8_t room[SCOPE_ROOM];
	const void *scopes;
	size_t scope_bytes;
};

static void begin_with(struct fixture *f, const struct code_budget *budget)
{
	struct scope_parts parts = scope_parts_example();

	*f = (struct fixture){.account = make_account(budget)};
	f->scopes = scope_bytes(&parts, f->room, &f->scope_bytes);
	assert_int_equal(code_map_create(&f->next_number, &f->map), 0);
}

static void begin(struct fixture *f)
{
	begin_with(f, &code_budget_default);
}

static void end(struct fixture *f)
{
	code_map_destroy(f->map);
	assert_int_equal(f->account->methods + f->account->lines + f->account->name_bytes, 0);
	assert_int_equal(f->account->refs, 1);
	code_account_put(f->account);
}

static struct code_event event_of(struct fixture *f, enum jitbpf_publisher publisher, uint16_t kind,
				  uint64_t time_ns)
{
	return (struct code_event){
		.origin = {.publisher = publisher,
			   .engine = CODE_ENGINE_KNOWN,
			   .sequence = f->sequence++},
		.kind = kind,
		.time_ns = time_ns,
		.reported_ns = time_ns,
		.since_ns = time_ns,
		.address = 0x1000,
		.size_bytes = 0x40,
	};
}

static struct code_event load_of(struct fixture *f, enum jitbpf_publisher publisher,
				 const char *name, uint64_t time_ns)
{
	struct code_event event = event_of(f, publisher, JITBPF_CODE_LOAD, time_ns);

	event.method_id = f->sequence;
	event.name = (struct code_string){.bytes = name, .size_bytes = strlen(name)};
	return event;
}

static void apply(struct fixture *f, const struct code_event *event)
{
	assert_int_equal(code_map_apply(f->map, f->account, event), 0);
}

/* The table's memory does not outlive the event. */
static void load(struct fixture *f, enum jitbpf_publisher publisher, uint64_t time_ns)
{
	struct code_event event = load_of(f, publisher, "fill", time_ns);
	uint8_t copy[SCOPE_ROOM];

	memcpy(copy, f->scopes, f->scope_bytes);
	event.scopes = copy;
	event.scope_bytes = f->scope_bytes;
	event.source = (struct code_string){.bytes = "F.c", .size_bytes = 3};
	apply(f, &event);
	memset(copy, 0xff, sizeof(copy));
}

static void assert_at(const struct fixture *f, uint64_t offset, uint64_t time_ns, const char *want)
{
	const struct code_region *region = code_map_find(f->map, 0x1000 + offset, time_ns);
	char text[CODE_TEXT_BYTES] = "nothing";

	if (region)
		code_text(region, 0x1000 + offset, text);
	assert_string_equal(text, want);
}

static void assert_all(const struct fixture *f, uint64_t time_ns)
{
	assert_at(f, 0, time_ns, "fill@F.c:9");
	assert_at(f, 15, time_ns, "fill@F.c:9");
	assert_at(f, 16, time_ns, "helper@F.c:3 < fill@F.c:9");
	assert_at(f, 32, time_ns, "C::leaf < helper@F.c:3 < fill@F.c:9");
	assert_at(f, 39, time_ns, "C::leaf < helper@F.c:3 < fill@F.c:9");
	assert_at(f, 40, time_ns, "fill@F.c");
	assert_at(f, 48, time_ns, "fill@F.c:12");
	assert_at(f, 63, time_ns, "fill@F.c:12");
}

CASE(test_levels)
{
	struct fixture f;

	begin(&f);
	load(&f, JVMTI, T0);
	assert_all(&f, T0);
	assert_int_equal(f.account->counts.loads, 1);
	assert_true(f.account->name_bytes > f.scope_bytes);
	end(&f);
}

CASE(test_fork)
{
	struct code_map *child;
	struct fixture f;

	begin(&f);
	load(&f, JVMTI, T0);
	assert_int_equal(code_map_clone(f.map, &child), 0);
	code_map_destroy(f.map);
	f.map = child;
	assert_all(&f, T0 + MS);
	end(&f);
}

/* A line table and the scopes: the scopes decide where they have any. */
CASE(test_line_table)
{
	static const struct jitbpf_code_line lines[] = {{0, 70}, {40, 80}};
	struct code_event event;
	struct fixture f;

	begin(&f);
	event = load_of(&f, JVMTI, "fill", T0);
	event.scopes = f.scopes;
	event.scope_bytes = f.scope_bytes;
	event.lines = lines;
	event.line_count = 2;
	event.flags = JITBPF_EVENT_LINE_STARTS;
	apply(&f, &event);
	assert_at(&f, 0, T0, "fill@:9");
	assert_at(&f, 40, T0, "fill@:80");
	end(&f);
}

/* The scopes stay whichever publisher is first. */
CASE(test_merged)
{
	struct code_event event;
	struct fixture f;

	begin(&f);
	event = load_of(&f, JITDUMP, "poor", T0);
	apply(&f, &event);
	load(&f, JVMTI, T0 + 5 * MS);
	assert_all(&f, T0 + 5 * MS);
	assert_int_equal(f.account->counts.merged, 1);
	end(&f);

	begin(&f);
	load(&f, JVMTI, T0);
	event = load_of(&f, JITDUMP, "poor", T0 + 5 * MS);
	event.module = (struct code_string){.bytes = "m", .size_bytes = 1};
	apply(&f, &event);
	assert_int_equal(f.account->counts.merged, 1);
	assert_at(&f, 32, T0 + 5 * MS, "C::leaf < helper@F.c:3 < fill@F.c:9 [m]");
	end(&f);
}

CASE(test_new_lines_keep_scopes)
{
	static const struct jitbpf_code_line lines[] = {{0, 70}};
	struct code_event event;
	struct fixture f;

	begin(&f);
	load(&f, JVMTI, T0);
	event = event_of(&f, JVMTI, JITBPF_CODE_LINES, T0 + MS);
	event.lines = lines;
	event.line_count = 1;
	event.flags = JITBPF_EVENT_LINE_STARTS;
	apply(&f, &event);
	assert_at(&f, 16, T0 + MS, "helper@F.c:3 < fill@F.c:9");
	assert_at(&f, 40, T0 + MS, "fill@F.c:70");
	end(&f);
}

CASE(test_update_ends_scopes)
{
	struct code_event event;
	struct fixture f;

	begin(&f);
	load(&f, JVMTI, T0);
	event = event_of(&f, JVMTI, JITBPF_CODE_UPDATE, T0 + MS);
	event.address = 0x1010;
	event.size_bytes = 16;
	apply(&f, &event);
	assert_at(&f, 15, T0 + MS, "fill@F.c:9");
	assert_at(&f, 16, T0 + MS, "fill@F.c");
	assert_at(&f, 32, T0 + MS, "C::leaf < helper@F.c:3 < fill@F.c:9");
	end(&f);
}

CASE(test_over_budget)
{
	struct code_budget budget = code_budget_default;
	struct fixture f;

	budget.name_bytes = 64; /* the strings alone would fit */
	begin_with(&f, &budget);
	load(&f, JVMTI, T0);
	assert_at(&f, 0, T0, "nothing");
	assert_int_equal(f.account->counts.over_budget, 1);
	end(&f);
}

/* What the agent reports applies to earlier samples too, down to the end of the code before it. */
CASE(test_late)
{
	struct jit_event jit = {.header = {.event = JIT_EVENT_JVM_LOAD,
					   .time_ns = T0,
					   .method_id = 1,
					   .address = 0x1000,
					   .code_bytes = 0x40},
				.name = {.bytes = "late", .size_bytes = 4}};
	struct code_event event;
	struct fixture f;

	begin(&f);
	load(&f, JVMTI, T0 - 900 * MS);
	event = event_of(&f, JVMTI, JITBPF_CODE_UNLOAD, T0 - 300 * MS);
	event.size_bytes = 1;
	apply(&f, &event);
	event = code_event_of(&jit, CODE_ENGINE_KNOWN, T0);
	assert_int_equal(event.origin.publisher, JVMTI);
	assert_int_equal(event.since_ns, T0 - 1000 * MS);
	apply(&f, &event);
	assert_at(&f, 0, T0 - 301 * MS, "fill@F.c:9");
	assert_at(&f, 0, T0 - 300 * MS, "late");
	assert_at(&f, 0, T0, "late");
	jit.header.event = JIT_EVENT_JVM_UNLOAD;
	event = code_event_of(&jit, CODE_ENGINE_KNOWN, T0 + MS);
	assert_int_equal(event.kind, JITBPF_CODE_UNLOAD);
	event.method_id = 0;
	apply(&f, &event);
	assert_at(&f, 0, T0 + MS, "nothing");
	end(&f);
}

/*
 * A look-up reads a few bytes of a table, whatever its size: here, the pages between those that it
 * needs cannot be read.
 */
CASE(test_look_up_in_a_large_table)
{
	enum { SCOPES = 400000, PAGE = 4096 };
	const struct jitbpf_scope_table counts = {
		.method_count = 1,
		.scope_count = SCOPES,
		.range_count = 1,
		.string_bytes = 1,
	};
	const size_t scopes_bytes = SCOPES * sizeof(struct jitbpf_scope);
	const size_t size_bytes = sizeof(counts) + sizeof(struct jitbpf_scope_method) +
				  scopes_bytes + sizeof(struct jitbpf_scope_range) + 1;
	uint8_t *bytes =
		mmap(NULL, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct jitbpf_scope *scopes =
		(void *)(bytes + sizeof(counts) + sizeof(struct jitbpf_scope_method));
	const struct jitbpf_scope_range range = {.scope = 1};
	struct {
		struct code_record record;
		struct code_version version;
	} made = {.record.region = {.name = "", .texts = CODE_NO_TEXTS, .is_version = true}};
	struct code_level levels[CODE_LEVELS_MAX];

	assert_true(bytes != MAP_FAILED);
	memcpy(bytes, &counts, sizeof(counts));
	scopes[0] = (struct jitbpf_scope){.caller = JITBPF_NO_SCOPE, .depth = 1, .line = 7};
	scopes[1] = (struct jitbpf_scope){.caller = 0, .depth = 2, .line = 8};
	memcpy(scopes + SCOPES, &range, sizeof(range));
	made.version.tables = bytes;
	made.record.region.scope_bytes = size_bytes;
	assert_int_equal(mprotect(bytes + PAGE, scopes_bytes / PAGE / 2 * PAGE, PROT_NONE), 0);
	assert_int_equal(code_region_levels(&made.record.region, 5, levels), 2);
	assert_int_equal(levels[0].line, 8);
	assert_int_equal(levels[1].line, 7);
	munmap(bytes, size_bytes);
}
