/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Two views are the same: a profile that was made from deltas, and the one that the deltas are of.
 */
#ifndef JITBPF_TESTS_UNIT_SINK_LIVE_SAME_VIEW_H
#define JITBPF_TESTS_UNIT_SINK_LIVE_SAME_VIEW_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/sink.h"

static inline void assert_same_info(const struct run_info *a, const struct run_info *b)
{
	assert_int_equal(a->start_ns, b->start_ns);
	assert_int_equal(a->duration_ns, b->duration_ns);
	assert_int_equal(a->wall_clock_ns, b->wall_clock_ns);
	assert_int_equal(a->freq_hz, b->freq_hz);
	assert_int_equal(a->cpus, b->cpus);
	assert_string_equal(a->event, b->event);
	assert_string_equal(a->command, b->command);
	assert_string_equal(a->host, b->host);
	assert_string_equal(a->kernel, b->kernel);
}

/* Numbers of functions are in the order in which frames were set, which can differ. */
static inline void assert_same_frame(const struct view *a, const struct frame *a_frame,
				     const struct view *b, const struct frame *b_frame)
{
	const struct named_function *a_function = frame_table_function(a->frames, a_frame);
	const struct named_function *b_function = frame_table_function(b->frames, b_frame);

	assert_memory_equal(a_frame, b_frame, offsetof(struct frame, function));
	assert_non_null(a_function);
	assert_non_null(b_function);
	assert_memory_equal(a_function, b_function, sizeof(*a_function));
}

static inline void assert_same_names(const struct view *a, const struct view *b)
{
	size_t count = a->locations->locations.size;

	assert_int_equal(string_pool_size(a->strings), string_pool_size(b->strings));
	for (uint32_t i = 0; i < string_pool_size(a->strings); i++)
		assert_string_equal(string_pool_get(a->strings, i), string_pool_get(b->strings, i));
	assert_int_equal(count, b->locations->locations.size);
	for (uint32_t i = 0; i < count; i++) {
		const struct location *at = &a->locations->locations.data[i];
		const struct location *bt = &b->locations->locations.data[i];
		uint32_t frames, b_frames;
		const struct frame *a_frame = frame_table_get(a->frames, i, &frames);
		const struct frame *b_frame = frame_table_get(b->frames, i, &b_frames);

		assert_true(at->kind == bt->kind && at->owner == bt->owner &&
			    at->offset == bt->offset);
		assert_int_equal(frames, b_frames);
		assert_int_equal(frame_table_is_named(a->frames, i),
				 frame_table_is_named(b->frames, i));
		for (uint32_t k = 0; k < frames; k++)
			assert_same_frame(a, &a_frame[k], b, &b_frame[k]);
	}
}

static inline void assert_same_counts(const struct view *a, const struct view *b)
{
	assert_int_equal(a->profile->nodes.size, b->profile->nodes.size);
	for (size_t i = 0; i < a->profile->nodes.size; i++) {
		const struct profile_node *an = &a->profile->nodes.data[i];
		const struct profile_node *bn = &b->profile->nodes.data[i];

		assert_true(an->parent == bn->parent && an->location == bn->location);
		if (an->parent == PROFILE_NODE_NONE)
			assert_int_equal(profile_comm(a->profile, (uint32_t)i),
					 profile_comm(b->profile, (uint32_t)i));
		assert_int_equal(an->self, bn->self);
	}
	assert_int_equal(a->threads->threads.size, b->threads->threads.size);
	if (a->threads->threads.size)
		assert_memory_equal(a->threads->threads.data, b->threads->threads.data,
				    a->threads->threads.size * sizeof(struct sampled_thread));
	assert_int_equal(a->threads->counts.size, b->threads->counts.size);
	if (a->threads->counts.size)
		assert_memory_equal(a->threads->counts.data, b->threads->counts.data,
				    a->threads->counts.size * sizeof(struct thread_count));
}

/* Each count has as many samples as its slices. */
static inline void assert_whole_slices(const struct view *view)
{
	size_t count = view->threads->counts.size;
	AUTO_FREE uint64_t *samples = calloc(count + 1, sizeof(*samples));

	assert_non_null(samples);
	assert_non_null(view->slices);
	vec_for_each (slice, &view->slices->slices) {
		assert_true(slice->count < count);
		samples[slice->count] += slice->samples;
	}
	for (size_t i = 0; i < count; i++)
		assert_int_equal(samples[i], view->threads->counts.data[i].samples);
}

