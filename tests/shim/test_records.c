/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All bytes of the records of events. Payloads are written by offset, in the
 * engines' layout, without the shim's structs.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "tests/shim/record_expect.h"
#include "tests/shim/shim_fixture.h"

#define STRING_MAX (1u << 20)
#define LINES_MAX  1000000u

static struct shim shim;

static int forget(void **state)
{
	hits_clear();
	return 0;
}

static void test_load(void **state)
{
	uint8_t *payload = at_edge_of_memory(64);
	static const uint32_t lines[] = {0, 1, 16, 2, 16, 3};
	struct bytes fields = {0};

	put_prefix(payload, 64, "name");
	put_u32(payload, 28, 3);
	put_pointer(payload, 32, lines);
	put_pointer(payload, 48, "the class");
	put_pointer(payload, 56, "/src/file.c");
	bytes_put_field(&fields, JITBPF_JIT_NAME, "name", 4);
	bytes_put_field(&fields, JITBPF_JIT_CLASS, "the class", 9);
	bytes_put_field(&fields, JITBPF_JIT_SOURCE, "/src/file.c", 11);
	bytes_put_field(&fields, JITBPF_JIT_LINES, lines, sizeof(lines));
	expect_record(&shim, 13, payload, PREFIX_HEADER, &fields);
}

static void test_load_v2(void **state)
{
	uint8_t *payload = at_edge_of_memory(64);
	struct bytes fields = {0};

	put_prefix(payload, 64, "name");
	put_pointer(payload, 40, "C");
	put_pointer(payload, 48, "s");
	put_pointer(payload, 56, "module.so");
	bytes_put_field(&fields, JITBPF_JIT_NAME, "name", 4);
	bytes_put_field(&fields, JITBPF_JIT_CLASS, "C", 1);
	bytes_put_field(&fields, JITBPF_JIT_SOURCE, "s", 1);
	bytes_put_field(&fields, JITBPF_JIT_MODULE, "module.so", 9);
	expect_record(&shim, 21, payload, PREFIX_HEADER, &fields);
}

static void test_load_v3(void **state)
{
	uint8_t *payload = at_edge_of_memory(68);
	uint32_t arch = 2;
	struct bytes fields = {0};

	put_prefix(payload, 68, "name");
	put_pointer(payload, 40, NULL);
	put_pointer(payload, 48, NULL);
	put_pointer(payload, 56, "m");
	put_u32(payload, 64, arch);
	bytes_put_field(&fields, JITBPF_JIT_NAME, "name", 4);
	bytes_put_field(&fields, JITBPF_JIT_MODULE, "m", 1);
	bytes_put_field(&fields, JITBPF_JIT_ARCH, &arch, sizeof(arch));
	expect_record(&shim, 22, payload, PREFIX_HEADER, &fields);
}

static void test_null_and_empty_leave_no_field(void **state)
{
	static const uint32_t lines[] = {0, 1};
	uint8_t payload[64];
	struct bytes fields = {0};

	put_prefix(payload, sizeof(payload), NULL);
	put_pointer(payload, 32, lines); /* with a count of 0 */
	put_pointer(payload, 48, "");
	put_pointer(payload, 56, NULL);
	expect_record(&shim, 13, payload, PREFIX_HEADER, &fields);
	put_u32(payload, 28, 1000); /* a count without a table */
	put_pointer(payload, 32, NULL);
	expect_record(&shim, 13, payload, PREFIX_HEADER, &fields);
}

static void test_inline_load(void **state)
{
	uint8_t *payload = at_edge_of_memory(56);
	struct jitbpf_jit_header header = PREFIX_HEADER;
	static const uint32_t lines[] = {4, 11};
	struct bytes fields = {0};

	put_prefix(payload, 56, "inlined");
	put_u32(payload, 4, 815);
	put_u32(payload, 28, 1);
	put_pointer(payload, 32, lines);
	put_pointer(payload, 40, "C");
	put_pointer(payload, 48, "s.c");
	header.parent_id = 815;
	bytes_put_field(&fields, JITBPF_JIT_NAME, "inlined", 7);
	bytes_put_field(&fields, JITBPF_JIT_CLASS, "C", 1);
	bytes_put_field(&fields, JITBPF_JIT_SOURCE, "s.c", 3);
	bytes_put_field(&fields, JITBPF_JIT_LINES, lines, sizeof(lines));
	expect_record(&shim, 16, payload, header, &fields);
}

