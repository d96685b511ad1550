/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline_sink.h"

#include <errno.h>
#include <stdlib.h>

struct sink {
	FILE *out;
	struct timeline timeline;
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
	return timeline_add(&sink->timeline, view, sample);
}

void timeline_sink_destroy(struct sink *sink)
{
	if (!sink)
		return;
	timeline_deinit(&sink->timeline);
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
