/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdint.h>

#include <errno.h>
#include <stdlib.h>

#include "decode/media/jit_event.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/made_jit.h"

static int decode(const struct made_jit *made, size_t size_bytes, struct jit_event *ret)
{
	/* The copy has exactly its size, so that sanitizers detect reads beyond it. */
	unsigned char *bytes = malloc(size_bytes ? size_bytes : 1);
	int err;

	assert_non_null(bytes);
	memcpy(bytes, made->fields, size_bytes);
	err = jit_fields_decode(&made->header, bytes, size_bytes, ret);
	free(bytes);
	return err;
}

static void assert_string(const struct code_string *string, const char *want)
{
	assert_non_null(string->bytes);
	assert_int_equal(string->size_bytes, strlen(want));
	assert_memory_equal(string->bytes, want, string->size_bytes);
}

CASE(test_all_fields)
{
	struct jitbpf_jit_line lines[] = {{0, 7}, {12, 9}}, line;
	struct made_jit made;
	struct jit_event event;
	uint32_t arch = 2;

	made_jit_begin(&made, JIT_EVENT_LOAD_V3, 5);
	made.header.method_id = 42;
	made_jit_string(&made, JITBPF_JIT_NAME, "fib");
	made_jit_field(&made, JITBPF_JIT_LINES, lines, sizeof(lines));
	made_jit_string(&made, JITBPF_JIT_SOURCE, "fib.js");
	made_jit_string(&made, JITBPF_JIT_MODULE, "engine");
	made_jit_string(&made, JITBPF_JIT_CLASS, "");
	made_jit_field(&made, JITBPF_JIT_ARCH, &arch, sizeof(arch));
	assert_int_equal(jit_fields_decode(&made.header, made.fields, made.field_bytes, &event), 0);
	assert_string(&event.name, "fib");
	assert_string(&event.source, "fib.js");
	assert_string(&event.module, "engine");
	assert_string(&event.class_name, "");
	assert_int_equal(event.arch, 2);
	assert_int_equal(event.line_count, 2);
	memcpy(&line, (const char *)event.lines + sizeof(line), sizeof(line));
	assert_int_equal(line.offset, 12);
	assert_int_equal(line.line, 9);
	assert_int_equal(event.header.method_id, 42);
	assert_int_equal(event.unknown_fields, 0);
}

CASE(test_no_fields)
{
	struct made_jit made;
	struct jit_event event;

	made_jit_begin(&made, JIT_EVENT_UNLOAD, 0);
	assert_int_equal(decode(&made, 0, &event), 0);
	assert_null(event.name.bytes);
	assert_null(event.lines);
	assert_int_equal(event.line_count, 0);
}

CASE(test_unknown_and_repeated_fields)
{
	struct made_jit made;
	struct jit_event event;

	made_jit_begin(&made, JIT_EVENT_LOAD, 0);
	made_jit_string(&made, 999, "from the future");
	made_jit_string(&made, JITBPF_JIT_NAME, "first");
	made_jit_string(&made, JITBPF_JIT_NAME, "second");
	made_jit_string(&made, JITBPF_JIT_LINES, "12345678");
	made_jit_string(&made, JITBPF_JIT_LINES, "abcdefghabcdefgh");
	assert_int_equal(jit_fields_decode(&made.header, made.fields, made.field_bytes, &event), 0);
	assert_string(&event.name, "first");
	assert_int_equal(event.line_count, 1);
	assert_int_equal(event.unknown_fields, 3);
}

/* A stream truncated at any byte decodes whole fields or fails. */
CASE(test_cut_anywhere)
{
	struct made_jit made;
	struct jit_event event, before;
	size_t whole = 0;

	made_jit_begin(&made, JIT_EVENT_LOAD, 0);
	made_jit_string(&made, JITBPF_JIT_NAME, "name");
	made_jit_string(&made, JITBPF_JIT_LINES, "12345678");
	made_jit_string(&made, 1000, "?");
	memset(&event, 0xa5, sizeof(event));
	before = event;
	for (size_t cut = 0; cut <= made.field_bytes; cut++) {
		if (!decode(&made, cut, &event)) {
			whole++;
			memset(&event, 0xa5, sizeof(event));
		} else {
			assert_int_equal(decode(&made, cut, &event), -EBADMSG);
			assert_memory_equal(&event, &before, sizeof(event));
		}
	}
	assert_int_equal(whole, 4);
}

