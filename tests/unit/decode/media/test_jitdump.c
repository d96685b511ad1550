/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>

#include "decode/media/jitdump.h"
#include "decode/media/jitdump_event.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_jitdump.h"

#define PID 42
#define V8  0xdeadbeef

/* A copy of exactly that size, so that sanitizers detect reads beyond it. The caller frees it. */
static uint8_t *copy_of(const struct made_jitdump *made, size_t size_bytes)
{
	uint8_t *copy = malloc(size_bytes ? size_bytes : 1);

	assert_non_null(copy);
	memcpy(copy, made->bytes, size_bytes);
	return copy;
}

static void set_word(struct made_jitdump *made, size_t offset, uint32_t word)
{
	memcpy(made->bytes + offset, &word, sizeof(word));
}

static int decode_header(const struct made_jitdump *made, struct jitdump_header *ret)
{
	struct cursor c = cursor_of(made->bytes, made->size_bytes);

	return jitdump_header_decode(&c, ret);
}

CASE(test_header)
{
	struct made_jitdump made = {0};
	struct jitdump_header header;
	struct cursor c;

	made_jitdump_header(&made, PID, V8);
	made_jitdump_put(&made, "more", 4);
	set_word(&made, 8, 44); /* a longer header, of a later version */
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jitdump_header_decode(&c, &header), 1);
	assert_int_equal(cursor_left(&c), 0);
	assert_int_equal(header.pid, PID);
	assert_int_equal(header.reserved, V8);
	assert_int_equal(header.time_ns, 77);
}

CASE(test_header_that_is_not_whole)
{
	struct made_jitdump made = {0};
	struct jitdump_header header;

	made_jitdump_header(&made, PID, 0);
	for (size_t size = 0; size < made.size_bytes; size++) {
		uint8_t *copy = copy_of(&made, size);
		struct cursor c = cursor_of(copy, size);

		assert_int_equal(jitdump_header_decode(&c, &header), 0);
		assert_int_equal(cursor_offset(&c), 0);
		free(copy);
	}
}

CASE(test_headers_that_are_refused)
{
	static const struct {
		size_t offset;
		uint32_t word;
		int err;
	} cases[] = {
		{0, 0x464c457f, -EBADMSG}, /* ELF */
		{0, 0x4454694a, -ENOTSUP}, /* the other byte order */
		{4, 2, -ENOTSUP},	   /* version */
		{8, 39, -EBADMSG},	   {8, UINT32_MAX, -EBADMSG},
		{12, 183, -ENOTSUP}, /* AArch64 */
		{32, 1, -ETIME},     /* times of a TSC */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_jitdump made = {0};
		struct jitdump_header header;

		made_jitdump_header(&made, PID, 0);
		set_word(&made, cases[i].offset, cases[i].word);
		assert_int_equal(decode_header(&made, &header), cases[i].err);
	}
}

CASE(test_load)
{
	struct made_jitdump made = {0};
	struct jitdump_record record;
	struct cursor c;

	made_jitdump_load(&made, 9, PID, 0x1000, 16, "fib");
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jitdump_record_next(&c, &record), 1);
	assert_int_equal(record.kind, JITDUMP_LOAD);
	assert_int_equal(record.time_ns, 9);
	assert_int_equal(record.pid, PID);
	assert_int_equal(record.address, 0x1000);
	assert_int_equal(record.size_bytes, 16);
	assert_string_equal(record.name, "fib");
	assert_int_equal(((const uint8_t *)record.code)[15], 15);
	assert_int_equal(jitdump_record_next(&c, &record), 0);
}

CASE(test_move)
{
	struct made_jitdump made = {0};
	struct jitdump_record record;
	struct cursor c;

	made_jitdump_move(&made, 9, PID, 0x1000, 0x2000, 16);
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jitdump_record_next(&c, &record), 1);
	assert_int_equal(record.kind, JITDUMP_MOVE);
	assert_int_equal(record.old_address, 0x1000);
	assert_int_equal(record.address, 0x2000);
	assert_int_equal(record.size_bytes, 16);
}

