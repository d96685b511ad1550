/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/zlib_inflate.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/scope.h"
#include "base/search.h"
#include "base/vec.h"

#define INPUT_BYTES	 (16u << 10)
#define DICTIONARY_BYTES (32u << 10)  /* window size of deflate */
#define SPAN_BYTES	 (256u << 10) /* minimum distance of restart points */
#define POINTS_MAX	 256
#define DEFLATE_RATIO	 1032 /* highest possible compression ratio */
#define ZLIB_HEADER	 2
#define RAW_DEFLATE	 (-15)

/* A restart point: a boundary between deflate blocks, with the state to resume there. */
struct point {
	uint64_t out, in; /* out: offset in the contents; in: file offset of the next input byte */
	uint8_t bits;	  /* number of bits of the byte at in - 1 that are not consumed yet */
	uint8_t *dictionary;
	uint32_t dictionary_bytes;
};

struct zlib_inflate {
	const struct blob *blob;
	uint64_t size_bytes; /* of the contents */
	uint64_t end;	     /* of the compressed bytes, in the file */
	z_stream stream;
	bool inflating; /* the stream needs inflateEnd() */
	bool broken;	/* the stream must be reset to a restart point before use */
	/* Stream position. out: in the contents; in: file offset after the input buffer. */
	uint64_t out, in;
	VEC(struct point) points;
	uint8_t input[INPUT_BYTES];
};

DEFINE_CLEANUP(struct zlib_inflate *, zlib_inflate_destroy);

int zlib_inflate_create(const struct blob *blob, uint64_t begin, uint64_t end, uint64_t size_bytes,
			struct zlib_inflate **ret)
{
	CLEANUP(zlib_inflate_destroyp) struct zlib_inflate *zlib = NULL;
	struct point start = {.in = begin + ZLIB_HEADER};
	uint8_t header[ZLIB_HEADER];
	int err;

	if (end - begin < ZLIB_HEADER || size_bytes / DEFLATE_RATIO > end - begin)
		return -EBADMSG;
	err = blob_read(blob, begin, header, sizeof(header));
	if (err)
		return err;
	/* The header must specify deflate without a preset dictionary. */
	if ((header[0] & 15) != Z_DEFLATED || header[1] & 0x20 || (header[0] << 8 | header[1]) % 31)
		return -EBADMSG;
	zlib = calloc(1, sizeof(*zlib));
	if (!zlib || inflateInit2(&zlib->stream, RAW_DEFLATE) != Z_OK)
		return -ENOMEM;
	zlib->inflating = true;
	zlib->blob = blob;
	zlib->size_bytes = size_bytes;
	zlib->end = end;
	zlib->in = start.in;
	if (vec_push(&zlib->points, start))
		return -ENOMEM;
	*ret = TAKE_PTR(zlib);
	return 0;
}

void zlib_inflate_destroy(struct zlib_inflate *zlib)
{
	if (!zlib)
		return;
	vec_for_each (point, &zlib->points)
		free(point->dictionary);
	vec_deinit(&zlib->points);
	if (zlib->inflating)
		inflateEnd(&zlib->stream);
	free(zlib);
}

size_t zlib_inflate_bytes(const struct zlib_inflate *zlib)
{
	/* The internal state of the stream is about half the size of a dictionary. */
	size_t size_bytes = sizeof(*zlib) + DICTIONARY_BYTES * 3 / 2;

	vec_for_each (point, &zlib->points)
		size_bytes += sizeof(*point) + point->dictionary_bytes;
	return size_bytes;
}

/* Add a restart point at the current deflate block boundary, unless one is near. */
static int point_add(struct zlib_inflate *zlib)
{
	const struct point *last = &zlib->points.data[zlib->points.size - 1];
	uint64_t span = zlib->size_bytes / POINTS_MAX;
	uInt size_bytes = DICTIONARY_BYTES;
	AUTO_FREE uint8_t *dictionary = NULL;
	struct point added = {
		.out = zlib->out,
		.in = zlib->in - zlib->stream.avail_in,
		.bits = zlib->stream.data_type & 7,
	};

	if (span < SPAN_BYTES)
		span = SPAN_BYTES;
	if (added.out < last->out + span)
		return 0;
	dictionary = malloc(DICTIONARY_BYTES);
	if (!dictionary)
		return -ENOMEM;
	if (inflateGetDictionary(&zlib->stream, dictionary, &size_bytes) != Z_OK)
		return -EBADMSG;
	added.dictionary = dictionary;
	added.dictionary_bytes = size_bytes;
	if (vec_push(&zlib->points, added))
		return -ENOMEM;
	TAKE_PTR(dictionary);
	return 0;
}