/* Fields after the size are not read: the name pointer is invalid. */
static void test_update_is_id_address_and_size(void **state)
{
	uint8_t *payload = at_edge_of_memory(64);
	struct bytes fields = {0};

	put_prefix(payload, 64, (void *)1);
	put_u32(payload, 28, 1000);
	put_pointer(payload, 32, (void *)1);
	expect_record(&shim, 15, payload, PREFIX_HEADER, &fields);
}

static void test_update_of_a_segment(void **state)
{
	uint8_t *payload = at_edge_of_memory(24);
	uint32_t type = 2;
	struct bytes fields = {0};

	put_u64(payload, 0, 0x7f1234567000);
	put_u32(payload, 8, 0xfffffff0);
	put_u32(payload, 12, type);
	put_pointer(payload, 16, "utf-8");
	bytes_put_field(&fields, JITBPF_JIT_SEGMENT, &type, sizeof(type));
	bytes_put_field(&fields, JITBPF_JIT_FORMAT, "utf-8", 5);
	expect_record(&shim, 17, payload, method_header(0, 0x7f1234567000, 0xfffffff0), &fields);
	put_pointer(payload, 16, NULL);
	bytes_put_field(&fields, JITBPF_JIT_SEGMENT, &type, sizeof(type));
	expect_record(&shim, 17, payload, method_header(0, 0x7f1234567000, 0xfffffff0), &fields);
}

static void test_nids(void **state)
{
	uint8_t *payload = at_edge_of_memory(16);
	struct bytes fields = {0};

	for (unsigned int event = 19; event <= 20; event++) {
		put_u32(payload, 0, 33);
		put_u32(payload, 4, 0xeeeeeeee);
		put_pointer(payload, 8, "method");
		bytes_put_field(&fields, JITBPF_JIT_NAME, "method", 6);
		expect_record(&shim, event, payload, method_header(33, 0, 0), &fields);
	}
}

static bool has_payload(unsigned int event)
{
	static const unsigned int events[] = {13, 14, 15, 16, 17, 19, 20, 21, 22};

	for (size_t i = 0; i < ARRAY_SIZE(events); i++) {
		if (events[i] == event)
			return true;
	}
	return false;
}

static void test_other_events_are_bare_headers(void **state)
{
	struct bytes fields = {0};

	for (unsigned int event = 0; event <= 40; event++) {
		expect_record(&shim, event, NULL, method_header(0, 0, 0), &fields);
		if (!has_payload(event))
			expect_record(&shim, event, (void *)1, method_header(0, 0, 0), &fields);
	}
}

static void test_impossible_event_number_does_not_pass_for_a_load(void **state)
{
	assert_int_equal(shim.notify(0x1000d, (void *)1), 1);
	assert_int_equal(hits_count(), 1);
	assert_int_equal(hit_at(0)->event, UINT16_MAX);
}

/* Names of about the size that fills a part. */
static void test_parts_are_full_and_never_empty(void **state)
{
	size_t room = JITBPF_JIT_PART_MAX - sizeof(struct jitbpf_jit_header) -
		      sizeof(struct jitbpf_jit_field);
	AUTO_FREE char *name = malloc(2 * JITBPF_JIT_PART_MAX);
	uint8_t payload[64];

	assert_non_null(name);
	for (size_t size = room - 20; size <= room + 20; size++) {
		struct bytes fields = {0};

		memset(name, 'n', size);
		name[size] = 0;
		put_prefix(payload, sizeof(payload), name);
		put_pointer(payload, 48, "c");
		put_pointer(payload, 56, NULL);
		bytes_put_field(&fields, JITBPF_JIT_NAME, name, size);
		bytes_put_field(&fields, JITBPF_JIT_CLASS, "c", 1);
		expect_record(&shim, 13, payload, PREFIX_HEADER, &fields);
	}
}

static void test_long_name_and_line_table(void **state)
{
	size_t line_bytes = 100000 * 8;
	AUTO_FREE uint32_t *lines = malloc(line_bytes);
	char name[10001] = "";
	uint8_t payload[64];
	struct bytes fields = {0};

	assert_non_null(lines);
	for (uint32_t i = 0; i < line_bytes / 4; i++)
		lines[i] = i * 2654435761u;
	for (size_t i = 0; i < sizeof(name) - 1; i++)
		name[i] = (char)('a' + i % 26);
	put_prefix(payload, sizeof(payload), name);
	put_u32(payload, 28, 100000);
	put_pointer(payload, 32, lines);
	put_pointer(payload, 48, NULL);
	put_pointer(payload, 56, "file");
	bytes_put_field(&fields, JITBPF_JIT_NAME, name, 10000);
	bytes_put_field(&fields, JITBPF_JIT_SOURCE, "file", 4);
	bytes_put_field(&fields, JITBPF_JIT_LINES, lines, line_bytes);
	expect_record(&shim, 13, payload, PREFIX_HEADER, &fields);
}

