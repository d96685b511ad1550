/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/outputs.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"
#include "run/messages/say.h"

#define BUFFER_BYTES (1u << 20)

/* --- access ----------------------------------------------------------------- */

/* /dev/stdout is not opened by its path: that would overwrite a redirected file from offset 0. */
bool outputs_is_standard(const char *path)
{
	return !path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

bool outputs_fit_terminal(const char *command, const char *name)
{
	const struct sink_ops *sink = name ? sink_by_name(name) : NULL;

	if (!sink || !ends_with(sink->extension, ".gz") || !isatty(STDOUT_FILENO))
		return true;
	say("jitbpf %s: %s is not text, and standard output is a terminal: use -o FILE%s\n",
	    command, sink->name, sink->extension);
	return false;
}

int output_access_init(struct output_access *access, const struct output_paths *paths)
{
	char words[256];
	bool needed = false;
	int err;

	*access = (struct output_access){0};
	err = invoking_user_find(&access->user, words, sizeof(words));
	if (err) {
		say("jitbpf: %s\n", words);
		return err;
	}
	for (size_t i = 0; i < paths->count; i++)
		needed |= !outputs_is_standard(paths->paths[i]);
	if (needed)
		err = output_opener_create(&access->user, paths, &access->opener);
	if (err)
		say("jitbpf: starting the process for outputs: %s\n", strerror(-err));
	return err;
}

void output_access_deinit(struct output_access *access)
{
	output_opener_destroy(access->opener);
	invoking_user_deinit(&access->user);
}

/* --- streams ---------------------------------------------------------------- */

/* The stream under a FILE. It keeps the errno of a failed write, which stdio does not. */
struct output_stream {
	struct output_opener *opener;
	struct opened_output file;
	int error; /* the first error */
	bool said;
	bool of_recording; /* shows a recording, so writing one does not help */
};

static ssize_t stream_write(void *stream_, const char *bytes, size_t size_bytes)
{
	struct output_stream *stream = stream_;
	size_t done = 0;

	if (!stream->error)
		stream->error = output_file_begin(stream->file.fd, &stream->file.stale);
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

/* Create the FILE and output->stream. Takes over file in all cases. */
static int open_stream(const struct outputs *outputs, struct output *output,
		       const struct opened_output *file)
{
	static const cookie_io_functions_t functions = {
		.write = stream_write,
		.close = stream_close,
	};
	AUTO_FREE struct output_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->opener = outputs->opener;
		stream->said = outputs->tentative;
		stream->of_recording = outputs->no_recordings;
		stream->file = *file;
		output->file = fopencookie(stream, "w", functions);
	}
	if (!output->file) {
		if (file->fd != STDOUT_FILENO)
			close(file->fd);
		output_opener_forget(outputs->opener, file);
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
	say("jitbpf: unknown %s '%s': use one of %s\n", name ? "format" : "extension of the output",
	    name ?: output->path,
	    name ? "firefox, folded, html, json, pprof, script, speedscope, summary, top"
	    : outputs->no_recordings
		    ? ".folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt"
		    : ".jitbpf, .folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt");
	return -EINVAL;
}

static void say_unopened(const struct outputs *outputs, const char *path, int err)
{
	const char *user = outputs->opener ? output_opener_user(outputs->opener) : NULL;

	say("jitbpf: %s: ", path ?: "standard output");
	if (err == -EBUSY)
		say("given twice as an output: each output needs a file of its own\n");
	else if (err == -ELOOP)
		say("the path has a link of another user, which is not followed: use the "
		    "path without it, or another folder with -o\n");
	else if (err == -EPERM)
		say("a file of another user is there, which is not written: remove it, or "
		    "use another folder with -o\n");
	else if (err == -EACCES && user)
		say("%s, for user %s, who called sudo and owns the outputs: use a folder of "
		    "this user with -o\n",
		    strerror(-err), user);
	else
		say("%s\n", strerror(-err));
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
		say_unopened(outputs, output.path, err);
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

/* Returns the advice in the message about a failed output. */
static const char *advice(const struct output_stream *stream)
{
	int err = stream->error;

	switch (-err) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return "free space there, or write elsewhere with -o";
	case ENOMEM:
		if (stream->of_recording)
			return "use a larger --max-memory, or choose less with --from, --to or "
			       "--comm";
		return "free memory, or write a recording (.jitbpf) and use 'jitbpf report'";
	default:
		return "write elsewhere with -o";
	}
}

/* Returns the part of a message that says what is at the path of a failed output. */
static const char *remains(const struct output *output)
{
	if (output->stream->file.replaces)
		return "; an older file of this name is unchanged";
	return output->recording ? "; 'jitbpf report' shows what it holds so far" : "";
}

static void say_error(const struct output *output)
{
	struct output_stream *stream = output->stream;

	if (!stream->error || stream->said)
		return;
	stream->said = true;
	say("jitbpf: %s is incomplete: %s%s; %s\n", output->path ?: "standard output",
	    strerror(-stream->error), remains(output), advice(stream));
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
		say_error(output);
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
		say_error(output);
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
			    output->path ?: "standard output", remains(output));
	}
	pthread_mutex_unlock(&closing);
}

static void say_left_out(const struct output *output, uint64_t samples)
{
	if (samples)
		say("jitbpf: %s lacks the last %" PRIu64
		    " samples: single samples had no more room: use a larger --max-memory, or "
		    "choose less%s\n",
		    output->path ?: "standard output", samples,
		    output->stream->of_recording ? " with --from, --to or --comm" : "");
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
		say_left_out(output, pipeline_left_out(pipeline, output->file));
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
	say_error(output);
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
