/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/outputs.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "run/messages/say.h"
#include "run/outputs/output_messages.h"
#include "run/outputs/output_stream.h"

/* Open a file, unless it is already open as another output. */
static int open_file(const struct outputs *outputs, const char *path, struct opened_output *ret)
{
	int err = output_opener_open(outputs->opener, path, ret);

	if (err || !*ret->place)
		return err;
	vec_for_each (output, &outputs->files) {
		if (!strcmp(output->stream->file.place, ret->place))
			err = -EBUSY;
	}
	if (err) {
		close(ret->fd);
		output_opener_forget(outputs->opener, ret);
	}
	return err;
}

/* Create output->file and output->stream. Takes over file in all cases. */
static int open_stream(const struct outputs *outputs, struct output *output,
		       const struct opened_output *file)
{
	const struct output_stream values = {
		.opener = outputs->opener,
		.file = *file,
		.said = outputs->tentative,
		.of_recording = outputs->no_recordings,
	};

	output->file = output_stream_open(&values, &output->stream);
	return output->file ? 0 : -ENOMEM;
}

/* Set output->sink, or output->recording. */
static int choose_format(const struct outputs *outputs, struct output *output, const char *name)
{
	bool recording = !name && output->path && ends_with(output->path, RECORDING_EXTENSION);

	if (name)
		output->sink = sink_by_name(name);
	else if (output->path && !recording)
		output->sink = sink_by_path(output->path);
	output->recording = recording && !outputs->no_recordings;
	if (output->sink || output->recording)
		return 0;
	say("jitbpf: unknown %s '%s': use one of %s\n", name ? "format" : "extension of the output",
	    name ?: output->path,
	    name ? "firefox, folded, html, json, pprof, script, speedscope, summary, top"
	    : outputs->no_recordings
		    ? ".folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt"
		    : ".jitbpf, .folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt");
	return -EINVAL;
}

/* Open an output and add it. */
static int open_output(struct outputs *outputs, struct output output)
{
	struct opened_output file = {.fd = STDOUT_FILENO};
	int err = vec_reserve(&outputs->files, outputs->files.size + 1);

	if (!err && output.path)
		err = open_file(outputs, output.path, &file);
	err = err ?: open_stream(outputs, &output, &file);
	if (err && !outputs->tentative)
		output_say_unopened(outputs->opener, output.path, err);
	return err ?: vec_push(&outputs->files, output);
}

int outputs_add(struct outputs *outputs, const char *path, const char *name)
{
	struct output output = {.path = path};
	int err = choose_format(outputs, &output, name);

	if (!err && output.recording && outputs_recording(outputs)) {
		say("jitbpf: only one output can be a recording (.jitbpf)\n");
		err = -EINVAL;
	}
	if (outputs_is_standard(path))
		output.path = NULL;
	return err ?: open_output(outputs, output);
}

const char *outputs_name_in_series(const struct outputs *outputs)
{
	return outputs->files.data[0].stream->file.name;
}

int outputs_add_file(struct outputs *outputs, const char *path, FILE **ret)
{
	bool standard = outputs_is_standard(path);
	int err = open_output(outputs, (struct output){.path = standard ? NULL : path});

	if (!err)
		*ret = outputs->files.data[outputs->files.size - 1].file;
	return err;
}

int outputs_attach(const struct outputs *outputs, struct pipeline *pipeline)
{
	int err;

	vec_for_each (output, &outputs->files) {
		if (!output->sink)
			continue;
		err = pipeline_add_sink(pipeline, output->sink, output->file);
		if (err)
			return err;
	}
	return 0;
}

bool outputs_show_paths(const struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		if (output->sink)
			return true;
	}
	return false;
}

FILE *outputs_recording(const struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		if (output->recording)
			return output->file;
	}
	return NULL;
}

int outputs_recording_fd(const struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		if (output->recording)
			return output->stream->file.fd;
	}
	return -1;
}

/* Set the error of an output, unless it has one. Nothing is written to it from now on. */
static void fail(struct output *output, int err)
{
	if (err && !output->stream->error)
		output->stream->error = err;
}

