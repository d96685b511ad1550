/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/out.h"

#include <errno.h>
#include <stdlib.h>

struct sink {
	FILE *out;
};

int out_create(FILE *out, struct sink **ret)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	sink->out = out;
	*ret = sink;
	return 0;
}

void out_destroy(struct sink *sink)
{
	free(sink);
}

FILE *out_stream(struct sink *sink)
{
	return sink->out;
}

int out_write(FILE *out, const void *bytes, size_t size_bytes)
{
	errno = 0;
	if (size_bytes && fwrite(bytes, 1, size_bytes, out) != size_bytes)
		return errno ? -errno : -EIO;
	return 0;
}

int out_flush(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return errno ? -errno : -EIO;
	return ferror(out) ? -EIO : 0;
}
