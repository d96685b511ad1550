/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes a replay: a recording with any records in any order, of version 1 (through intake) or
 * later (directly), through the analysis to every format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/recording/recording_reader.h"
#include "pipeline/pipeline.h"
#include "pipeline/record/replay_source.h"
#include "profile/ledger.h"
#include "sink/annotate/annotation.h"
#include "tests/fuzz/recording_input.h"

static const struct sink_ops *const formats[] = {
	&sink_folded,  &sink_html,	 &sink_pprof,	&sink_script,
	&sink_firefox, &sink_speedscope, &sink_summary, &sink_summary_json,
};

/* Annotate each function. The samples of its instructions add up to its own. */
static void annotate(const struct view *view)
{
	struct function_samples samples;
	const struct annotation_sources sources = {.view = view, .samples = &samples};

	CHECK(!function_samples_init(&samples, view));
	vec_for_each (function, &samples.functions) {
		struct annotation annotation;
		uint64_t sum = 0;

		CHECK(!annotation_init(&annotation, &sources, function));
		vec_for_each (instruction, &annotation.instructions)
			sum += instruction->samples;
		CHECK(sum == function->samples);
		annotation_deinit(&annotation);
	}
	function_samples_deinit(&samples);
}

/* event: shown by the outputs; NULL: CPU time. */
static void replay(struct recording_reader *reader, const char *event)
{
	FILE *files[ARRAY_SIZE(formats)];
	char *texts[ARRAY_SIZE(formats)] = {0};
	size_t sizes[ARRAY_SIZE(formats)];
	const struct ledger *ledger;
	struct replay_source played;
	struct pipeline *pipeline;
	struct source source;
	const struct view_options view = {.event = event};

	/* Little memory, so that events are refused. */
	CHECK(!pipeline_create(&(struct pipeline_options){.analysis.memory_bytes = 64u << 10,
							  .analysis.keep_code = true,
							  .analysis.view = &view},
			       &pipeline));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		files[i] = open_memstream(&texts[i], &sizes[i]);
		CHECK(files[i] && !pipeline_add_sink(pipeline, formats[i], files[i]));
	}
	replay_source_init(&played, reader, &source);
	while (pipeline_round(pipeline, &source, NULL) > 0)
		;
	CHECK(!pipeline_finish(pipeline));
	ledger = pipeline_view(pipeline)->ledger;
	CHECK(ledger_taken(ledger) >= ledger->fate[FATE_RESOLVED]);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		pipeline_write(pipeline, files[i]);
	annotate(pipeline_shown_view(pipeline));
	pipeline_destroy(pipeline);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		fclose(files[i]);
		free(texts[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	size_t size;
	uint8_t *bytes = recording_of_input(data, size_bytes, &size);
	struct blob blob = blob_of_memory(bytes, size);
	struct recording_reader *reader;
	struct recording_error error = {0};

	if (!recording_reader_open(&blob, &reader, &error)) {
		replay(reader, size_bytes % 2 ? "page-faults" : NULL);
		recording_reader_close(reader);
	}
	free(bytes);
	return 0;
}
