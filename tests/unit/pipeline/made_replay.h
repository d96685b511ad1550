/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Replays a recording in memory, for cmocka tests. */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_MADE_REPLAY_H
#define JITBPF_TESTS_UNIT_PIPELINE_MADE_REPLAY_H

#include "decode/recording/recording_reader.h"
#include "pipeline/pipeline.h"
#include "pipeline/record/replay_source.h"

/* Run the pipeline over the whole recording, and finish it. */
static inline void made_replay(struct pipeline *pipeline, const char *bytes, size_t size_bytes)
{
	struct blob blob = blob_of_memory(bytes, size_bytes);
	struct recording_reader *reader;
	struct recording_error error;
	struct replay_source replayed;
	struct source source;
	int state;

	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&replayed, reader, &source);
	while ((state = pipeline_round(pipeline, &source, NULL)) > 0)
		;
	assert_int_equal(state, SOURCE_END);
	assert_int_equal(pipeline_finish(pipeline), 0);
	recording_reader_close(reader);
}

#endif
