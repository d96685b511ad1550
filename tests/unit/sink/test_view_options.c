/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/frame_text.h"
#include "tests/unit/cases.h"

/* A process with two threads, and a location with an inlined frame. */
struct made_threads {
	struct made_view m;
	struct sink_sample samples[3];
	uint64_t addresses[2];
};

static void made_threads_deinit(struct made_threads *t)
{
	made_deinit(&t->m);
}

static void made_threads_init(struct made_threads *t)
{
	struct made_view *m = &t->m;
	uint32_t place, leaf, shallow, deep;
	struct frame frames[2];

	*t = (struct made_threads){.addresses = {0x1020, 0x2001}};
	made_init(m);
	place = made_location(m, LOCATION_NATIVE, 0, 0x20);
	frames[0] = made_frame(m, FRAME_KIND_NATIVE, "inlined", "/bin/php");
	frames[0].flags = FRAME_INLINED;
	frames[0].file = made_string(m, "inner.c");
	frames[0].line = 3;
	frames[1] = made_frame(m, FRAME_KIND_NATIVE, "around", "/bin/php");
	frames[1].file = made_string(m, "outer.c");
	frames[1].line = 70;
	assert_int_equal(frame_table_set(m->frames, place, frames, 2), 0);
	leaf = made_named(m, LOCATION_NATIVE, 0x999, "leaf", "/bin/php");
	shallow = made_stack(m, 0, "php", 2, STACK(place));
	deep = made_stack(m, 0, "php", 1, STACK(leaf, place));
	for (int i = 0; i < 3; i++) {
		t->samples[i] = (struct sink_sample){
			.pid = 10,
			.tid = i ? 10 : 11,
			.comm = made_string(m, i ? "php" : "worker"),
			.node = i == 2 ? deep : shallow,
			.addresses = t->addresses,
			.user_frames = i == 2 ? 2 : 1,
		};
		made_count(m, &t->samples[i]);
	}
	assert_int_equal(vec_push(&m->ledger.processes, (struct ledger_process){.pid = 10}), 0);
}

CASE(inlined_frames_are_their_functions)
{
	CLEANUP(made_threads_deinit) struct made_threads t;
	struct frame_text frame;
	uint32_t place;

	made_threads_init(&t);
	place = t.m.profile.nodes.data[t.samples[0].node].location;
	t.m.view.options.no_inline = true;
	assert_int_equal(frame_text_count(&t.m.view, place), 1);
	frame_text_get(&t.m.view, place, 0, &frame);
	assert_string_equal(frame.name, "around");
	assert_string_equal(frame.file, "outer.c");
	assert_int_equal(frame.line, 70);
	assert_false(frame.inlined);
	frame_text_get(&t.m.view, place, 1, &frame); /* there is no such frame */
	assert_false(frame.named);
	/* An unknown location still has one frame. */
	assert_int_equal(frame_text_count(&t.m.view, 0xffff), 1);
	frame_text_get(&t.m.view, 0xffff, 0, &frame);
	assert_string_equal(frame.name, "[unknown]");
	AUTO_FREE char *text = made_output(&t.m, &sink_folded);
	assert_string_equal(text, "php;around 2\nphp;around;leaf 1\n");
}

CASE(stacks_by_process_and_by_thread)
{
	CLEANUP(made_threads_deinit) struct made_threads t;

	made_threads_init(&t);
	t.m.view.options.by = VIEW_BY_PID;
	AUTO_FREE char *by_pid = made_output(&t.m, &sink_folded);
	assert_string_equal(by_pid, "php-10;around;inlined 2\n"
				    "php-10;around;inlined;leaf 1\n");
	t.m.view.options.by = VIEW_BY_TID;
	AUTO_FREE char *by_tid = made_output(&t.m, &sink_folded);
	assert_string_equal(by_tid, "php-10/10;around;inlined 1\n"
				    "php-10/10;around;inlined;leaf 1\n"
				    "worker-10/11;around;inlined 1\n");
}

