/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/timeline_sink.h"

#include <errno.h>
#include <stdlib.h>

struct sink {
	FILE *out;
	struct timeline timeline;
	struct code_markers markers;
};

int timeline_sink_create(FILE *out, struct sink **ret)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	sink->out = out;
	*ret = sink;
	return 0;
}

int timeline_sink_sample(struct sink *sink, const struct view *view,
			 const struct sink_sample *sample)
{
	sink->timeline.memory.limit_bytes = view->samples_bytes;
	return timeline_add(&sink->timeline, view, sample);
}

/* Loads from before the start are counted only: late attach reports the code of running engines. */
int timeline_sink_code(struct sink *sink, const struct view *view, const struct sink_code *code)
{
	uint32_t thread;
	int err;

	if (code->time_ns < view->info->start_ns) {
		sink->markers.earlier++;
		return 0;
	}
	sink->timeline.memory.limit_bytes = view->samples_bytes;
	err = timeline_thread_of(&sink->timeline, code, &thread);
	if (err == -EDQUOT) {
		sink->markers.left_out++;
		return 0;
	}
	return err ?: code_markers_add(&sink->markers, view, thread, code);
}

uint64_t timeline_sink_left_out(const struct sink *sink)
{
	return sink->timeline.left_out;
}

void timeline_sink_destroy(struct sink *sink)
{
	if (!sink)
		return;
	timeline_deinit(&sink->timeline);
	code_markers_deinit(&sink->markers);
	free(sink);
}

FILE *timeline_sink_stream(struct sink *sink)
{
	return sink->out;
}

struct timeline *timeline_sink_timeline(struct sink *sink)
{
	return &sink->timeline;
}

const struct code_markers *timeline_sink_markers(const struct sink *sink)
{
	return &sink->markers;
}
