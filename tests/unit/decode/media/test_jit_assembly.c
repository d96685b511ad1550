/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>

#include "decode/media/jit_assembly.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_jit.h"

/* A load whose name is long enough to be split into parts. */
static void make(struct made_jit *made, uint64_t sequence, const char *name)
{
	made_jit_begin(made, JIT_EVENT_LOAD, sequence);
	made_jit_string(made, JITBPF_JIT_NAME, name);
	made_jit_string(made, JITBPF_JIT_SOURCE, "a source file of some length");
}

/* Pass one part. Returns true if it completes a record. */
static bool give(struct jit_assembly *assembly, uint32_t tid, const struct made_jit *made,
		 unsigned part, unsigned part_count, struct jit_event *ret)
{
	unsigned char bytes[sizeof(*made)];
	size_t size_bytes = made_jit_part(made, part, part_count, bytes);
	unsigned char *exact = malloc(size_bytes);
	bool complete;

	assert_non_null(exact);
	memcpy(exact, bytes, size_bytes);
	assert_int_equal(jit_assembly_add(assembly, tid, exact, size_bytes, ret, &complete), 0);
	/* The event of a single part borrows it: keep only the header. */
	if (complete && part_count == 1)
		*ret = (struct jit_event){.header = ret->header};
	free(exact);
	return complete;
}

static void assert_name(const struct jit_event *event, const char *want)
{
	assert_int_equal(event->name.size_bytes, strlen(want));
	assert_memory_equal(event->name.bytes, want, strlen(want));
}

static void assert_empty(const struct jit_assembly *assembly)
{
	assert_int_equal(assembly->slots.size, 0);
	assert_int_equal(assembly->bytes, 0);
}

CASE(test_single)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event;

	make(&made, 9, "whole");
	assert_true(give(&assembly, 1, &made, 0, 1, &event));
	assert_int_equal(event.header.sequence, 9);
	assert_empty(&assembly);
	assert_int_equal(assembly.incomplete + assembly.over_budget + assembly.malformed, 0);
	jit_assembly_deinit(&assembly);
}

/* Records of several threads are interleaved. */
CASE(test_interleaved)
{
	struct jit_assembly assembly = {0};
	struct made_jit a, b;
	struct jit_event event;

	make(&a, 1, "of thread one");
	make(&b, 2, "of thread two");
	for (unsigned part = 0; part < 6; part++) {
		assert_false(give(&assembly, 1, &a, part, 7, &event));
		if (part < 4)
			assert_false(give(&assembly, 2, &b, part, 5, &event));
	}
	assert_true(give(&assembly, 2, &b, 4, 5, &event));
	assert_name(&event, "of thread two");
	assert_true(give(&assembly, 1, &a, 6, 7, &event));
	assert_name(&event, "of thread one");
	assert_empty(&assembly);
	assert_int_equal(assembly.incomplete, 0);
	jit_assembly_deinit(&assembly);
}

/* More parts than bytes: some parts are empty. */
CASE(test_empty_parts)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event;

	made_jit_begin(&made, JIT_EVENT_UNLOAD, 3);
	assert_false(give(&assembly, 1, &made, 0, 2, &event));
	assert_true(give(&assembly, 1, &made, 1, 2, &event));
	assert_int_equal(event.header.event, JIT_EVENT_UNLOAD);
	assert_null(event.name.bytes);
	jit_assembly_deinit(&assembly);
}

/* Whichever part is missing, the record is counted once, and the next record is complete. */
CASE(test_missing_part)
{
	for (unsigned missing = 0; missing < 4; missing++) {
		struct jit_assembly assembly = {0};
		struct made_jit made;
		struct jit_event event;

		make(&made, 1, "with a hole");
		for (unsigned part = 0; part < 4; part++) {
			if (part != missing)
				assert_false(give(&assembly, 1, &made, part, 4, &event));
		}
		make(&made, 2, "whole again");
		assert_false(give(&assembly, 1, &made, 0, 2, &event));
		assert_true(give(&assembly, 1, &made, 1, 2, &event));
		assert_name(&event, "whole again");
		assert_int_equal(assembly.incomplete, 1);
		assert_empty(&assembly);
		jit_assembly_deinit(&assembly);
	}
}

CASE(test_interrupted_by_a_single)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event;

	make(&made, 1, "never finished");
	assert_false(give(&assembly, 1, &made, 0, 3, &event));
	make(&made, 2, "single");
	assert_true(give(&assembly, 1, &made, 0, 1, &event));
	assert_int_equal(assembly.incomplete, 1);
	assert_empty(&assembly);
	/* Parts of two incomplete records. */
	make(&made, 3, "the end is missing");
	assert_false(give(&assembly, 1, &made, 0, 3, &event));
	make(&made, 4, "the beginning is missing");
	assert_false(give(&assembly, 1, &made, 2, 3, &event));
	assert_int_equal(assembly.incomplete, 3);
	assert_empty(&assembly);
	jit_assembly_deinit(&assembly);
}

CASE(test_part_twice)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event;

	make(&made, 1, "told twice");
	assert_false(give(&assembly, 1, &made, 0, 3, &event));
	assert_false(give(&assembly, 1, &made, 1, 3, &event));
	assert_false(give(&assembly, 1, &made, 1, 3, &event));
	assert_false(give(&assembly, 1, &made, 2, 3, &event));
	assert_int_equal(assembly.incomplete, 1);
	assert_empty(&assembly);
	/* Parts with different part counts do not form a record. */
	make(&made, 2, "two ways");
	assert_false(give(&assembly, 1, &made, 0, 3, &event));
	assert_false(give(&assembly, 1, &made, 1, 2, &event));
	assert_int_equal(assembly.incomplete, 3);
	assert_empty(&assembly);
	jit_assembly_deinit(&assembly);
}

