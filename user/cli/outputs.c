/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/outputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"

#define BUFFER_BYTES (1u << 20)

/* Under a FILE, which by itself does not remember why it could not write. */
struct output_stream {
	int fd;
	int error; /* the first */
	bool said;
};

static ssize_t stream_write(void *stream_, const char *bytes, size_t size_bytes)
{
	struct output_stream *stream = stream_;
	size_t done = 0;

	while (done < size_bytes && !stream->error) {
		ssize_t put = write(stream->fd, bytes + done, size_bytes - done);

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

	if (stream->fd != STDOUT_FILENO && close(stream->fd) && !stream->error)
		stream->error = -errno;
	return stream->error;
}

static bool ends_with(const char *s, const char *end)
{
	size_t size = strlen(s), end_size = strlen(end);

	return size >= end_size && !strcmp(s + size - end_size, end);
}

/* What root writes for somebody is theirs. */
static void give_to_invoking_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() || !uid || !gid)
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)))
		return; /* it stays root's: no harm */
}

/* The file behind another output already? */
static bool is_taken(const struct outputs *outputs, const struct stat *st)
{
	struct stat other;

	vec_for_each (output, &outputs->files) {
		if (!fstat(output->stream->fd, &other) && other.st_dev == st->st_dev &&
		    other.st_ino == st->st_ino)
			return true;
	}
	return false;
}

/* Open a file, emptied; a device or a FIFO as it is. */
static int open_file(const struct outputs *outputs, const char *path)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (S_ISREG(st.st_mode)) {
		if (is_taken(outputs, &st))
			return -EBUSY;
		if (ftruncate(fd, 0))
			return -errno;
		give_to_invoking_user(fd);
	}
	return TAKE_FD(fd);
}

/* The FILE over output->stream, whose descriptor it takes over; on failure too. */
static int open_stream(struct output *output, int fd)
{
	static const cookie_io_functions_t functions = {
		.write = stream_write,
		.close = stream_close,
	};
	AUTO_FREE struct output_stream *stream = calloc(1, sizeof(*stream));

	if (stream) {
		stream->fd = fd;
		output->file = fopencookie(stream, "w", functions);
	}
	if (!output->file) {
		if (fd != STDOUT_FILENO)
			close(fd);
		return -ENOMEM;
	}
	setvbuf(output->file, NULL, _IOFBF, BUFFER_BYTES);
	output->stream = TAKE_PTR(stream);
	return 0;
}

/* How it is to be written: output->sink, NULL for a recording. */
static int choose_format(const struct outputs *outputs, struct output *output, const char *name)
{
	bool recording = !name && output->path && ends_with(output->path, RECORDING_EXTENSION);

	if (name)
		output->sink = sink_by_name(name);
	else if (output->path && !recording)
		output->sink = sink_by_path(output->path);
	if (output->sink || (recording && !outputs->no_recordings))
		return 0;
	fprintf(stderr, "jitbpf: unknown format '%s': wanted is one of %s\n", name ?: output->path,
		name ? "firefox, folded, html, pprof, script, speedscope, summary"
		: outputs->no_recordings
			? ".folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt"
			: ".jitbpf, .folded, .html, .json.gz, .pb.gz, .speedscope.json, .txt");
	return -EINVAL;
}

/* Open what output names, and add it. */
static int open_output(struct outputs *outputs, struct output output)
{
	int err = vec_reserve(&outputs->files, outputs->files.size + 1), fd = STDOUT_FILENO;

	if (!err && output.path)
		err = fd = open_file(outputs, output.path);
	if (err >= 0)
		err = open_stream(&output, fd);
	if (err) {
		fprintf(stderr, "jitbpf: %s: %s\n", output.path ?: "standard output",
			err == -EBUSY ? "given twice" : strerror(-err));
		return err;
	}
	return vec_push(&outputs->files, output);
}

int outputs_add(struct outputs *outputs, const char *path, const char *name)
{
	struct output output = {.path = path};
	int err = choose_format(outputs, &output, name);

	return err ?: open_output(outputs, output);
}

int outputs_add_file(struct outputs *outputs, const char *path, FILE **ret)
{
	int err = open_output(outputs, (struct output){.path = path});

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
		if (!output->sink)
			return output->file;
	}
	return NULL;
}

static void say_error(const struct output *output)
{
	struct output_stream *stream = output->stream;

	if (!stream->error || stream->said)
		return;
	stream->said = true;
	fprintf(stderr, "jitbpf: writing %s: %s\n", output->path ?: "standard output",
		strerror(-stream->error));
}

int outputs_check(const struct outputs *outputs)
{
	int first = 0;

	vec_for_each (output, &outputs->files) {
		say_error(output);
		first = first ?: output->stream->error;
	}
	return first;
}

int outputs_close(struct outputs *outputs)
{
	int first = 0;

	vec_for_each (output, &outputs->files) {
		fclose(output->file);
		say_error(output);
		first = first ?: output->stream->error;
		free(output->stream);
	}
	vec_deinit(&outputs->files);
	return first;
}
