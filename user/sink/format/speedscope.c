/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * speedscope's own format (https://www.speedscope.app/file-format-schema.json): one sampled profile
 * per thread, and a shared table of frames. A frame is a function with a file and without a line,
 * so that a function is one row in speedscope's tables. The weight of a sample is its CPU time in
 * ns. Consecutive samples with equal stacks are written as one, with the sum of their weights.
 */
#include "sink/sink.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/frame_text.h"
#include "sink/write/json.h"
#include "sink/write/out.h"
#include "sink/timeline/stack_table.h"
#include "sink/write/text.h"
#include "sink/timeline/timeline_sink.h"

#define SCHEMA	      "https://www.speedscope.app/file-format-schema.json"
#define NS_PER_SECOND 1000000000ull

struct speedscope_frame {
	uint32_t name, file; /* strings */
};

/* State of writing. */
struct writer {
	const struct view *view;
	struct timeline *timeline;
	struct row_reader *reader; /* freed by the owner of this struct */
	struct json json;
	struct string_pool *strings;
	struct row_table frames; /* of struct speedscope_frame */
	struct stack_table stacks;
	VEC(uint32_t) stack; /* frames of the current stack, innermost first */
	struct text name;
	uint64_t period_ns; /* 0: the sampling rate is not known; weights are counts */
};

static void writer_deinit(struct writer *w)
{
	if (w->reader)
		row_reader_deinit(w->reader);
	string_pool_destroy(w->strings);
	row_table_deinit(&w->frames);
	stack_table_deinit(&w->stacks);
	vec_deinit(&w->stack);
	text_deinit(&w->name);
}

static int number_frame(void *context, uint32_t location, uint32_t index, uint32_t *ret)
{
	struct writer *w = context;
	struct speedscope_frame row;
	struct frame_text frame;
	const char *file;
	int err;

	frame_text_get(w->view, location, index, &frame);
	frame_text_merge(w->view, &frame);
	file = *frame.file ? frame.file : frame.module;
	err = string_pool_add(w->strings, frame.name, strlen(frame.name), &row.name);
	err = err ?: string_pool_add(w->strings, file, strlen(file), &row.file);
	return err ?: row_table_add(&w->frames, &row, ret);
}

static void write_frames(struct writer *w)
{
	struct json *json = &w->json;

	json_key(json, "shared");
	json_begin(json, '{');
	json_key(json, "frames");
	json_begin(json, '[');
	for (uint32_t i = 0; i < w->frames.count; i++) {
		const struct speedscope_frame *frame = row_table_get(&w->frames, i);

		json_begin(json, '{');
		json_member_string(json, "name", string_pool_get(w->strings, frame->name));
		json_member_string(json, "file", string_pool_get(w->strings, frame->file));
		json_end(json, '}');
	}
	json_end(json, ']');
	json_end(json, '}');
}

/* Write "process: thread 12/13"; parts that repeat others are left out. */
static int write_name(struct writer *w, const struct timeline_thread *thread)
{
	char pid[TIMELINE_PID_BYTES];

	w->name.bytes.size = 0;
	if (thread->process_comm != thread->comm) {
		text_put_string(&w->name, frame_text_comm(w->view, thread->process_comm));
		text_put_string(&w->name, ": ");
	}
	text_put_string(&w->name, frame_text_comm(w->view, thread->comm));
	text_printf(&w->name, " %s/%u", timeline_pid(thread, pid), thread->tid);
	text_put(&w->name, "", 1);
	if (w->name.failed)
		return -ENOMEM;
	json_member_string(&w->json, "name", w->name.bytes.data);
	return 0;
}

static int write_stack(struct writer *w, uint32_t stack)
{
	w->stack.size = 0;
	while (stack != ROW_NONE) {
		const struct stack_row *row = stack_table_row(&w->stacks, stack);

		if (vec_push(&w->stack, row->frame))
			return -ENOMEM;
		stack = row->caller;
	}
	json_begin(&w->json, '[');
	for (size_t i = w->stack.size; i--;)
		json_number(&w->json, w->stack.data[i]);
	json_end(&w->json, ']');
	return 0;
}

