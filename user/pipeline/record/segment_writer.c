/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/segment_writer.h"

#include <zlib.h>
#include <zstd.h>

#include "base/scope.h"
#include "uapi/recording.h"

#define STEP_BYTES (64u << 10)

/* Write bytes that the checksum covers. */
static int put(struct segment_writer *writer, const void *bytes, size_t size_bytes)
{
	if (writer->error)
		return writer->error;
	errno = 0;
	if (fwrite(bytes, 1, size_bytes, writer->out) != size_bytes)
		writer->error = errno ? -errno : -EIO; /* not all calls of stdio set errno */
	else
		writer->bytes += size_bytes;
	return writer->error;
}

static uint32_t checksum(uint32_t crc, const void *bytes, size_t size_bytes)
{
	return (uint32_t)crc32_z(crc, bytes, size_bytes);
}

struct parameter {
	ZSTD_cParameter parameter;
	int value;
};

static const struct parameter fast[] = {
	{ZSTD_c_compressionLevel, 1},
	{ZSTD_c_windowLog, JITBPF_SEGMENT_WINDOW_LOG},
};

/* Many values have few bytes. Small tables suffice for the content of a second. */
static const struct parameter small[] = {
	{ZSTD_c_compressionLevel, 6}, {ZSTD_c_windowLog, JITBPF_SEGMENT_WINDOW_LOG},
	{ZSTD_c_minMatch, 4},	      {ZSTD_c_hashLog, 16},
	{ZSTD_c_chainLog, 16},
};

static ZSTD_CCtx *create_zstd(enum segment_compression compression)
{
	const struct parameter *parameters = compression == SEGMENT_SMALL ? small : fast;
	size_t count = compression == SEGMENT_SMALL ? ARRAY_SIZE(small) : ARRAY_SIZE(fast);
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	for (size_t i = 0; zstd && i < count; i++) {
		if (ZSTD_isError(ZSTD_CCtx_setParameter(zstd, parameters[i].parameter,
							parameters[i].value))) {
			ZSTD_freeCCtx(zstd);
			return NULL;
		}
	}
	return zstd;
}

int segment_writer_init(struct segment_writer *writer, FILE *out,
			enum segment_compression compression)
{
	struct jitbpf_recording_header header = {
		.version = JITBPF_RECORDING_VERSION,
		.header_bytes = sizeof(header),
	};

	*writer = (struct segment_writer){.out = out, .zstd = create_zstd(compression)};
	if (!writer->zstd)
		return writer->error = -ENOMEM;
	memcpy(header.magic, JITBPF_RECORDING_MAGIC, sizeof(header.magic));
	writer->crc = checksum(0, &header, sizeof(header));
	return put(writer, &header, sizeof(header));
}

int segment_writer_continue(struct segment_writer *writer, const struct segment_writer *base,
			    FILE *out)
{
	*writer = (struct segment_writer){
		.out = out,
		.zstd = create_zstd(SEGMENT_SMALL),
		.crc = base->crc,
		.ends_frame = true,
		.error = base->error,
	};
	if (!writer->zstd)
		writer->error = -ENOMEM;
	return writer->error;
}

void segment_writer_deinit(struct segment_writer *writer)
{
	ZSTD_freeCCtx(writer->zstd);
	vec_deinit(&writer->packed);
}

/* Append compressed bytes to writer->packed. */
static int pack_bytes(struct segment_writer *writer, const void *bytes, size_t size_bytes,
		      ZSTD_EndDirective directive)
{
	ZSTD_inBuffer in = {.src = bytes, .size = size_bytes};
	size_t left;

	do {
		ZSTD_outBuffer out;

		if (vec_reserve(&writer->packed, writer->packed.size + STEP_BYTES))
			return -ENOMEM;
		out = (ZSTD_outBuffer){
			.dst = writer->packed.data,
			.size = writer->packed.capacity,
			.pos = writer->packed.size,
		};
		left = ZSTD_compressStream2(writer->zstd, &out, &in, directive);
		if (ZSTD_isError(left))
			return -ENOMEM;
		writer->packed.size = out.pos;
	} while (directive == ZSTD_e_continue ? in.pos < in.size : left);
	return 0;
}

/* An empty raw block that is the last one of its frame (RFC 8878, 3.1.1.2). */
static const uint8_t last_block[] = {1, 0, 0};

static int begin_packed(struct segment_writer *writer)
{
	writer->packed.size = 0;
	if (!writer->ends_frame)
		return 0;
	if (vec_reserve(&writer->packed, sizeof(last_block)))
		return -ENOMEM;
	memcpy(writer->packed.data, last_block, sizeof(last_block));
	writer->packed.size = sizeof(last_block);
	writer->ends_frame = false;
	return 0;
}

static int pack_lanes(struct segment_writer *writer, const struct lanes *lanes)
{
	uint8_t sizes[JITBPF_LANE_COUNT * LEB128_BYTES_MAX];
	size_t sizes_bytes = 0;
	int err;

	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++)
		sizes_bytes += leb128_write(lanes->lanes[i].bytes.size, sizes + sizes_bytes);
	err = begin_packed(writer);
	err = err ?: pack_bytes(writer, sizes, sizes_bytes, ZSTD_e_continue);
	for (size_t i = 0; i < JITBPF_LANE_COUNT && !err; i++)
		err = pack_bytes(writer, lanes->lanes[i].bytes.data, lanes->lanes[i].bytes.size,
				 ZSTD_e_continue);
	return err ?: pack_bytes(writer, NULL, 0, ZSTD_e_flush);
}

int segment_write(struct segment_writer *writer, struct lanes *lanes)
{
	struct jitbpf_segment_head head;

	if (!writer->error)
		writer->error = lanes->error;
	if (writer->error || !lanes_bytes(lanes))
		return writer->error;
	writer->error = pack_lanes(writer, lanes);
	lanes_clear(lanes);
	if (writer->error)
		return writer->error;
	head.bytes = (uint32_t)writer->packed.size;
	writer->crc = checksum(writer->crc, &head.bytes, sizeof(head.bytes));
	writer->crc = checksum(writer->crc, writer->packed.data, writer->packed.size);
	head.crc = writer->crc;
	put(writer, &head, sizeof(head));
	put(writer, writer->packed.data, writer->packed.size);
	errno = 0;
	if (!writer->error && fflush(writer->out))
		writer->error = errno ? -errno : -EIO;
	return writer->error;
}
