/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/outputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "cli/output_file.h"

#define BUFFER_BYTES (1u << 20)

/* The stream under a FILE. It remembers the errno of a failed write, which stdio does not. */
struct output_stream {
	struct output_file file;
	int error; /* the first error */
	bool said;
};

static ssize_t stream_write(void *stream_, const char *bytes, size_t size_bytes)
{
	struct output_stream *stream = stream_;
	size_t done = 0;

	if (!stream->error)
		stream->error = output_file_begin(&stream->file);
	while (done < size_bytes && !stream->error) {
		ssize_t put = write(stream->file.fd, bytes + done, size_bytes - done);

		if (put >= 0)
			done += (size_t)put;
		else if (errno != EINTR)
			stream->error = -errno;
	}
	errno = -stream->error;
	return (ssize_t)done;
}

static int stream_close(void *stream_)
{
	struct output_stream *stream = stream_;
	int fd = stream->file.fd;

	if (fd != STDOUT_FILENO && close(fd) && !stream->error)
		stream->error = -errno;
	return stream->error;
}

/* Open a file, unless it is already open as another output. */
static int open_file(const struct outputs *outputs, const char *path, struct output_file *ret)
{
	int err = output_file_open(path, ret);

	if (err)
		return err;
	vec_for_each (output, &outputs->files) {
		if (output_file_same(&output->stream->file, ret))
			err = -EBUSY;
	}
	if (err) {
		close(ret->fd);
		output_file_deinit(ret);
	}
	return err;
}

/* Create the FILE and output->stream. Takes over file in all cases. */
static int open_stream(struct output *output, struct output_file *file)
{
	static const cookie_io_functions_t functions = {
		.write = stream_write,
		.close = stream_close,
	};
	AUTO_FREE struct output_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->file = *file;
		output->file = fopencookie(stream, "w", functions);
	}
	if (!output->file) {
		if (file->fd != STDOUT_FILENO)
			close(file->fd);
		output_file_deinit(file);
		return -ENOMEM;
	}
	setvbuf(output->file, NULL, _IOFBF, BUFFER_BYTES);
	output->stream = TAKE_PTR(stream);
	return 0;
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
	fprintf(stderr, "jitbpf: unknown format '%s': use one of %s\n", name ?: output->path,
		name ? "firefox, folded, html, pprof, script, speedscope, summary"
		: outputs->no_recordings
			? ".folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt"
			: ".jitbpf, .folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt");
	return -EINVAL;
}

/* Open an output and add it. */
static int open_output(struct outputs *outputs, struct output output)
{
	struct output_file file = {.fd = STDOUT_FILENO};
	int err = vec_reserve(&outputs->files, outputs->files.size + 1);

	if (!err && output.path)
		err = open_file(outputs, output.path, &file);
	err = err ?: open_stream(&output, &file);
	if (err) {
		fprintf(stderr, "jitbpf: %s: %s\n", output.path ?: "standard output",
			err == -EBUSY ? "given twice as an output" : strerror(-err));
		return err;
	}
	return vec_push(&outputs->files, output);
}

/* Opening the path again would start at offset 0, over what the shell redirected there. */
static bool is_standard_output(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

int outputs_add(struct outputs *outputs, const char *path, const char *name)
{
	struct output output = {.path = path};
	int err = choose_format(outputs, &output, name);

	if (!err && output.recording && outputs_recording(outputs)) {
		fprintf(stderr, "jitbpf: only one output can be a recording (.jitbpf)\n");
		err = -EINVAL;
	}
	if (path && is_standard_output(path))
		output.path = NULL;
	return err ?: open_output(outputs, output);
}

int outputs_add_file(struct outputs *outputs, const char *path, FILE **ret)
{
	bool standard = path && is_standard_output(path);
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

FILE *outputs_recording(const struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		if (output->recording)
			return output->file;
	}
	return NULL;
}

/* What to do about a failure. */
static const char *advice(int err)
{
	switch (-err) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return "free space there, or write elsewhere with -o";
	case ENOMEM:
		return "free memory, or write a recording (.jitbpf) and use 'jitbpf report'";
	default:
		return "write elsewhere with -o";
	}
}

/* What a failed output leaves at its path. */
static const char *remains(const struct output *output)
{
	if (output->stream->file.target)
		return "; an older file of this name is unchanged";
	return output->recording ? "; 'jitbpf report' shows what it holds so far" : "";
}

static void say_error(const struct output *output)
{
	struct output_stream *stream = output->stream;

	if (!stream->error || stream->said)
		return;
	stream->said = true;
	fprintf(stderr, "jitbpf: %s is incomplete: %s%s; %s\n", output->path ?: "standard output",
		strerror(-stream->error), remains(output), advice(stream->error));
}

/* Note a failure, unless a write has failed before. Nothing is written from now on. */
static void fail(struct output *output, int err)
{
	if (err && !output->stream->error)
		output->stream->error = err;
}

void outputs_begin_recording(struct outputs *outputs)
{
	vec_for_each (output, &outputs->files) {
		struct output_stream *stream = output->stream;

		if (!output->recording)
			continue;
		fflush(output->file); /* a full disk leaves the existing file in place */
		if (!stream->error)
			fail(output, output_file_publish(&stream->file));
		say_error(output);
	}
}

void outputs_fail_recording(struct outputs *outputs, int err)
{
	vec_for_each (output, &outputs->files) {
		if (!output->recording)
			continue;
		fail(output, err);
		say_error(output);
	}
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
		fail(output, err);
		first = first ?: err;
	}
	return first;
}

bool output_can_refresh(const struct output *output)
{
	return output->sink && output->sink->counts_only && output->stream->file.target;
}

int output_refresh(const struct output *output, const struct view *view)
{
	struct outputs now = {.no_recordings = true};
	struct sink *sink;
	int err = outputs_add(&now, output->path, NULL), closed;

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

void outputs_keep(struct outputs *outputs)
{
	vec_for_each (output, &outputs->files)
		output->whole = true;
}

int outputs_close(struct outputs *outputs)
{
	int first = 0;

	vec_for_each (output, &outputs->files) {
		struct output_stream *stream = output->stream;

		fflush(output->file);
		if (output->whole && !stream->error)
			fail(output, output_file_publish(&stream->file));
		fclose(output->file);
		say_error(output);
		first = first ?: stream->error;
		output_file_deinit(&stream->file);
		free(stream);
	}
	vec_deinit(&outputs->files);
	return first;
}
