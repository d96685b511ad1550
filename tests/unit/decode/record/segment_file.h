/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes files of segments with any content, for tests of readers and for fuzz targets. Aborts if
 * memory is short.
 */
#ifndef JITBPF_TESTS_SEGMENT_FILE_H
#define JITBPF_TESTS_SEGMENT_FILE_H

#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/leb128.h"
#include "base/vec.h"
#include "uapi/packed_recording.h"
#include "uapi/recording.h"

struct segment_file {
	VEC(uint8_t) bytes;
	uint32_t crc;
	ZSTD_CCtx *zstd;
	int window_log;
};

static inline void segment_file_put(struct segment_file *file, const void *bytes, size_t size_bytes)
{
	if (vec_reserve(&file->bytes, file->bytes.size + size_bytes))
		abort();
	if (size_bytes)
		memcpy(file->bytes.data + file->bytes.size, bytes, size_bytes);
	file->bytes.size += size_bytes;
}

static inline void segment_file_begin(struct segment_file *file)
{
	struct jitbpf_recording_header header = {
		.version = JITBPF_RECORDING_VERSION,
		.header_bytes = sizeof(header),
	};

	*file = (struct segment_file){
		.zstd = ZSTD_createCCtx(),
		.window_log = JITBPF_SEGMENT_WINDOW_LOG,
	};
	memcpy(header.magic, JITBPF_RECORDING_MAGIC, sizeof(header.magic));
	segment_file_put(file, &header, sizeof(header));
	file->crc = (uint32_t)crc32_z(0, file->bytes.data, file->bytes.size);
}

/* Append a segment of these compressed bytes, with a valid checksum. Returns its offset. */
static inline size_t segment_file_put_packed(struct segment_file *file, const void *bytes,
					     size_t size_bytes)
{
	struct jitbpf_segment_head head = {.bytes = (uint32_t)size_bytes};
	size_t at = file->bytes.size;

	file->crc = (uint32_t)crc32_z(file->crc, (void *)&head.bytes, sizeof(head.bytes));
	file->crc = (uint32_t)crc32_z(file->crc, bytes, size_bytes);
	head.crc = file->crc;
	segment_file_put(file, &head, sizeof(head));
	segment_file_put(file, bytes, size_bytes);
	return at;
}

/* Append a segment with this content. Returns its offset. */
static inline size_t segment_file_put_content(struct segment_file *file, const void *bytes,
					      size_t size_bytes)
{
	size_t room = ZSTD_compressBound(size_bytes) + 64, at;
	ZSTD_inBuffer in = {.src = bytes, .size = size_bytes};
	ZSTD_outBuffer out = {.dst = malloc(room), .size = room};

	ZSTD_CCtx_setParameter(file->zstd, ZSTD_c_windowLog, file->window_log);
	if (!out.dst || ZSTD_compressStream2(file->zstd, &out, &in, ZSTD_e_flush))
		abort();
	at = segment_file_put_packed(file, out.dst, out.pos);
	free(out.dst);
	return at;
}

/* A lane of a content under construction. */
struct lane_bytes {
	const void *bytes;
	size_t size_bytes;
};

/* Append a segment with these lanes. Returns its offset. */
static inline size_t segment_file_put_lanes(struct segment_file *file,
					    const struct lane_bytes lanes[JITBPF_LANE_COUNT])
{
	uint8_t sizes[JITBPF_LANE_COUNT * LEB128_BYTES_MAX];
	size_t head_bytes = 0, size_bytes = 0, offset;
	uint8_t *content, *at;

	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
		head_bytes += leb128_write(lanes[i].size_bytes, sizes + head_bytes);
		size_bytes += lanes[i].size_bytes;
	}
	content = at = malloc(head_bytes + size_bytes);
	if (!content)
		abort();
	memcpy(at, sizes, head_bytes);
	at += head_bytes;
	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
		if (lanes[i].size_bytes)
			memcpy(at, lanes[i].bytes, lanes[i].size_bytes);
		at += lanes[i].size_bytes;
	}
	offset = segment_file_put_content(file, content, head_bytes + size_bytes);
	free(content);
	return offset;
}

static inline void segment_file_deinit(struct segment_file *file)
{
	vec_deinit(&file->bytes);
	ZSTD_freeCCtx(file->zstd);
}

#endif