/* A missing lane is an empty one. */
static inline void assert_same_code(const struct code_lane *a, const struct code_lane *b)
{
	static const struct code_lane empty;

	a = a ?: &empty;
	b = b ?: &empty;
	assert_int_equal(a->shift, b->shift);
	assert_int_equal(a->engine_count, b->engine_count);
	assert_memory_equal(a->engines, b->engines, sizeof(a->engines));
	for (uint32_t i = 0; i < CODE_LANE_BINS; i++) {
		assert_int_equal(a->bins[i].version > 0, b->bins[i].version > 0);
		assert_int_equal(a->bins[i].loads, b->bins[i].loads);
		assert_int_equal(a->bins[i].unloads, b->bins[i].unloads);
		assert_memory_equal(a->bins[i].live, b->bins[i].live, sizeof(a->bins[i].live));
	}
}

static inline void assert_same_ledger(const struct ledger *a, const struct ledger *b)
{
	struct ledger a_totals = *a, b_totals = *b;

	memset(&a_totals.processes, 0, sizeof(a_totals.processes));
	memset(&b_totals.processes, 0, sizeof(b_totals.processes));
	memset(&a_totals.changed_blocks, 0, sizeof(a_totals.changed_blocks));
	memset(&b_totals.changed_blocks, 0, sizeof(b_totals.changed_blocks));
	assert_memory_equal(&a_totals, &b_totals, sizeof(a_totals));
	assert_int_equal(a->processes.size, b->processes.size);
	for (size_t i = 0; i < a->processes.size; i++) {
		struct ledger_process a_row = a->processes.data[i], b_row = b->processes.data[i];

		a_row.changed_round = b_row.changed_round = 0; /* the pipeline's own */
		assert_memory_equal(&a_row, &b_row, sizeof(a_row));
	}
}

static inline char *output_of(const struct view *view, const struct view_options *options,
			      const struct sink_ops *ops, size_t *ret_bytes)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_bytes);
	struct view shown = *view;
	struct sink *sink;

	assert_non_null(out);
	shown.options = *options;
	assert_int_equal(ops->create(out, &sink), 0);
	assert_int_equal(ops->finish(sink, &shown), 0);
	ops->destroy(sink);
	fclose(out);
	return text;
}

/* View options apply to either in the same way. */
static inline void assert_same_outputs(const struct view *a, const struct view *b)
{
	static const struct view_options options[] = {
		{0},
		{.by = VIEW_BY_PID, .no_inline = true},
		{.by = VIEW_BY_TID, .kernel = VIEW_KERNEL_HIDDEN},
	};
	static const struct sink_ops *const sinks[] = {&sink_folded, &sink_html, &sink_summary,
						       &sink_summary_json};

	for (size_t i = 0; i < ARRAY_SIZE(options) * ARRAY_SIZE(sinks); i++) {
		const struct sink_ops *ops = sinks[i % ARRAY_SIZE(sinks)];
		size_t a_bytes, b_bytes;
		AUTO_FREE char *a_text =
			output_of(a, &options[i / ARRAY_SIZE(sinks)], ops, &a_bytes);
		AUTO_FREE char *b_text =
			output_of(b, &options[i / ARRAY_SIZE(sinks)], ops, &b_bytes);

		assert_true(ops->counts_only);
		assert_true(a_bytes > 20);
		assert_int_equal(a_bytes, b_bytes);
		assert_memory_equal(a_text, b_text, a_bytes);
	}
}

static inline void assert_same_view(const struct view *a, const struct view *b)
{
	assert_int_equal(a->epoch, b->epoch);
	assert_same_info(a->info, b->info);
	assert_same_names(a, b);
	assert_same_counts(a, b);
	assert_whole_slices(a);
	assert_whole_slices(b);
	assert_memory_equal(a->slices->ends, b->slices->ends, sizeof(a->slices->ends));
	assert_same_ledger(a->ledger, b->ledger);
	assert_same_code(a->lane, b->lane);
}

#endif
