/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/segment_reader.h"

#include <zlib.h>
#include <zstd.h>

#include "base/leb128.h"

/* More than the segment of the largest content takes: zstd expands by 3 bytes in 128 KB. */
#define PACKED_MAX (JITBPF_SEGMENT_MAX + (JITBPF_SEGMENT_MAX >> 8))
#define STEP_BYTES (64u << 10)

static int bad(const char **what, const char *why)
{
	*what = why;
	return -EBADMSG;
}

/* Extend the checksum over bytes of the file, through a buffer. */
static int read_checked(struct segment_reader *reader, uint64_t offset, void *buffer, size_t size,
			uint32_t *crc)
{
	int err = blob_read(reader->blob, offset, buffer, size);

	if (!err)
		*crc = (uint32_t)crc32_z(*crc, buffer, size);
	return err;
}

int segment_reader_init(struct segment_reader *reader, const struct blob *blob,
			uint32_t header_bytes)
{
	*reader = (struct segment_reader){.blob = blob};
	reader->zstd = ZSTD_createDCtx();
	if (!reader->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(reader->zstd, ZSTD_d_windowLogMax,
								 JITBPF_SEGMENT_WINDOW_LOG)))
		return -ENOMEM;
	if (vec_reserve(&reader->packed, STEP_BYTES))
		return -ENOMEM;
	while (reader->end < header_bytes) {
		uint64_t left = header_bytes - reader->end;
		size_t piece = left < STEP_BYTES ? left : STEP_BYTES;
		int err =
			read_checked(reader, reader->end, reader->packed.data, piece, &reader->crc);

		if (err)
			return err;
		reader->end += piece;
	}
	return 0;
}

void segment_reader_deinit(struct segment_reader *reader)
{
	ZSTD_freeDCtx(reader->zstd);
	vec_deinit(&reader->packed);
	vec_deinit(&reader->content);
}

static int read_packed(struct segment_reader *reader, const char **what)
{
	uint64_t left = reader->blob->size_bytes - reader->end;
	struct jitbpf_segment_head head;
	uint32_t crc = reader->crc;
	int err;

	reader->begin = reader->end;
	if (left < sizeof(head))
		return bad(what, "the recording was cut");
	err = blob_read(reader->blob, reader->begin, &head, sizeof(head));
	if (err)
		return err;
	if (!head.bytes || head.bytes > PACKED_MAX)
		return bad(what, "a segment of impossible size");
	if (head.bytes > left - sizeof(head))
		return bad(what, "the recording was cut");
	if (vec_reserve(&reader->packed, head.bytes))
		return -ENOMEM;
	crc = (uint32_t)crc32_z(crc, (const void *)&head.bytes, sizeof(head.bytes));
	err = read_checked(reader, reader->begin + sizeof(head), reader->packed.data, head.bytes,
			   &crc);
	if (err)
		return err;
	if (head.crc != crc)
		return bad(what, "checksum of the segment does not match");
	reader->packed.size = head.bytes;
	reader->end = reader->begin + sizeof(head) + head.bytes;
	reader->crc = crc;
	return 0;
}

/* The decoder has no more output when it leaves room in the output buffer. */
static int decompress(struct segment_reader *reader, const char **what)
{
	ZSTD_inBuffer in = {.src = reader->packed.data, .size = reader->packed.size};
	ZSTD_outBuffer out = {0};

	for (;;) {
		size_t wanted = out.pos + STEP_BYTES;

		if (vec_reserve(&reader->content,
				wanted < JITBPF_SEGMENT_MAX ? wanted : JITBPF_SEGMENT_MAX))
			return -ENOMEM;
		out.dst = reader->content.data;
		out.size = reader->content.capacity;
		if (out.size > JITBPF_SEGMENT_MAX)
			out.size = JITBPF_SEGMENT_MAX;
		if (ZSTD_isError(ZSTD_decompressStream(reader->zstd, &out, &in)))
			return bad(what, "a segment that cannot be decompressed");
		if (out.pos == JITBPF_SEGMENT_MAX)
			return bad(what, "a segment with too much content");
		if (in.pos == in.size && out.pos < out.size)
			break;
	}
	reader->content.size = out.pos;
	return 0;
}

static int find_lanes(const struct segment_reader *reader, struct cursor lanes[JITBPF_LANE_COUNT])
{
	struct cursor c = cursor_of(reader->content.data, reader->content.size);
	uint64_t sizes[JITBPF_LANE_COUNT];
	const void *bytes;

	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
		if (leb128_read(&c, &sizes[i]))
			return -EBADMSG;
	}
	for (size_t i = 0; i < JITBPF_LANE_COUNT; i++) {
		if (cursor_take(&c, sizes[i], &bytes))
			return -EBADMSG;
		lanes[i] = cursor_of(bytes, sizes[i]);
	}
	return cursor_left(&c) ? -EBADMSG : 0;
}

int segment_next(struct segment_reader *reader, struct cursor lanes[JITBPF_LANE_COUNT],
		 const char **what)
{
	int err = read_packed(reader, what);

	err = err ?: decompress(reader, what);
	if (err)
		return err;
	return find_lanes(reader, lanes) ? bad(what, "a malformed segment") : 0;
}