CASE(test_impossible_sizes)
{
	static const struct {
		unsigned type;
		size_t size_bytes;
	} bad[] = {{JITBPF_JIT_LINES, 7},
		   {JITBPF_JIT_LINES, 9},
		   {JITBPF_JIT_ARCH, 3},
		   {JITBPF_JIT_ARCH, 8},
		   {JITBPF_JIT_ARCH, 0}};
	struct jitbpf_jit_field huge = {.type = JITBPF_JIT_NAME, .size_bytes = UINT32_MAX};
	struct made_jit made;
	struct jit_event event;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		made_jit_begin(&made, JIT_EVENT_LOAD, 0);
		made_jit_field(&made, bad[i].type, "0123456789", bad[i].size_bytes);
		assert_int_equal(decode(&made, made.field_bytes, &event), -EBADMSG);
	}
	made_jit_begin(&made, JIT_EVENT_LOAD, 0);
	memcpy(made.fields, &huge, sizeof(huge));
	assert_int_equal(decode(&made, sizeof(huge) + 100, &event), -EBADMSG);
}

CASE(test_part_header)
{
	struct jitbpf_jit_header good = {.size_bytes = sizeof(good),
					 .version = JITBPF_JIT_VERSION,
					 .event = 13,
					 .part = 1,
					 .part_count = 2};
	struct jitbpf_jit_header bad[6], ret;

	for (size_t i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].size_bytes = sizeof(good) - 1;
	bad[1].size_bytes = sizeof(good) + 1;
	bad[2].version = 0;
	bad[3].version = JITBPF_JIT_VERSION + 1;
	bad[4].part = 2;
	bad[5].part = bad[5].part_count = 0;
	memset(&ret, 0, sizeof(ret));
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(jit_part_decode(&bad[i], sizeof(bad[i]), &ret),
				 i == 2 || i == 3 ? -ENOTSUP : -EBADMSG);
		assert_int_equal(ret.event, 0);
	}
	for (size_t cut = 0; cut < sizeof(good); cut++)
		assert_int_equal(jit_part_decode(&good, cut, &ret), -EBADMSG);
	assert_int_equal(jit_part_decode(&good, sizeof(good), &ret), 0);
	assert_int_equal(ret.event, 13);
}

/* Convert a THREAD event: the agent's tids, those that the kernel knows, and the record's flags. */
static struct code_event convert_thread(uint32_t named, uint32_t reporter, uint32_t kernels,
					uint16_t flags)
{
	struct jitbpf_jit record = {.h.flags = flags, .pid = 70, .tid = kernels};
	struct made_jit made;
	struct jit_event jit;
	struct code_event event;

	made_jit_begin(&made, JIT_EVENT_JVM_THREAD, 3);
	made.header.method_id = named;
	made.header.tid = reporter;
	made_jit_string(&made, JITBPF_JIT_NAME, "a thread's name");
	assert_int_equal(jit_fields_decode(&made.header, made.fields, made.field_bytes, &jit), 0);
	jit_event_convert(&jit, &record, &event);
	assert_int_equal(event.kind, JITBPF_CODE_THREAD);
	assert_int_equal(event.origin.publisher, JITBPF_PUBLISHER_JVMTI);
	assert_int_equal(event.flags & JITBPF_EVENT_LATE, 0);
	assert_string(&event.name, "a thread's name");
	return event;
}

static void assert_thread(struct code_event event, uint32_t tid, bool has_begun)
{
	assert_int_equal(event.method_id, tid);
	assert_int_equal(event.tid, has_begun ? tid : 0);
}

CASE(test_threads)
{
	const uint16_t recovered = JITBPF_JIT_FROM_JOURNAL;

	assert_thread(convert_thread(71, 71, 71, 0), 71, true);
	assert_thread(convert_thread(72, 71, 71, 0), 72, false);
	/* In a container, the kernel knows the reporter's tid only. */
	assert_thread(convert_thread(5, 5, 71, 0), 71, true);
	assert_thread(convert_thread(6, 5, 71, 0), 0, false);
	/* From a journal, tids are translated. */
	assert_thread(convert_thread(71, 71, 70, recovered), 71, true);
	assert_thread(convert_thread(72, 71, 70, recovered), 72, false);
	assert_thread(convert_thread(71, 71, 70, recovered | JITBPF_JIT_LATE), 71, false);
	assert_thread(convert_thread(0, 0, 70, recovered), 0, false);
}

CASE(test_long_thread_name)
{
	char name[JITBPF_THREAD_NAME_MAX + 2] = "";
	struct jit_event jit = {
		.header = {.event = JIT_EVENT_JVM_THREAD, .method_id = 5},
		.name = {.bytes = name, .size_bytes = sizeof(name)},
	};
	struct jitbpf_jit record = {.pid = 5, .tid = 5};
	struct code_event event;

	jit_event_convert(&jit, &record, &event);
	assert_int_equal(event.name.size_bytes, JITBPF_THREAD_NAME_MAX);
	jit.header.event = JIT_EVENT_JVM_THREAD_END;
	jit_event_convert(&jit, &record, &event);
	assert_int_equal(event.kind, JITBPF_CODE_THREAD_END);
	jit.header.event = JIT_EVENT_JVM_LOAD;
	jit_event_convert(&jit, &record, &event);
	assert_int_equal(event.name.size_bytes, sizeof(name));
}
