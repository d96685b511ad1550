/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/media/jit_event.h"
#include "decode/record/code_event.h"
#include "decode/record/record_check.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/record/scope_bytes.h"

static const struct jitbpf_code_line lines[] = {{0, 7}, {12, 9}};

static struct code_string string_of(const char *s)
{
	return (struct code_string){.bytes = s, .size_bytes = strlen(s)};
}

static struct code_event full_event(void)
{
	return (struct code_event){
		.origin = {.publisher = JITBPF_PUBLISHER_JITDUMP,
			   .engine = 0x1122334455667788,
			   .sequence = 77},
		.pid = 10,
		.tid = 11,
		.start_ns = 12,
		.time_ns = 1000,
		.reported_ns = 1001,
		.since_ns = 900,
		.kind = JITBPF_CODE_MOVE,
		.flags = JITBPF_EVENT_LATE | JITBPF_EVENT_LINE_STARTS,
		.arch = 2,
		.segment = 3,
		.unknown_fields = 4,
		.method_id = 0x100000002,
		.parent_id = 0x100000003,
		.address = 0x10000,
		.old_address = 0x20000,
		.size_bytes = 0x40,
		.name = string_of("fib"),
		.class_name = string_of("Math"),
		.source = string_of("fib.js"),
		.module = string_of("engine"),
		.lines = lines,
		.line_count = 2,
	};
}

/* The copy has exactly its size, so that sanitizers detect reads beyond it. The caller frees it. */
static struct jitbpf_code_event *encode(const struct code_event *event)
{
	size_t size_bytes = code_event_record_bytes(event);
	struct jitbpf_code_event *record = malloc(size_bytes);

	assert_non_null(record);
	code_event_encode(event, record);
	assert_int_equal(record->h.size_bytes, size_bytes);
	assert_int_equal(record->h.type, JITBPF_CODE_EVENT);
	return record;
}

static void assert_same_string(const struct code_string *a, const struct code_string *b)
{
	assert_int_equal(a->size_bytes, b->size_bytes);
	if (a->size_bytes)
		assert_memory_equal(a->bytes, b->bytes, a->size_bytes);
}

static void assert_same(const struct code_event *a, const struct code_event *b)
{
	struct code_event plain_a = *a, plain_b = *b;

	assert_int_equal(a->origin.publisher, b->origin.publisher);
	assert_int_equal(a->origin.engine, b->origin.engine);
	assert_int_equal(a->origin.sequence, b->origin.sequence);
	assert_same_string(&a->name, &b->name);
	assert_same_string(&a->class_name, &b->class_name);
	assert_same_string(&a->source, &b->source);
	assert_same_string(&a->module, &b->module);
	assert_int_equal(a->line_count, b->line_count);
	if (a->line_count)
		assert_memory_equal(a->lines, b->lines, a->line_count * sizeof(lines[0]));
	/* The rest of the struct has no padding. */
	memset(&plain_a.origin, 0, sizeof(plain_a.origin));
	memset(&plain_b.origin, 0, sizeof(plain_b.origin));
	assert_int_equal(a->scope_bytes, b->scope_bytes);
	if (a->scope_bytes)
		assert_memory_equal(a->scopes, b->scopes, a->scope_bytes);
	plain_a.lines = plain_b.lines = plain_a.scopes = plain_b.scopes = NULL;
	plain_a.name = plain_a.class_name = plain_a.source = plain_a.module =
		(struct code_string){0};
	plain_b.name = plain_b.class_name = plain_b.source = plain_b.module =
		(struct code_string){0};
	assert_memory_equal(&plain_a, &plain_b, sizeof(plain_a));
}

static void assert_comes_back(const struct code_event *event)
{
	struct jitbpf_code_event *record = encode(event);
	struct code_event decoded;

	assert_int_equal(record_check(record, record->h.size_bytes), 0);
	assert_int_equal(code_event_decode(record, record->h.size_bytes, &decoded), 0);
	assert_same(&decoded, event);
	free(record);
}