/* A string of `size` bytes, whose field is expected whole or truncated. */
static void expect_long_string(size_t size, size_t carried, uint32_t flags)
{
	AUTO_FREE char *name = malloc(size + 1);
	struct jitbpf_jit_header header = PREFIX_HEADER;
	struct bytes fields = {0};
	uint8_t payload[64];

	assert_non_null(name);
	memset(name, 'x', size);
	name[size] = 0;
	put_prefix(payload, sizeof(payload), "n");
	put_pointer(payload, 48, name);
	put_pointer(payload, 56, NULL);
	header.flags = flags;
	bytes_put_field(&fields, JITBPF_JIT_NAME, "n", 1);
	bytes_put_field(&fields, JITBPF_JIT_CLASS, name, carried);
	expect_record(&shim, 13, payload, header, &fields);
}

static void test_strings_are_cut_at_their_bound(void **state)
{
	expect_long_string(STRING_MAX, STRING_MAX, 0);
	expect_long_string(STRING_MAX + 1, STRING_MAX, JITBPF_JIT_TRUNCATED);
	expect_long_string(2 * STRING_MAX, STRING_MAX, JITBPF_JIT_TRUNCATED);
}

static void expect_long_table(uint32_t count, uint32_t carried, uint32_t flags)
{
	AUTO_FREE uint8_t *lines = calloc(count, 8);
	struct jitbpf_jit_header header = PREFIX_HEADER;
	struct bytes fields = {0};
	uint8_t payload[64];

	assert_non_null(lines);
	put_prefix(payload, sizeof(payload), NULL);
	put_u32(payload, 28, count);
	put_pointer(payload, 32, lines);
	put_pointer(payload, 48, NULL);
	put_pointer(payload, 56, NULL);
	header.flags = flags;
	bytes_put_field(&fields, JITBPF_JIT_LINES, lines, carried * (size_t)8);
	expect_record(&shim, 13, payload, header, &fields);
}

static void test_line_tables_are_cut_at_their_bound(void **state)
{
	expect_long_table(LINES_MAX, LINES_MAX, 0);
	expect_long_table(LINES_MAX + 1, LINES_MAX, JITBPF_JIT_TRUNCATED);
}

static void test_both_entries_tell_their_own_caller(void **state)
{
	struct whole_record record;

	assert_int_equal(call_from_mark(2, NULL, (void *)shim.ijit_notify), 1);
	assert_true(record_of(hit_at(0)->sequence, &record));
	assert_int_equal(record.header.caller, (uintptr_t)caller_mark);
	assert_int_equal(record.header.event, 2);
}

static void test_nobody_attached_makes_no_record(void **state)
{
	uint64_t sequence;

	shim.notify(2, NULL);
	sequence = hit_at(0)->sequence;
	*shim.site.semaphore = 0;
	shim.notify(2, NULL);
	*shim.site.semaphore = 1;
	shim.notify(2, NULL);
	assert_int_equal(hits_count(), 2);
	/* The event still has its number, and its entry in the journal. */
	assert_int_equal(hit_at(1)->sequence, sequence + 2);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_load, forget),
		cmocka_unit_test_setup(test_load_v2, forget),
		cmocka_unit_test_setup(test_load_v3, forget),
		cmocka_unit_test_setup(test_inline_load, forget),
		cmocka_unit_test_setup(test_update_is_id_address_and_size, forget),
		cmocka_unit_test_setup(test_update_of_a_segment, forget),
		cmocka_unit_test_setup(test_nids, forget),
		cmocka_unit_test_setup(test_null_and_empty_leave_no_field, forget),
		cmocka_unit_test_setup(test_other_events_are_bare_headers, forget),
		cmocka_unit_test_setup(test_impossible_event_number_does_not_pass_for_a_load,
				       forget),
		cmocka_unit_test_setup(test_parts_are_full_and_never_empty, forget),
		cmocka_unit_test_setup(test_long_name_and_line_table, forget),
		cmocka_unit_test_setup(test_strings_are_cut_at_their_bound, forget),
		cmocka_unit_test_setup(test_line_tables_are_cut_at_their_bound, forget),
		cmocka_unit_test_setup(test_both_entries_tell_their_own_caller, forget),
		cmocka_unit_test_setup(test_nobody_attached_makes_no_record, forget),
	};

	shim_open(&shim);
	shim_listen(&shim);
	return cmocka_run_group_tests_name("shim: records", tests, NULL, NULL);
}
