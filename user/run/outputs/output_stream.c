/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/output_stream.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/scope.h"

#define BUFFER_BYTES (1u << 20)

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

FILE *output_stream_open(const struct output_stream *values, struct output_stream **ret)
{
	static const cookie_io_functions_t functions = {
		.write = stream_write,
		.close = stream_close,
	};
	AUTO_FREE struct output_stream *stream = malloc(sizeof(*stream));
	FILE *file = NULL;

	if (stream) {
		*stream = *values;
		file = fopencookie(stream, "w", functions);
	}
	if (!file) {
		if (values->file.fd != STDOUT_FILENO)
			close(values->file.fd);
		output_opener_forget(values->opener, &values->file);
		return NULL;
	}
	setvbuf(file, NULL, _IOFBF, BUFFER_BYTES);
	*ret = TAKE_PTR(stream);
	return file;
}