int outputs_begin_recording(struct outputs *outputs)
{
	int first = 0;

	vec_for_each (output, &outputs->files) {
		struct output_stream *stream = output->stream;

		if (!output->recording)
			continue;
		fflush(output->file); /* a full disk leaves the existing file in place */
		if (!stream->error)
			fail(output, output_opener_publish(stream->opener, &stream->file));
		output_say_error(output);
		first = first ?: stream->error;
		if (!stream->error)
			stream->said = false;
	}
	return first;
}

void outputs_fail_recording(struct outputs *outputs, int err)
{
	vec_for_each (output, &outputs->files) {
		if (!output->recording)
			continue;
		fail(output, err);
		output_say_error(output);
	}
}

/* Taken by outputs_say_interrupted(), and by changes of `kept` and of the list of outputs. */
static pthread_mutex_t closing = PTHREAD_MUTEX_INITIALIZER;

/* Publish a complete output at its path. */
static void keep(struct output *output)
{
	struct output_stream *stream = output->stream;

	if (fflush(output->file) && !stream->error)
		stream->error = errno ? -errno : -EIO;
	if (!stream->error)
		fail(output, output_opener_publish(stream->opener, &stream->file));
	pthread_mutex_lock(&closing);
	output->kept = !stream->error;
	pthread_mutex_unlock(&closing);
}

int outputs_keep_recording(struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		if (!output->recording)
			continue;
		output->whole = true;
		keep(output);
		return output->stream->error;
	}
	return 0;
}

void outputs_say_interrupted(const struct outputs *outputs)
{
	pthread_mutex_lock(&closing);
	vec_for_each (output, &outputs->files) {
		if (!output->kept)
			say("jitbpf: %s is incomplete: interrupted%s\n",
			    output->path ?: "standard output", output_remains(output));
	}
	pthread_mutex_unlock(&closing);
}

int outputs_write(struct outputs *outputs, struct pipeline *pipeline, struct status_line *status)
{
	int first = 0, err;

	vec_for_each (output, &outputs->files) {
		if (!output->sink)
			continue;
		if (output->path)
			status_line_say(status, "writing %s", output->path);
		err = pipeline_write(pipeline, output->file);
		output->whole = !err;
		status_line_clear(status);
		output_say_left_out(output, pipeline_left_out(pipeline, output->file));
		fail(output, err);
		if (output->whole)
			keep(output);
		first = first ?: err;
	}
	return first;
}

bool output_can_refresh(const struct output *output)
{
	return output->sink && output->sink->counts_only && output->stream->file.replaces;
}

int output_refresh(const struct output *output, const struct view *view)
{
	struct outputs now = {
		.opener = output->stream->opener,
		.no_recordings = true,
	};
	struct sink *sink;
	int err = outputs_add(&now, output->path, output->sink->name), closed;

	if (err)
		return err;
	err = output->sink->create(now.files.data[0].file, &sink);
	if (!err) {
		err = output->sink->finish(sink, view);
		output->sink->destroy(sink);
	}
	fail(&now.files.data[0], err);
	now.files.data[0].whole = !err;
	closed = outputs_close(&now);
	return err ?: closed;
}

const struct opened_output *output_opened(const struct output *output)
{
	return &output->stream->file;
}

void outputs_keep(struct outputs *outputs)
{
	vec_for_each (output, &outputs->files)
		output->whole = true;
}

/* Publish the output if it is complete, and close its FILE. Returns 0 or its error. */
static int close_output(struct output *output)
{
	struct output_stream *stream = output->stream;

	if (output->whole && !output->kept)
		keep(output);
	fclose(output->file);
	output_say_error(output);
	return stream->error;
}

int outputs_close(struct outputs *outputs)
{
	int first = 0;

	vec_for_each (output, &outputs->files) {
		int err = close_output(output);

		first = first ?: err;
		output_opener_forget(output->stream->opener, &output->stream->file);
	}
	pthread_mutex_lock(&closing);
	vec_for_each (output, &outputs->files)
		free(output->stream);
	vec_deinit(&outputs->files);
	pthread_mutex_unlock(&closing);
	return first;
}

int outputs_close_retained(struct outputs *outputs, uint32_t *ret)
{
	struct output_stream *stream = outputs->files.data[0].stream;
	int err = close_output(&outputs->files.data[0]);

	*ret = stream->file.number;
	if (output_opener_retain(stream->opener, &stream->file))
		*ret = UINT32_MAX;
	free(stream);
	vec_deinit(&outputs->files);
	return err;
}