CASE(test_flush)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event;

	for (uint32_t tid = 0; tid < 10; tid++) {
		make(&made, tid, "unfinished");
		assert_false(give(&assembly, tid, &made, 0, 2, &event));
	}
	jit_assembly_flush(&assembly);
	assert_int_equal(assembly.incomplete, 10);
	assert_empty(&assembly);
	jit_assembly_flush(&assembly);
	assert_int_equal(assembly.incomplete, 10);
	jit_assembly_deinit(&assembly);
}

/* Threads that ended in the middle of a record are evicted for others. */
CASE(test_too_many_threads)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event;

	make(&made, 1, "unfinished");
	for (uint32_t tid = 0; tid < JIT_ASSEMBLY_THREADS + 5; tid++)
		assert_false(give(&assembly, tid, &made, 0, 2, &event));
	assert_int_equal(assembly.over_budget, 5);
	assert_int_equal(assembly.slots.size, JIT_ASSEMBLY_THREADS);
	assert_true(give(&assembly, JIT_ASSEMBLY_THREADS + 4, &made, 1, 2, &event));
	assert_true(give(&assembly, 5, &made, 1, 2, &event));
	assert_int_equal(assembly.incomplete, 0);
	/* The record of the first thread was dropped. */
	assert_false(give(&assembly, 0, &made, 1, 2, &event));
	jit_assembly_deinit(&assembly);
}

CASE(test_too_many_bytes)
{
	static struct made_jit large;
	struct jit_assembly assembly = {0};
	struct jit_event event;
	static char name[8000];
	unsigned parts = JIT_ASSEMBLY_BYTES / sizeof(name) * 2 - 20;

	made_jit_begin(&large, JIT_EVENT_LOAD, 1);
	made_jit_field(&large, JITBPF_JIT_NAME, name, sizeof(name));
	/* Two threads fill the buffer; the one that has waited longer is evicted. */
	for (unsigned part = 0; part < parts; part++) {
		unsigned char bytes[sizeof(large)];
		size_t size_bytes = made_jit_part(&large, 0, 1, bytes);
		struct jitbpf_jit_header header;
		bool complete;

		memcpy(&header, bytes, sizeof(header));
		header.part = (uint16_t)(part / 2);
		header.part_count = UINT16_MAX;
		memcpy(bytes, &header, sizeof(header));
		assert_int_equal(
			jit_assembly_add(&assembly, part % 2, bytes, size_bytes, &event, &complete),
			0);
		assert_false(complete);
		assert_true(assembly.bytes <= JIT_ASSEMBLY_BYTES);
	}
	assert_int_equal(assembly.over_budget, 1);
	assert_int_equal(assembly.slots.size, 2);
	jit_assembly_flush(&assembly);
	assert_int_equal(assembly.incomplete, 1);
	assert_empty(&assembly);
	jit_assembly_deinit(&assembly);
}

CASE(test_one_record_too_large)
{
	static struct made_jit large;
	static char name[8000];
	struct jit_assembly assembly = {0};
	struct jit_event event;
	unsigned parts = JIT_ASSEMBLY_BYTES / sizeof(name) + 10;

	made_jit_begin(&large, JIT_EVENT_LOAD, 1);
	made_jit_field(&large, JITBPF_JIT_NAME, name, sizeof(name));
	for (unsigned part = 0; part < parts; part++) {
		unsigned char bytes[sizeof(large)];
		size_t size_bytes = made_jit_part(&large, 0, 1, bytes);
		struct jitbpf_jit_header header;
		bool complete;

		memcpy(&header, bytes, sizeof(header));
		header.part = (uint16_t)part;
		header.part_count = (uint16_t)parts;
		memcpy(bytes, &header, sizeof(header));
		assert_int_equal(
			jit_assembly_add(&assembly, 1, bytes, size_bytes, &event, &complete), 0);
		assert_false(complete);
	}
	assert_int_equal(assembly.over_budget, 1);
	assert_int_equal(assembly.incomplete, 0);
	assert_empty(&assembly);
	jit_assembly_deinit(&assembly);
}

CASE(test_malformed)
{
	struct jit_assembly assembly = {0};
	struct made_jit made;
	struct jit_event event, before;
	unsigned char bytes[sizeof(made)];
	bool complete = true;
	size_t size_bytes;

	memset(&event, 0x5a, sizeof(event));
	before = event;
	assert_int_equal(jit_assembly_add(&assembly, 1, "short", 5, &event, &complete), -EBADMSG);
	make(&made, 1, "its last field is cut off");
	made.field_bytes -= 3;
	size_bytes = made_jit_part(&made, 0, 1, bytes);
	assert_int_equal(jit_assembly_add(&assembly, 1, bytes, size_bytes, &event, &complete),
			 -EBADMSG);
	/* In two parts, the error is detected with the last one. */
	size_bytes = made_jit_part(&made, 0, 2, bytes);
	assert_int_equal(jit_assembly_add(&assembly, 1, bytes, size_bytes, &event, &complete), 0);
	assert_false(complete);
	size_bytes = made_jit_part(&made, 1, 2, bytes);
	assert_int_equal(jit_assembly_add(&assembly, 1, bytes, size_bytes, &event, &complete),
			 -EBADMSG);
	assert_false(complete);
	assert_int_equal(assembly.malformed, 3);
	assert_memory_equal(&event, &before, sizeof(event));
	assert_empty(&assembly);
	jit_assembly_deinit(&assembly);
}