/* A thread that moves to another cgroup has samples in both. */
CASE(stacks_by_container)
{
	CLEANUP(made_threads_deinit) struct made_threads t;
	struct sampled_thread *threads;

	made_threads_init(&t);
	t.m.view.options.by = VIEW_BY_CONTAINER;
	AUTO_FREE char *unknown = made_output(&t.m, &sink_folded);
	assert_string_equal(unknown, "[unknown cgroup];php;around;inlined 2\n"
				     "[unknown cgroup];php;around;inlined;leaf 1\n");
	threads = t.m.threads.threads.data;
	threads[0].unit = made_string(&t.m, "/");
	threads[1].unit = made_string(&t.m, "a\n;b.service");
	AUTO_FREE char *units = made_output(&t.m, &sink_folded);
	assert_string_equal(units, "a?:b.service;php;around;inlined 1\n"
				   "a?:b.service;php;around;inlined;leaf 1\n"
				   "host;php;around;inlined 1\n");
	threads[0].container = threads[1].container = made_string(&t.m, "web");
	t.m.view.options.kernel = VIEW_KERNEL_HIDDEN;
	AUTO_FREE char *containers = made_output(&t.m, &sink_folded);
	assert_string_equal(containers, "web;php;around;inlined 2\n"
					"web;php;around;inlined;leaf 1\n");
}

/* No sample is lost or counted twice, for any mix of threads and stacks. */
CASE(threads_add_up_to_the_process)
{
	CLEANUP(made_threads_deinit) struct made_threads t;
	uint64_t sum = 0;
	uint32_t places[20], seed = 1;

	made_threads_init(&t);
	thread_counts_deinit(&t.m.threads);
	for (uint32_t i = 0; i < 20; i++) {
		char name[8];

		snprintf(name, sizeof(name), "f%u", i);
		places[i] = made_named(&t.m, LOCATION_NATIVE, 0x5000 + i, name, "/bin/php");
	}
	for (uint32_t i = 0; i < 1000; i++) {
		uint32_t stack[3];

		for (int k = 0; k < 3; k++) {
			seed = seed * 1103515245 + 12345;
			stack[k] = places[(seed >> 16) % 20];
		}
		struct sink_sample sample = {
			.pid = 10,
			.tid = 10 + (seed >> 8) % 7,
			.comm = made_string(&t.m, "php"),
			.node = made_stack(&t.m, 0, "php", 1, (seed >> 5) % 4, stack),
		};
		made_count(&t.m, &sample);
	}
	t.m.view.options.by = VIEW_BY_TID;
	AUTO_FREE char *text = made_output(&t.m, &sink_folded);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		sum += strtoul(strrchr(line, ' ') + 1, NULL, 10);
	assert_int_equal(sum, 1000);
}

CASE(fields_are_those_asked_for)
{
	CLEANUP(made_threads_deinit) struct made_threads t;
	static const struct {
		uint32_t fields;
		const char *text;
	} rows[] = {
		{1u << SCRIPT_COMM | 1u << SCRIPT_TID, "worker    11 \n"},
		{1u << SCRIPT_PID | 1u << SCRIPT_TID | 1u << SCRIPT_CPU, "   10/11    [000] \n"},
		{1u << SCRIPT_TIME | 1u << SCRIPT_EVENT, "    0.000000000: cpu-clock: \n"},
		{1u << SCRIPT_SYM, "\tinlined (inlined)\n\taround\n\n"},
		{1u << SCRIPT_IP | 1u << SCRIPT_DSO,
		 "\t            1020 (inlined)\n\t            1020 (/bin/php)\n\n"},
		{1u << SCRIPT_PID | 1u << SCRIPT_SYM | 1u << SCRIPT_SYMOFF | 1u << SCRIPT_SRCLINE,
		 "   10 \n\tinlined+0x10\n  inner.c:3 (inlined)\n\taround+0x10\n  outer.c:70\n\n"},
	};

	made_threads_init(&t);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		size_t size;

		t.m.view.options.fields = rows[i].fields;
		AUTO_FREE char *text = made_output_of(&t.m, &sink_script, t.samples, 1, &size);
		assert_string_equal(text, rows[i].text);
	}
}
