/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Fuzzes a replay: a recording with any records in any order, of version 1 (through intake) or 2
 * (directly), through the analysis to every format.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/scope.h"
#include "decode/record/recording_reader.h"
#include "pipeline/pipeline.h"
#include "pipeline/record/replay_source.h"
#include "profile/ledger.h"

static const struct sink_ops *const formats[] = {
	&sink_folded,  &sink_html,	 &sink_pprof,	&sink_script,
	&sink_firefox, &sink_speedscope, &sink_summary, &sink_summary_json,
};

static void require(bool ok)
{
	if (!ok)
		abort();
}

/* Let the checksum of every round hold, so that damage reaches the pipeline. */
static void correct_checksums(uint8_t *bytes, size_t size_bytes)
{
	const size_t crc_offset = offsetof(struct jitbpf_round_chunk, crc);
	size_t at = sizeof(struct jitbpf_recording_header), begin = 0;
	struct jitbpf_record header;

	while (at <= size_bytes && size_bytes - at >= sizeof(header)) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size_bytes < sizeof(header) || header.size_bytes > size_bytes - at)
			return;
		if (header.type == JITBPF_CHUNK_ROUND &&
		    header.size_bytes == sizeof(struct jitbpf_round_chunk)) {
			uint32_t crc = (uint32_t)crc32_z(0, bytes + begin, at + crc_offset - begin);

			memcpy(bytes + at + crc_offset, &crc, sizeof(crc));
			begin = at + header.size_bytes;
		}
		at += header.size_bytes;
	}
}

static void replay(struct recording_reader *reader)
{
	FILE *files[ARRAY_SIZE(formats)];
	char *texts[ARRAY_SIZE(formats)] = {0};
	size_t sizes[ARRAY_SIZE(formats)];
	const struct ledger *ledger;
	struct replay_source played;
	struct pipeline *pipeline;
	struct source source;

	/* Little memory, so that events are refused. */
	require(!pipeline_create(&(struct pipeline_options){.analysis.memory_bytes = 64u << 10},
				 &pipeline));
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		files[i] = open_memstream(&texts[i], &sizes[i]);
		require(files[i] && !pipeline_add_sink(pipeline, formats[i], files[i]));
	}
	replay_source_init(&played, reader, &source);
	while (pipeline_round(pipeline, &source, NULL) > 0)
		;
	require(!pipeline_finish(pipeline));
	ledger = pipeline_view(pipeline)->ledger;
	require(ledger_taken(ledger) >= ledger->fate[FATE_RESOLVED]);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		pipeline_write(pipeline, files[i]);
	pipeline_destroy(pipeline);
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		fclose(files[i]);
		free(texts[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *bytes = malloc(size_bytes + 1);
	struct recording_reader *reader;
	struct recording_error error = {0};
	struct blob blob;

	require(bytes);
	if (size_bytes)
		memcpy(bytes, data, size_bytes);
	correct_checksums(bytes, size_bytes);
	blob = blob_of_memory(bytes, size_bytes);
	if (!recording_reader_open(&blob, &reader, &error)) {
		replay(reader);
		recording_reader_close(reader);
	}
	free(bytes);
	return 0;
}