CASE(test_round_trip)
{
	struct code_event event = full_event();

	assert_comes_back(&event);
	event = (struct code_event){.kind = JITBPF_CODE_UNLOAD, .method_id = 5};
	assert_comes_back(&event);
	event.name = string_of("");
	assert_comes_back(&event);
	event.source = string_of("x");
	assert_comes_back(&event);
}

CASE(test_scopes)
{
	struct scope_parts parts = scope_parts_example();
	struct code_event event = full_event(), decoded;
	struct jitbpf_code_event *record;
	uint8_t room[SCOPE_ROOM];

	event.kind = JITBPF_CODE_LOAD;
	event.scopes = scope_bytes(&parts, room, &event.scope_bytes);
	assert_comes_back(&event);
	room[1]++; /* number of methods */
	record = encode(&event);
	assert_int_equal(code_event_decode(record, record->h.size_bytes, &decoded), -EBADMSG);
	free(record);
}

static void append_part(struct jitbpf_code_event *record, uint32_t type, const void *bytes,
			size_t size_bytes)
{
	struct jitbpf_code_part part = {.type = type, .size_bytes = (uint32_t)size_bytes};
	uint8_t *at = (uint8_t *)record + record->h.size_bytes;

	memcpy(at, &part, sizeof(part));
	memcpy(at + sizeof(part), bytes, size_bytes);
	record->h.size_bytes += (uint32_t)(sizeof(part) + size_bytes);
}

CASE(test_unknown_and_repeated_parts)
{
	uint64_t room[64] = {0};
	struct jitbpf_code_event *record = (struct jitbpf_code_event *)room;
	struct code_event event = {.kind = JITBPF_CODE_LOAD, .unknown_fields = 2}, decoded;

	code_event_encode(&event, record);
	append_part(record, 999, "from the future", 15);
	append_part(record, JITBPF_CODE_PART_NAME, "first", 5);
	append_part(record, JITBPF_CODE_PART_NAME, "second", 6);
	append_part(record, JITBPF_CODE_PART_LINES, lines, sizeof(lines[0]));
	append_part(record, JITBPF_CODE_PART_LINES, lines, sizeof(lines));
	assert_int_equal(code_event_decode(record, sizeof(room), &decoded), 0);
	assert_int_equal(decoded.name.size_bytes, 5);
	assert_memory_equal(decoded.name.bytes, "first", 5);
	assert_int_equal(decoded.line_count, 1);
	assert_int_equal(decoded.unknown_fields, 5);
}

/* A record truncated at any byte decodes whole parts or fails. */
CASE(test_cut_anywhere)
{
	struct code_event event = full_event(), decoded, before;
	struct jitbpf_code_event *whole = encode(&event);
	size_t decodable = 0;

	memset(&decoded, 0xa5, sizeof(decoded));
	before = decoded;
	for (uint32_t cut = 0; cut <= whole->h.size_bytes; cut++) {
		struct jitbpf_code_event *record = malloc(cut ? cut : 1);
		int err;

		assert_non_null(record);
		memcpy(record, whole, cut);
		if (cut >= sizeof(record->h))
			record->h.size_bytes = cut;
		err = code_event_decode(record, cut, &decoded);
		if (!err) {
			decodable++;
			memset(&decoded, 0xa5, sizeof(decoded));
		} else {
			assert_int_equal(err, -EBADMSG);
			assert_memory_equal(&decoded, &before, sizeof(decoded));
		}
		free(record);
	}
	assert_int_equal(decodable, 6); /* without parts, or with one to five of them */
	free(whole);
}

static int check_with(void (*change)(struct jitbpf_code_event *record))
{
	uint64_t room[64] = {0};
	struct jitbpf_code_event *record = (struct jitbpf_code_event *)room;
	struct code_event event = full_event(), decoded;
	int err;

	code_event_encode(&event, record);
	change(record);
	err = code_event_decode(record, sizeof(room), &decoded);
	assert_int_equal(record_check(record, sizeof(room)), err == -ENOTSUP ? 0 : err);
	return err;
}

static void change_nothing(struct jitbpf_code_event *record)
{
}