CASE(test_lines)
{
	static const struct made_jitdump_line lines[] = {
		{0x1000, 3, 1, "\xff"}, {0x1004, 4, 1, "a.js"}, {0x1008, 5, 1, "\xff"}};
	struct made_jitdump made = {0};
	struct jitdump_line line = {0};
	struct jitdump_record record;
	struct cursor c;

	made_jitdump_lines(&made, 0x1000, lines, 3);
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jitdump_record_next(&c, &record), 1);
	assert_int_equal(record.address, 0x1000);
	assert_int_equal(jitdump_line_next(&record.lines, &line), 1);
	assert_string_equal(line.file, ""); /* the same as none */
	assert_int_equal(jitdump_line_next(&record.lines, &line), 1);
	assert_int_equal(jitdump_line_next(&record.lines, &line), 1);
	assert_string_equal(line.file, "a.js");
	assert_int_equal(line.line, 5);
	assert_int_equal(line.address, 0x1008);
	assert_int_equal(jitdump_line_next(&record.lines, &line), 0);
	record.lines.left = 1; /* of which there is only padding */
	assert_int_equal(jitdump_line_next(&record.lines, &line), -EBADMSG);
}

/* Records arrive in pieces: the last one waits until it is whole. */
CASE(test_record_that_is_not_whole)
{
	struct made_jitdump made = {0};
	struct jitdump_record record;
	uint32_t size_bytes = 0;

	made_jitdump_load(&made, 9, PID, 0x1000, 16, "fib");
	for (size_t size = 0; size < made.size_bytes; size++) {
		uint8_t *copy = copy_of(&made, size);
		struct cursor c = cursor_of(copy, size);

		assert_int_equal(jitdump_record_next(&c, &record), 0);
		assert_int_equal(cursor_offset(&c), 0);
		assert_int_equal(jitdump_record_size(&c, &size_bytes),
				 size >= JITDUMP_RECORD_BYTES);
		free(copy);
	}
	assert_int_equal(size_bytes, made.size_bytes);
}

/* What a process may write into one record, with a good one behind it. */
CASE(test_records_that_are_refused)
{
	static const struct {
		size_t offset;
		uint32_t word;
	} cases[] = {
		{24 + 8, 0},	/* the lower half of the address, the upper one being 0 */
		{24 + 16, 0},	/* of the size */
		{24 + 16, 17},	/* the code is one byte shorter */
		{24 + 20, 0x1}, /* a size of 4 GB */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_jitdump made = {0};
		struct jitdump_record record;
		struct cursor c;

		made_jitdump_load(&made, 9, PID, 0x1000, 16, "fib");
		set_word(&made, cases[i].offset, cases[i].word);
		made_jitdump_empty(&made, JITDUMP_CLOSE, 10);
		c = cursor_of(made.bytes, made.size_bytes);
		assert_int_equal(jitdump_record_next(&c, &record), -EBADMSG);
		assert_int_equal(jitdump_record_next(&c, &record), 1);
		assert_int_equal(record.kind, JITDUMP_CLOSE);
	}
}

CASE(test_name_without_an_end)
{
	struct made_jitdump made = {0};
	uint64_t fields[] = {PID, 0x1000, 0x1000, 1, 5};
	size_t begin = made_jitdump_begin(&made, JITDUMP_LOAD, 9);
	struct jitdump_record record;
	struct cursor c;

	made_jitdump_put(&made, fields, sizeof(fields));
	made_jitdump_put(&made, "fib", 3);
	made_jitdump_end(&made, begin);
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jitdump_record_next(&c, &record), -EBADMSG);
	assert_int_equal(cursor_left(&c), 0);
}

/* No record can follow one that claims to be smaller than what each begins with. */
CASE(test_size_that_leads_nowhere)
{
	struct made_jitdump made = {0};
	struct jitdump_record record;
	uint32_t size_bytes;
	struct cursor c;

	made_jitdump_empty(&made, JITDUMP_CLOSE, 10);
	set_word(&made, 4, 15);
	c = cursor_of(made.bytes, made.size_bytes);
	assert_int_equal(jitdump_record_next(&c, &record), -EBADMSG);
	assert_int_equal(cursor_offset(&c), 0);
	assert_int_equal(jitdump_record_size(&c, &size_bytes), -EBADMSG);
}

