/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The common part of the formats over time: a sink that keeps every sample. */
#ifndef JITBPF_SINK_TIMELINE_TIMELINE_SINK_H
#define JITBPF_SINK_TIMELINE_TIMELINE_SINK_H

#include <stdio.h>

#include "sink/timeline/code_markers.h"
#include "sink/sink.h"
#include "sink/timeline/timeline.h"

/* create(), sample(), code(), left_out() and destroy() of such a sink. */
int timeline_sink_create(FILE *out, struct sink **ret);
int timeline_sink_sample(struct sink *sink, const struct view *view,
			 const struct sink_sample *sample);
int timeline_sink_code(struct sink *sink, const struct view *view, const struct sink_code *code);
uint64_t timeline_sink_left_out(const struct sink *sink);
void timeline_sink_destroy(struct sink *sink);

FILE *timeline_sink_stream(struct sink *sink);

/* Return the kept data, owned by the sink. Markers use the thread numbers of the timeline. */
struct timeline *timeline_sink_timeline(struct sink *sink);
const struct code_markers *timeline_sink_markers(const struct sink *sink);

#endif
