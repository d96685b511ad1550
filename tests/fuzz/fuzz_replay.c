/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes a replay: a recording with any records in any order, directly and through intake, and
 * through the analysis to every format.
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
#include "tests/fuzz/seeds.h"

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

/* The description of a live source, which has no INFO chunk. */
static const struct run_info described = {
	.freq_hz = 1000,
	.cpus = 1,
	.event = "cpu-clock",
	.command = "",
	.host = "",
	.kernel = "",
	.more_events = 2,
	.events = {{"page-faults", "faults", 1000}, {"waits", "ns", 0}},
};

/*
 * event: shown by the outputs; NULL: CPU time. finished: the records enter behind intake, as those
 * of a recording do; else they are those of a live source.
 */
static void replay(struct recording_reader *reader, const char *event, bool finished)
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
	CHECK(finished || !pipeline_set_info(pipeline, &described));
	replay_source_init(&played, reader, &source);
	source.finished = finished;
	while (pipeline_round(pipeline, &source, NULL) > 0)
		;
	CHECK(!pipeline_finish(pipeline));
	ledger = pipeline_view(pipeline)->ledger;
	CHECK(ledger_taken(ledger) >= ledger->samples.fate[FATE_RESOLVED]);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		pipeline_write(pipeline, files[i]);
	if (finished && ledger_taken(ledger))
		seed_taken();
	annotate(pipeline_shown_view(pipeline));
	pipeline_destroy(pipeline);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		fclose(files[i]);
		free(texts[i]);
	}
}

SEEDS(13);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	size_t size;
	uint8_t *bytes = recording_of_input(data, size_bytes, &size);
	struct blob blob = blob_of_memory(bytes, size);
	struct recording_reader *reader;
	struct recording_error error = {0};

	for (int i = 0; i < 2; i++) {
		if (recording_reader_open(&blob, &reader, &error))
			break;
		replay(reader, size_bytes % 2 ? "page-faults" : NULL, i == 0);
		recording_reader_close(reader);
	}
	free(bytes);
	return 0;
}