/* Input is charged as work too: deflate blocks may be empty. */
static int stream_feed(struct zlib_inflate *zlib, uint64_t *work_bytes)
{
	uint64_t left = zlib->end - zlib->in;
	size_t size_bytes = left < INPUT_BYTES ? left : INPUT_BYTES;
	int err;

	if (zlib->stream.avail_in)
		return 0;
	if (!size_bytes)
		return -EBADMSG;
	if (size_bytes > *work_bytes)
		return -E2BIG;
	*work_bytes -= size_bytes;
	err = blob_read(zlib->blob, zlib->in, zlib->input, size_bytes);
	if (err)
		return err;
	zlib->in += size_bytes;
	zlib->stream.next_in = zlib->input;
	zlib->stream.avail_in = size_bytes;
	return 0;
}

static int stream_read(struct zlib_inflate *zlib, uint8_t *to, size_t size_bytes,
		       uint64_t *work_bytes)
{
	z_stream *stream = &zlib->stream;
	uint64_t until = zlib->out + size_bytes;
	int status, err;

	if (size_bytes > *work_bytes)
		return -E2BIG;
	*work_bytes -= size_bytes;
	stream->next_out = to;
	stream->avail_out = size_bytes;
	while (stream->avail_out) {
		err = stream_feed(zlib, work_bytes);
		if (err)
			return err;
		status = inflate(stream, Z_BLOCK);
		zlib->out = until - stream->avail_out;
		if (status == Z_STREAM_END && stream->avail_out)
			return -EBADMSG;
		if (status != Z_OK && status != Z_STREAM_END)
			return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
		/* End of a deflate block that is not the last. */
		err = (stream->data_type & 192) == 128 ? point_add(zlib) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int stream_go_to(struct zlib_inflate *zlib, const struct point *point)
{
	z_stream *stream = &zlib->stream;
	uint8_t byte;
	int err;

	zlib->broken = true;
	if (inflateReset2(stream, RAW_DEFLATE) != Z_OK)
		return -EBADMSG;
	if (point->bits) {
		err = blob_read(zlib->blob, point->in - 1, &byte, 1);
		if (err)
			return err;
		inflatePrime(stream, point->bits, byte >> (8 - point->bits));
	}
	if (point->dictionary_bytes &&
	    inflateSetDictionary(stream, point->dictionary, point->dictionary_bytes) != Z_OK)
		return -EBADMSG;
	stream->avail_in = 0;
	zlib->in = point->in;
	zlib->out = point->out;
	zlib->broken = false;
	return 0;
}

/*
 * Move the stream to an offset, from the nearest restart point. scratch has ZLIB_INFLATE_BYTES.
 */
static int stream_seek(struct zlib_inflate *zlib, uint64_t offset, uint8_t *scratch,
		       uint64_t *work_bytes)
{
	const struct point *points = zlib->points.data;
	size_t after = partition_point(1, zlib->points.size, i, points[i].out <= offset);
	const struct point *point = &points[after - 1];
	int err = 0;

	if (zlib->broken || zlib->out > offset || zlib->out < point->out)
		err = stream_go_to(zlib, point);
	while (!err && zlib->out < offset) {
		uint64_t left = offset - zlib->out;

		err = stream_read(zlib, scratch,
				  left < ZLIB_INFLATE_BYTES ? left : ZLIB_INFLATE_BYTES,
				  work_bytes);
	}
	return err;
}

int zlib_inflate_read(struct zlib_inflate *zlib, uint64_t offset, uint8_t *to, size_t size_bytes,
		      uint64_t *work_bytes)
{
	int err = stream_seek(zlib, offset, to, work_bytes);

	err = err ?: stream_read(zlib, to, size_bytes, work_bytes);
	if (err)
		zlib->broken = true;
	return err;
}