static int write_weight(struct writer *w, uint64_t samples)
{
	json_number(&w->json, samples * (w->period_ns ?: 1));
	return 0;
}

/* Write the stack, or else the weight, of each run of samples with equal stacks. */
static int write_runs(struct writer *w, const struct timeline_thread *thread, bool stacks)
{
	uint64_t length = 0;
	uint32_t run = ROW_NONE;
	struct timeline_sample sample;
	int got, err = 0;

	json_key(&w->json, stacks ? "samples" : "weights");
	json_begin(&w->json, '[');
	row_reader_begin(w->reader, &thread->samples);
	while (!err && (got = timeline_next(w->reader, &sample)) > 0) {
		uint32_t stack = w->stacks.of_node[sample.node];

		if (length && stack != run) {
			err = stacks ? write_stack(w, run) : write_weight(w, length);
			length = 0;
		}
		run = stack;
		length++;
	}
	err = err ?: got;
	if (!err && length)
		err = stacks ? write_stack(w, run) : write_weight(w, length);
	json_end(&w->json, ']');
	return err;
}

static int write_profile(struct writer *w, const struct timeline_thread *thread)
{
	struct json *json = &w->json;
	int err;

	json_begin(json, '{');
	json_member_string(json, "type", "sampled");
	if (write_name(w, thread))
		return -ENOMEM;
	json_member_string(json, "unit", w->period_ns ? "nanoseconds" : "none");
	json_member_number(json, "startValue", 0);
	json_member_number(json, "endValue", thread->samples.count * (w->period_ns ?: 1));
	err = write_runs(w, thread, true);
	err = err ?: write_runs(w, thread, false);
	json_end(json, '}');
	return err;
}

/* Returns the thread with the most samples, which is shown first. */
static uint64_t busiest(const struct timeline *timeline)
{
	uint64_t most = 0;

	for (size_t i = 0; i < timeline->threads.size; i++) {
		if (timeline->threads.data[i].samples.count >
		    timeline->threads.data[most].samples.count)
			most = i;
	}
	return most;
}

static int write_file(struct writer *w)
{
	const struct run_info *info = w->view->info;
	struct json *json = &w->json;

	json_begin(json, '{');
	json_member_string(json, "$schema", SCHEMA);
	json_member_string(json, "exporter", "jitbpf");
	json_member_string(json, "name", *info->command ? info->command : info->host);
	json_member_number(json, "activeProfileIndex", busiest(w->timeline));
	write_frames(w);
	json_key(json, "profiles");
	json_begin(json, '[');
	vec_for_each (thread, &w->timeline->threads) {
		if (write_profile(w, thread))
			return -ENOMEM;
	}
	json_end(json, ']');
	json_end(json, '}');
	return 0;
}

static int speedscope_finish(struct sink *sink, const struct view *view)
{
	AUTO_FREE struct row_reader *reader = calloc(1, sizeof(*reader));
	FILE *out = timeline_sink_stream(sink);
	CLEANUP(writer_deinit)
	struct writer w = {
		.view = view,
		.timeline = timeline_sink_timeline(sink),
		.reader = reader,
		.json = json_of(out, false),
		.frames.row_bytes = sizeof(struct speedscope_frame),
		.period_ns = view->info->freq_hz ? NS_PER_SECOND / view->info->freq_hz : 0,
	};
	int err = reader ? string_pool_create(&w.strings) : -ENOMEM;

	timeline_sort(w.timeline);
	err = err ?: stack_table_build(&w.stacks, view, w.timeline, number_frame, &w);
	err = err ?: write_file(&w);
	return err ?: out_flush(out);
}

const struct sink_ops sink_speedscope = {
	.name = "speedscope",
	.extension = ".speedscope.json",
	.create = timeline_sink_create,
	.sample = timeline_sink_sample,
	.finish = speedscope_finish,
	.left_out = timeline_sink_left_out,
	.destroy = timeline_sink_destroy,
};
