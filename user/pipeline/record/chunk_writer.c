/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/chunk_writer.h"

#include <errno.h>
#include <zlib.h>

/* Returns the error of the stdio call that has just failed; not all calls set errno. */
static int fail(struct chunk_writer *writer)
{
	writer->error = errno ? -errno : -EIO;
	return writer->error;
}

int chunk_put(struct chunk_writer *writer, const void *bytes, size_t size_bytes)
{
	if (writer->error)
		return writer->error;
	if (!size_bytes)
		return 0; /* with bytes NULL, crc32_z() would return its initial value */
	errno = 0;
	if (fwrite(bytes, 1, size_bytes, writer->out) != size_bytes)
		return fail(writer);
	writer->crc = (uint32_t)crc32_z(writer->crc, bytes, size_bytes);
	writer->bytes += size_bytes;
	return 0;
}

int chunk_flush(struct chunk_writer *writer)
{
	if (writer->error)
		return writer->error;
	errno = 0;
	return fflush(writer->out) ? fail(writer) : 0;
}

int chunk_put_round(struct chunk_writer *writer, uint64_t time_ns)
{
	struct jitbpf_round_chunk chunk = {
		.h =
			{
				.size_bytes = sizeof(chunk),
				.type = JITBPF_CHUNK_ROUND,
				.time_ns = time_ns,
			},
	};

	chunk_put(writer, &chunk, offsetof(struct jitbpf_round_chunk, crc));
	chunk.crc = writer->crc;
	chunk_put(writer, &chunk.crc, sizeof(chunk.crc));
	writer->crc = 0;
	return writer->error;
}

int chunk_put_end(struct chunk_writer *writer, uint64_t time_ns)
{
	struct jitbpf_record end = {
		.size_bytes = sizeof(end),
		.type = JITBPF_CHUNK_END,
		.time_ns = time_ns,
	};

	chunk_put(writer, &end, sizeof(end));
	return chunk_flush(writer);
}