static void size_too_small(struct jitbpf_code_event *record)
{
	record->h.size_bytes = sizeof(*record) - 1;
}

static void size_too_large(struct jitbpf_code_event *record)
{
	record->h.size_bytes = 513;
}

static void later_than_reported(struct jitbpf_code_event *record)
{
	record->reported_ns = record->h.time_ns - 1;
}

static void since_later(struct jitbpf_code_event *record)
{
	record->since_ns = record->h.time_ns + 1;
}

static void part_too_large(struct jitbpf_code_event *record)
{
	((struct jitbpf_code_part *)record->parts)->size_bytes = UINT32_MAX;
}

static void odd_lines(struct jitbpf_code_event *record)
{
	record->h.size_bytes = sizeof(*record);
	append_part(record, JITBPF_CODE_PART_LINES, lines, 9);
}

static void new_publisher(struct jitbpf_code_event *record)
{
	record->publisher = JITBPF_PUBLISHER_COUNT;
}

static void new_kind(struct jitbpf_code_event *record)
{
	record->kind = 999;
}

CASE(test_impossible)
{
	assert_int_equal(check_with(change_nothing), 0);
	assert_int_equal(check_with(size_too_small), -EBADMSG);
	assert_int_equal(check_with(size_too_large), -EBADMSG);
	assert_int_equal(check_with(later_than_reported), -EBADMSG);
	assert_int_equal(check_with(since_later), -EBADMSG);
	assert_int_equal(check_with(part_too_large), -EBADMSG);
	assert_int_equal(check_with(odd_lines), -EBADMSG);
	assert_int_equal(check_with(new_publisher), -ENOTSUP);
	assert_int_equal(check_with(new_kind), 0);
}

CASE(test_too_large)
{
	struct code_event event = {.kind = JITBPF_CODE_LOAD};
	size_t room = JITBPF_CODE_EVENT_MAX - sizeof(struct jitbpf_code_event) -
		      sizeof(struct jitbpf_code_part);

	event.name.size_bytes = room;
	assert_int_equal(code_event_record_bytes(&event), JITBPF_CODE_EVENT_MAX);
	event.name.size_bytes = room + 1;
	assert_int_equal(code_event_record_bytes(&event), 0);
	event.name.size_bytes = SIZE_MAX;
	assert_int_equal(code_event_record_bytes(&event), 0);
	event.name.size_bytes = 0;
	event.line_count = SIZE_MAX / 8 + 1;
	assert_int_equal(code_event_record_bytes(&event), 0);
}

/* --- from the JIT API ---------------------------------------------------------------- */

static struct code_event convert(uint16_t number, uint16_t flags, uint64_t time_ns, uint64_t hit_ns)
{
	struct jitbpf_jit record = {
		.h = {.flags = flags, .time_ns = hit_ns}, .pid = 5, .tid = 6, .start_ns = 7};
	struct jit_event jit = {
		.header = {.event = number,
			   .time_ns = time_ns,
			   .sequence = 8,
			   .caller = 0x400000,
			   .method_id = 9,
			   .parent_id = 10,
			   .address = 0x10000,
			   .code_bytes = 32},
		.name = string_of("f"),
		.segment = JITBPF_SEGMENT_DATA,
		.lines = lines,
		.line_count = 2,
	};
	struct code_event event;

	jit_event_convert(&jit, &record, &event);
	return event;
}

CASE(test_convert_all)
{
	struct code_event event = convert(JIT_EVENT_LOAD, 0, 900, 1000);
	struct code_event want = {
		.origin = {.publisher = JITBPF_PUBLISHER_SHIM, .engine = 0x400000, .sequence = 8},
		.pid = 5,
		.tid = 6,
		.start_ns = 7,
		.time_ns = 900,
		.reported_ns = 1000,
		.kind = JITBPF_CODE_LOAD,
		.segment = JITBPF_SEGMENT_DATA,
		.method_id = 9,
		.parent_id = 10,
		.address = 0x10000,
		.size_bytes = 32,
		.name = string_of("f"),
		.lines = lines,
		.line_count = 2,
	};

	assert_same(&event, &want);
	assert_comes_back(&event);
}

