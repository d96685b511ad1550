/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/made_view.h"

#include "base/scope.h"
#include "sink/timeline/stack_table.h"
#include "sink/timeline/timeline.h"
#include "sink/write/row_table.h"
#include "tests/unit/cases.h"

static void add(struct timeline *timeline, struct made_view *m, uint64_t time_ns, uint32_t pid,
		uint32_t tid, const char *comm, uint32_t node)
{
	const struct sink_sample sample = {
		.time_ns = time_ns,
		.pid = pid,
		.tid = tid,
		.comm = made_string(m, comm),
		.node = node,
	};

	assert_int_equal(timeline_add(timeline, &m->view, &sample), 0);
}

static void check_thread(const struct timeline *timeline, size_t number, const char *pid,
			 uint32_t tid, uint64_t count)
{
	const struct timeline_thread *thread = &timeline->threads.data[number];
	char buffer[TIMELINE_PID_BYTES];

	assert_string_equal(timeline_pid(thread, buffer), pid);
	assert_int_equal(thread->tid, tid);
	assert_int_equal(thread->samples.count, count);
}

/* The samples of a thread have these times, and nodes by the parity of the time. */
static void check_samples(const struct timeline *timeline, size_t number, const uint64_t *times,
			  size_t count, const uint32_t nodes[2])
{
	AUTO_FREE struct row_reader *reader = calloc(1, sizeof(*reader));
	struct timeline_sample sample;

	assert_non_null(reader);
	/* Reading again has the same result. */
	for (int round = 0; round < 2; round++) {
		row_reader_begin(reader, &timeline->threads.data[number].samples);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(timeline_next(reader, &sample), 1);
			assert_int_equal(sample.time_ns, times[i]);
			assert_int_equal(sample.node, nodes[times[i] & 1]);
		}
		assert_int_equal(timeline_next(reader, &sample), 0);
	}
	row_reader_deinit(reader);
}

CASE(threads_are_put_in_order)
{
	CLEANUP(timeline_deinit) struct timeline timeline = {0};
	CLEANUP(made_deinit) struct made_view m;
	uint32_t a, b, later_b;

	made_init(&m);
	a = made_stack(&m, 0, "a", 1, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "")));
	b = made_stack(&m, 1, "b", 1, 0, NULL);
	later_b = made_stack(&m, 2, "c", 1, 0, NULL); /* with a pid that was b's */
	add(&timeline, &m, 10, 40, 41, "first name", b);
	add(&timeline, &m, 11, 50, 50, "a", a);
	add(&timeline, &m, 12, 40, 40, "b", b);
	add(&timeline, &m, 13, 40, 41, "last name", b);
	add(&timeline, &m, 14, 40, 39, "w", b);
	add(&timeline, &m, 15, 40, 40, "c", later_b);
	timeline_sort(&timeline);

	assert_int_equal(timeline.threads.size, 5);
	check_thread(&timeline, 0, "40", 40, 1);
	check_thread(&timeline, 1, "40", 39, 1);
	check_thread(&timeline, 2, "40", 41, 2);
	check_thread(&timeline, 3, "40.1", 40, 1);
	check_thread(&timeline, 4, "50", 50, 1);
	check_samples(&timeline, 2, (const uint64_t[]){10, 13}, 2, (const uint32_t[]){b, b});
	assert_int_equal(timeline.threads.data[2].comm, made_string(&m, "last name"));
	assert_int_equal(timeline.threads.data[2].process_comm, made_string(&m, "b"));
	assert_int_equal(timeline.threads.data[3].process_comm, made_string(&m, "c"));
}

/* Deferred samples arrive after newer ones. */
CASE(samples_are_put_in_order_of_time)
{
	CLEANUP(timeline_deinit) struct timeline timeline = {0};
	CLEANUP(made_deinit) struct made_view m;
	static const uint64_t times[] = {10, 14, 12, 13, 11, 15};
	uint32_t nodes[2];

	made_init(&m);
	nodes[0] = made_stack(&m, 0, "a", 1, 0, NULL);
	nodes[1] = made_stack(&m, 0, "a", 1, STACK(made_named(&m, LOCATION_NATIVE, 1, "f", "")));
	for (size_t i = 0; i < 6; i++)
		add(&timeline, &m, times[i], 50, times[i] == 13 ? 51 : 50, "a",
		    nodes[times[i] & 1]);
	timeline_sort(&timeline);
	check_samples(&timeline, 0, (const uint64_t[]){10, 11, 12, 14, 15}, 5, nodes);
	check_samples(&timeline, 1, (const uint64_t[]){13}, 1, nodes);
}

/* A crafted recording of a few kilobytes has millions of them. */
CASE(equal_samples_take_no_memory)
{
	CLEANUP(timeline_deinit) struct timeline timeline = {.memory.limit_bytes = 64 << 10};
	CLEANUP(made_deinit) struct made_view m;
	uint32_t node;

	made_init(&m);
	node = made_stack(&m, 0, "a", 1, 0, NULL);
	for (uint64_t i = 0; i < 1000000; i++)
		add(&timeline, &m, 10 * i, 50, 50, "a", node);
	assert_int_equal(timeline.left_out, 0);
	assert_int_equal(timeline.threads.data[0].samples.count, 1000000);
}

