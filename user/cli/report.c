/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* jitbpf report: a recording through the same stages. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "agent/file_blob.h"
#include "agent/file_store.h"
#include "base/scope.h"
#include "cli/commands.h"
#include "cli/outputs.h"
#include "pipeline/replay_source.h"
#include "symbolize/symbolizer.h"

struct report_options {
	const char *format;
	bool json;
	const char *output;
	uint64_t from_ns, to_ns;
	pid_list pids, tids;
	string_list comms;
};

static const struct option_spec options[] = {
	{'f', "format", OPTION_STRING, offsetof(struct report_options, format), "FORMAT",
	 "firefox, folded, html, pprof, script, speedscope or summary "
	 "(default: by the ending of -o, else summary)",
	 0, 0},
	{0, "json", OPTION_FLAG, offsetof(struct report_options, json), NULL, "the summary as JSON",
	 0, 0},
	{'o', "output", OPTION_STRING, offsetof(struct report_options, output), "FILE",
	 "write there instead of to standard output", 0, 0},
	{0, "from", OPTION_SECONDS, offsetof(struct report_options, from_ns), "SEC",
	 "only samples from so long after the start", 0, UINT64_MAX},
	{0, "to", OPTION_SECONDS, offsetof(struct report_options, to_ns), "SEC",
	 "only samples before that", 1, UINT64_MAX},
	{0, "pid", OPTION_PIDS, offsetof(struct report_options, pids), "PID[,PID...]",
	 "only samples of these processes", 0, 0},
	{0, "thread", OPTION_PIDS, offsetof(struct report_options, tids), "TID[,TID...]",
	 "only samples of these threads", 0, 0},
	{0, "comm", OPTION_STRINGS, offsetof(struct report_options, comms), "NAME",
	 "only processes and threads of this name (may be given several times)", 0, 0},
};

/* Sets *ret_any where it is a recording at all, even if a damaged one. */
static int replay(struct pipeline *pipeline, const struct blob *blob, const char *path,
		  bool *ret_any)
{
	struct recording_error error = {0};
	struct recording_reader *reader;
	struct replay_source replay;
	struct source source;
	int err, state;

	err = recording_reader_open(blob, &reader, &error);
	*ret_any = !err;
	if (!err) {
		replay_source_init(&replay, reader, &source);
		do
			state = pipeline_round(pipeline, &source, NULL);
		while (state > 0);
		err = state;
		error = replay.error;
		recording_reader_close(reader);
	}
	if (err == -EBADMSG)
		fprintf(stderr, "jitbpf: %s: at offset %" PRIu64 ": %s\n", path, error.offset,
			error.what ?: "damaged");
	else if (err)
		fprintf(stderr, "jitbpf: %s: %s\n", path, strerror(-err));
	return err;
}

static int open_recording(const char *path, struct blob *ret)
{
	int fd = file_open_regular(path), err;

	if (fd < 0) {
		fprintf(stderr, "jitbpf: %s: %s\n", path, strerror(-fd));
		return fd;
	}
	err = file_blob_init(ret, fd);
	if (err)
		close(fd);
	return err;
}

static int report(const struct report_options *values, const char *path)
{
	struct sample_filter filter = {
		.from_ns = values->from_ns,
		.to_ns = values->to_ns,
		.pids = values->pids.data,
		.pid_count = values->pids.size,
		.tids = values->tids.data,
		.tid_count = values->tids.size,
		.comms = values->comms.data,
		.comm_count = values->comms.size,
	};
	struct symbolize_now now = {0};
	struct symbolizer *symbolizer = NULL;
	struct file_store *files = NULL;
	struct pipeline *pipeline = NULL;
	struct symbol_service symbols;
	struct outputs outputs = {.no_recordings = true};
	struct file_source source;
	struct blob blob;
	const char *name = values->format;
	int err, damage = 0;
	bool any;

	if (values->json)
		name = "json";
	else if (!name && !values->output)
		name = "summary";
	err = open_recording(path, &blob);
	if (err)
		return err;
	err = outputs_add(&outputs, values->output, name);
	if (err)
		goto out;
	err = file_store_create(false, &files);
	if (err)
		goto out;
	file_store_source(files, &source);
	err = symbolizer_create(&source, &symbolizer);
	if (err)
		goto out;
	symbolize_now_init(&now, symbolizer, &symbols);
	err = pipeline_create(&(struct pipeline_options){.symbols = &symbols, .filter = &filter},
			      &pipeline);
	err = err ?: outputs_attach(&outputs, pipeline);
	if (err)
		goto out;
	/* What precedes damage is reported all the same. */
	damage = replay(pipeline, &blob, path, &any);
	if (!any)
		goto out;
	err = pipeline_finish(pipeline);
	err = err ?: pipeline_write(pipeline);
out:
	err = outputs_close(&outputs) ?: err;
	pipeline_destroy(pipeline);
	symbolize_now_deinit(&now);
	symbolizer_destroy(symbolizer);
	file_store_destroy(files);
	blob_close(&blob);
	if (err == -ENOMEM)
		fprintf(stderr, "jitbpf: out of memory\n");
	return err ?: damage;
}

static int run(const struct command_spec *spec, int argc, char **argv)
{
	struct report_options values = {0};
	int operand, status;

	switch (options_parse(spec, argc, argv, &values, &operand)) {
	case OPTIONS_HELP:
		return 0;
	case OPTIONS_BAD:
		return EXIT_USAGE;
	case OPTIONS_OK:
		break;
	}
	if (argc - operand != 1) {
		fprintf(stderr, "jitbpf report: one recording is wanted\n");
		return EXIT_USAGE;
	}
	status = report(&values, argv[operand]) ? 1 : 0;
	vec_deinit(&values.pids);
	vec_deinit(&values.tids);
	vec_deinit(&values.comms);
	return status;
}

const struct command_spec command_report = {
	.name = "report",
	.usage = "[options] RECORDING",
	.summary = "show a recording: as a flame graph, folded stacks, a script or a summary",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.run = run,
};