CASE(test_convert_kinds)
{
	static const struct {
		uint16_t number, kind, flags;
	} kinds[] = {
		{JIT_EVENT_LOAD, JITBPF_CODE_LOAD, 0},
		{JIT_EVENT_LOAD_V2, JITBPF_CODE_LOAD, 0},
		{JIT_EVENT_LOAD_V3, JITBPF_CODE_LOAD, 0},
		{JIT_EVENT_UNLOAD, JITBPF_CODE_UNLOAD, 0},
		{JIT_EVENT_INLINE_LOAD, JITBPF_CODE_INLINE, 0},
		{JIT_EVENT_UPDATE, JITBPF_CODE_UPDATE, 0},
		{JIT_EVENT_UPDATE_V2, JITBPF_CODE_UPDATE, JITBPF_EVENT_SEGMENT},
		{JIT_EVENT_SHUTDOWN, JITBPF_CODE_CLOSE, 0},
		{JIT_EVENT_ENTER_NIDS, JITBPF_CODE_NOTHING, 0},
		{JIT_EVENT_LEAVE_NIDS, JITBPF_CODE_NOTHING, 0},
		{0, JITBPF_CODE_UNKNOWN, 0},
		{12, JITBPF_CODE_UNKNOWN, 0},
		{UINT16_MAX, JITBPF_CODE_UNKNOWN, 0},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct code_event event = convert(kinds[i].number, 0, 900, 1000);

		assert_int_equal(event.kind, kinds[i].kind);
		assert_int_equal(event.flags, kinds[i].flags);
	}
}

CASE(test_convert_times)
{
	const uint16_t read = JITBPF_JIT_FROM_JOURNAL, before = read | JITBPF_JIT_LATE;
	const uint64_t s = 1000000000;
	const struct {
		uint16_t record_flags;
		uint64_t time_ns, hit_ns, want_ns;
		uint16_t want_flags;
	} times[] = {
		{0, 20 * s, 20 * s, 20 * s, 0},
		{0, 10 * s, 20 * s, 10 * s, 0},
		{0, 10 * s - 1, 20 * s, 20 * s, JITBPF_EVENT_TIME_CORRECTED},
		{0, 20 * s + 1, 20 * s, 20 * s, JITBPF_EVENT_TIME_CORRECTED},
		{read, 1, 20 * s, 1, JITBPF_EVENT_RECOVERED},
		{read, 21 * s, 20 * s, 20 * s, JITBPF_EVENT_RECOVERED},
		{before, 1, 20 * s, 1, JITBPF_EVENT_RECOVERED | JITBPF_EVENT_BEFORE_RUN},
	};

	for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
		struct code_event event = convert(JIT_EVENT_LOAD, times[i].record_flags,
						  times[i].time_ns, times[i].hit_ns);

		assert_int_equal(event.time_ns, times[i].want_ns);
		assert_int_equal(event.reported_ns, times[i].hit_ns);
		assert_int_equal(event.flags, times[i].want_flags);
	}
}

CASE(test_without_scopes)
{
	struct scope_parts parts = scope_parts_example();
	struct code_event event = full_event(), decoded;
	AUTO_FREE struct jitbpf_code_event *record = encode(&event), *plain = NULL;
	AUTO_FREE struct jitbpf_code_event *whole = NULL;
	uint8_t room[SCOPE_ROOM];

	assert_int_equal(code_event_without_scopes(record, &plain), 0);
	assert_null(plain);
	event.scopes = scope_bytes(&parts, room, &event.scope_bytes);
	whole = encode(&event);
	assert_int_equal(code_event_without_scopes(whole, &plain), 0);
	assert_int_equal(code_event_decode(plain, plain->h.size_bytes, &decoded), 0);
	event = full_event();
	assert_same(&event, &decoded);
	whole->reported_ns = 0;
	assert_int_equal(code_event_without_scopes(whole, &plain), -EBADMSG);
}