/* From the first sample without room on, all are left out, so the output has a definite end. */
CASE(samples_without_room_are_counted)
{
	CLEANUP(timeline_deinit) struct timeline timeline = {.memory.limit_bytes = 64 << 10};
	CLEANUP(made_deinit) struct made_view m;
	uint64_t kept = 0;
	uint32_t node, threads;

	made_init(&m);
	node = made_stack(&m, 0, "a", 1, 0, NULL);
	for (uint32_t i = 0; i < 10000; i++)
		add(&timeline, &m, i, 50, 50 + i, "a", node);
	threads = (uint32_t)timeline.threads.size;
	assert_in_range(threads, 10, 9000);
	assert_true(timeline.memory.bytes <= timeline.memory.limit_bytes);
	add(&timeline, &m, 10000, 50, 50, "a", node);
	vec_for_each (thread, &timeline.threads)
		kept += thread->samples.count;
	assert_int_equal(timeline.left_out, 10001 - kept);
	assert_int_equal(timeline.threads.data[0].samples.count, 1);
}

CASE(nothing_is_sorted_too)
{
	CLEANUP(timeline_deinit) struct timeline timeline = {0};

	timeline_sort(&timeline);
	assert_int_equal(timeline.threads.size, 0);
}

CASE(a_node_that_is_none_is_refused)
{
	CLEANUP(timeline_deinit) struct timeline timeline = {0};
	CLEANUP(made_deinit) struct made_view m;
	const struct sink_sample sample = {.node = 7};

	made_init(&m);
	assert_int_equal(timeline_add(&timeline, &m.view, &sample), -EINVAL);
	assert_int_equal(timeline.threads.size, 0);
}

CASE(rows_are_kept_once)
{
	CLEANUP(row_table_deinit) struct row_table table = {.row_bytes = sizeof(uint64_t)};
	uint32_t number;

	for (int round = 0; round < 2; round++) {
		for (uint64_t row = 0; row < 1000; row++) {
			uint64_t value = row * row;

			assert_int_equal(row_table_add(&table, &value, &number), 0);
			assert_int_equal(number, row);
		}
	}
	assert_int_equal(table.count, 1000);
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(*(const uint64_t *)row_table_get(&table, i), (uint64_t)i * i);
}

/* Numbers a frame by location and index, and counts the calls. */
static int number_frame(void *context, uint32_t location, uint32_t index, uint32_t *ret)
{
	++*(uint32_t *)context;
	*ret = location * 10 + index;
	return 0;
}

static void check_row(const struct stack_table *table, uint32_t row, uint32_t frame,
		      uint32_t caller)
{
	assert_int_equal(stack_table_row(table, row)->frame, frame);
	assert_int_equal(stack_table_row(table, row)->caller, caller);
}

CASE(processes_share_stacks)
{
	CLEANUP(stack_table_deinit) struct stack_table table = {0};
	CLEANUP(timeline_deinit) struct timeline timeline = {0};
	CLEANUP(made_deinit) struct made_view m;
	struct frame frames[2];
	uint32_t outer, inner, one, two, root, asked = 0;

	made_init(&m);
	outer = made_named(&m, LOCATION_NATIVE, 1, "outer", "");
	inner = made_location(&m, LOCATION_NATIVE, 0, 2);
	frames[0] = made_frame(&m, FRAME_KIND_NATIVE, "inlined", "");
	frames[1] = made_frame(&m, FRAME_KIND_NATIVE, "inner", "");
	assert_int_equal(frame_table_set(m.frames, inner, frames, 2), 0);
	one = made_stack(&m, 0, "a", 1, STACK(inner, outer));
	two = made_stack(&m, 1, "b", 1, STACK(inner, outer));
	root = made_stack(&m, 1, "b", 1, 0, NULL);
	made_stack(&m, 1, "b", 1, STACK(outer, inner)); /* in no sample of the timeline */
	add(&timeline, &m, 1, 1, 1, "a", one);
	add(&timeline, &m, 2, 2, 2, "b", two);
	add(&timeline, &m, 3, 2, 2, "b", root);

	assert_int_equal(stack_table_build(&table, &m.view, &timeline, number_frame, &asked), 0);
	assert_int_equal(asked, 3);
	assert_int_equal(table.rows.count, 3);
	check_row(&table, 0, outer * 10, ROW_NONE);
	check_row(&table, 1, inner * 10 + 1, 0);
	check_row(&table, 2, inner * 10, 1);
	assert_int_equal(table.of_node[one], 2);
	assert_int_equal(table.of_node[two], 2);
	assert_int_equal(table.of_node[root], ROW_NONE);
}