/* --- events ---------------------------------------------------------------------------- */

struct converted {
	struct jitdump_events events;
	struct made_jitdump made;
	struct cursor at;
};

static void begin(struct converted *converted, uint32_t reserved)
{
	*converted = (struct converted){
		.events.header = {.pid = PID, .reserved = reserved},
	};
}

/* Convert the next record that was made. */
static int convert(struct converted *converted, struct code_event *ret)
{
	struct jitdump_record record;

	if (!converted->at.at)
		converted->at = cursor_of(converted->made.bytes, converted->made.size_bytes);
	assert_int_equal(jitdump_record_next(&converted->at, &record), 1);
	return jitdump_events_convert(&converted->events, &record, ret);
}

static void assert_string(const struct code_string *string, const char *wanted)
{
	assert_int_equal(string->size_bytes, strlen(wanted));
	assert_memory_equal(string->bytes, wanted, strlen(wanted));
}

CASE(test_events)
{
	struct converted c;
	struct code_event event;

	begin(&c, 0);
	made_jitdump_load(&c.made, 9, PID, 0x1000, 16, "fib");
	made_jitdump_empty(&c.made, JITDUMP_UNWINDING_INFO, 10);
	made_jitdump_move(&c.made, 11, PID, 0x1000, 0x2000, 16);
	made_jitdump_empty(&c.made, 99, 12);
	made_jitdump_empty(&c.made, JITDUMP_CLOSE, 13);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.kind, JITBPF_CODE_LOAD);
	assert_int_equal(event.origin.publisher, JITBPF_PUBLISHER_JITDUMP);
	assert_int_equal(event.time_ns, 9);
	assert_int_equal(event.address, 0x1000);
	assert_int_equal(event.size_bytes, 16);
	assert_int_equal(event.line_count, 0);
	assert_string(&event.name, "fib");
	assert_int_equal(convert(&c, &event), 0);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.kind, JITBPF_CODE_MOVE);
	assert_int_equal(event.old_address, 0x1000);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.kind, JITBPF_CODE_UNKNOWN);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.kind, JITBPF_CODE_CLOSE);
	jitdump_events_deinit(&c.events);
}

static void assert_lines(const struct code_event *event, const struct jitbpf_code_line *wanted,
			 size_t count)
{
	assert_int_equal(event->line_count, count);
	assert_memory_equal(event->lines, wanted, count * sizeof(*wanted));
	assert_true(event->flags & JITBPF_EVENT_LINE_STARTS);
}

/* In order of address; of another file than the first one, without a line; none past the code. */
CASE(test_lines_of_a_load)
{
	static const struct made_jitdump_line lines[] = {
		{0x1000, 3, 1, "a.js"}, {0x1008, 90, 1, "b.js"}, {0x1004, 4, 1, "a.js"},
		{0x1010, 5, 1, "a.js"}, {0xfff, 6, 1, "a.js"},
	};
	struct converted c;
	struct code_event event;

	begin(&c, 0);
	made_jitdump_lines(&c.made, 0x1000, lines, 5);
	made_jitdump_load(&c.made, 9, PID, 0x1000, 16, "fib");
	made_jitdump_load(&c.made, 10, PID, 0x1000, 16, "other");
	assert_int_equal(convert(&c, &event), 0);
	assert_int_equal(convert(&c, &event), 1);
	assert_string(&event.source, "a.js");
	assert_lines(&event, (struct jitbpf_code_line[]){{0, 3}, {4, 4}, {8, 0}}, 3);
	/* They are of the one load. */
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.line_count, 0);
	assert_int_equal(event.source.size_bytes, 0);
	jitdump_events_deinit(&c.events);
}

