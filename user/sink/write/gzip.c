/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/gzip.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/scope.h"
#include "sink/write/out.h"

#define BUFFER_BYTES (64u << 10)

/* Added to zlib's window size, it selects the gzip format. */
#define GZIP_FORMAT 16

struct gzip {
	FILE *out;
	FILE *stream;
	z_stream deflate;
	int error; /* the first, negative errno */
	uint8_t packed[BUFFER_BYTES];
};

/* Compress the input at deflate.next_in; with Z_FINISH, also the buffered rest. */
static void work_off(struct gzip *gzip, int flush)
{
	size_t bytes;

	do {
		gzip->deflate.next_out = gzip->packed;
		gzip->deflate.avail_out = BUFFER_BYTES;
		deflate(&gzip->deflate, flush); /* fails only if it is called wrongly */
		bytes = BUFFER_BYTES - gzip->deflate.avail_out;
		errno = 0;
		if (!gzip->error && fwrite(gzip->packed, 1, bytes, gzip->out) != bytes)
			gzip->error = errno ? -errno : -EIO;
	} while (!gzip->deflate.avail_out);
}

static ssize_t stream_write(void *gzip_, const char *bytes, size_t size_bytes)
{
	struct gzip *gzip = gzip_;
	size_t done = 0;

	while (done < size_bytes && !gzip->error) {
		size_t some = size_bytes - done < INT_MAX ? size_bytes - done : INT_MAX;

		gzip->deflate.next_in = (Bytef *)(bytes + done);
		gzip->deflate.avail_in = (uInt)some;
		work_off(gzip, Z_NO_FLUSH);
		done += some;
	}
	errno = -gzip->error;
	return gzip->error ? 0 : (ssize_t)size_bytes;
}

int gzip_open(FILE *out, struct gzip **ret)
{
	static const cookie_io_functions_t functions = {.write = stream_write};
	AUTO_FREE struct gzip *gzip = calloc(1, sizeof(*gzip));

	if (!gzip)
		return -ENOMEM;
	gzip->out = out;
	if (deflateInit2(&gzip->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + GZIP_FORMAT,
			 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	gzip->stream = fopencookie(gzip, "w", functions);
	if (!gzip->stream) {
		deflateEnd(&gzip->deflate);
		return -ENOMEM;
	}
	setvbuf(gzip->stream, NULL, _IOFBF, BUFFER_BYTES);
	*ret = TAKE_PTR(gzip);
	return 0;
}

FILE *gzip_stream(struct gzip *gzip)
{
	return gzip->stream;
}

int gzip_close(struct gzip *gzip)
{
	AUTO_FREE struct gzip *freed = gzip;
	int err;

	errno = 0;
	if (fclose(gzip->stream) && !gzip->error)
		gzip->error = errno ? -errno : -EIO;
	gzip->deflate.avail_in = 0;
	work_off(gzip, Z_FINISH);
	deflateEnd(&gzip->deflate);
	err = out_flush(gzip->out);
	return freed->error ?: err;
}