CASE(test_lines_of_other_code)
{
	struct converted c;
	struct code_event event;

	begin(&c, 0);
	made_jitdump_lines(&c.made, 0x1000, &(struct made_jitdump_line){0x1000, 3, 1, "a.js"}, 1);
	made_jitdump_load(&c.made, 9, PID, 0x2000, 16, "fib");
	assert_int_equal(convert(&c, &event), 0);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.line_count, 0);
	jitdump_events_deinit(&c.events);
}

/* V8's are 64 bytes too high, and of code that is not optimized they are not addresses at all. */
CASE(test_lines_of_v8)
{
	static const struct made_jitdump_line lines[] = {
		{0x1000, 1, 1, "a.js"}, {0x1040, 3, 1, "a.js"}, {0x104f, 4, 1, "a.js"}};
	struct converted c;
	struct code_event event;

	begin(&c, V8);
	made_jitdump_lines(&c.made, 0x1000, lines, 3);
	made_jitdump_load(&c.made, 9, PID, 0x1000, 16, "JS:*fib a.js:1:2");
	made_jitdump_lines(&c.made, 0x1000, lines, 3);
	made_jitdump_load(&c.made, 10, PID, 0x1000, 16, "JS:^fib a.js:1:2");
	assert_int_equal(convert(&c, &event), 0);
	assert_int_equal(convert(&c, &event), 1);
	assert_lines(&event, (struct jitbpf_code_line[]){{0, 3}, {15, 4}}, 2);
	assert_int_equal(convert(&c, &event), 0);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.line_count, 0);
	jitdump_events_deinit(&c.events);
}

/* A name that is no text, or none of V8's, is not shown: V8 writes some from freed memory. */
CASE(test_sources_that_are_none)
{
	static const struct {
		uint32_t engine;
		const char *file;
		bool shown;
	} cases[] = {
		{V8, "/tmp/a.js", true}, {V8, "node:fs", true},	    {V8, "<unknown>", false},
		{V8, "DBU", false},	 {V8, "/a\x18\x1e", false}, {0, "a", true},
		{0, "a\nb", false},	 {0, "\xe9", false},	    {0, "\xc3\xa9", true},
		{0, "", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made_jitdump_line lines[] = {{0x1040, 1, 1, cases[i].file},
						    {0x1041, 2, 1, "/b.js"}};
		struct converted c;
		struct code_event event;
		const struct jitbpf_code_line *lines_of;

		begin(&c, cases[i].engine);
		made_jitdump_lines(&c.made, 0x1000, lines, 2);
		made_jitdump_load(&c.made, 9, PID, 0x1000, 80, "JS:*f");
		assert_int_equal(convert(&c, &event), 0);
		assert_int_equal(convert(&c, &event), 1);
		assert_string(&event.source, cases[i].shown ? cases[i].file : "/b.js");
		lines_of = event.lines;
		assert_int_equal(lines_of[0].line, cases[i].shown);
		assert_int_equal(lines_of[1].line, cases[i].shown ? 0 : 2);
		jitdump_events_deinit(&c.events);
	}
}

/* A child that inherited the file writes into it: what it says is of its own memory. */
CASE(test_another_process)
{
	struct converted c;
	struct code_event event;

	begin(&c, 0);
	made_jitdump_load(&c.made, 9, PID + 1, 0x1000, 16, "fib");
	made_jitdump_move(&c.made, 9, PID + 1, 0x1000, 0x2000, 16);
	made_jitdump_empty(&c.made, JITDUMP_CLOSE, 13);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.pid, PID + 1);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.pid, PID + 1);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.pid, PID);
	jitdump_events_deinit(&c.events);
}

CASE(test_lines_that_are_cut)
{
	struct converted c;
	struct code_event event;

	begin(&c, 0);
	made_jitdump_lines(&c.made, 0x1000, &(struct made_jitdump_line){0x1000, 3, 1, "a.js"}, 1);
	c.made.bytes[24] = 9; /* lines, as it claims */
	made_jitdump_load(&c.made, 9, PID, 0x1000, 16, "fib");
	assert_int_equal(convert(&c, &event), -EBADMSG);
	assert_int_equal(convert(&c, &event), 1);
	assert_int_equal(event.line_count, 0);
	jitdump_events_deinit(&c.events);
}
