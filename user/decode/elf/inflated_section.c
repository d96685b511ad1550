/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/inflated_section.h"

#include <elf.h>
#include <endian.h>
#include <string.h>
#include <zlib.h>

#include "base/scope.h"
#include "base/search.h"
#include "decode/elf/zstd_inflate.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define INPUT_BYTES	 (16u << 10)
#define DICTIONARY_BYTES (32u << 10) /* window size of deflate */
#define BLOCK_BYTES	 (64u << 10)
#define BLOCKS_KEPT	 32
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

struct block {
	uint64_t number; /* block number + 1; 0 if the slot is empty */
	uint64_t used;
	uint8_t *bytes;
};

struct inflated_section {
	const struct blob *blob;
	uint64_t size_bytes;
	uint64_t begin, end; /* file range of the compressed bytes */
	uint8_t *whole;	     /* the contents, for zstd only */
	z_stream stream;
	bool inflating; /* the stream needs inflateEnd() */
	bool broken;	/* the stream must be reset to a restart point before use */
	/* Stream position. out: in the contents; in: file offset after the input buffer. */
	uint64_t out, in;
	VEC(struct point) points;
	struct block blocks[BLOCKS_KEPT];
	uint64_t uses;
	uint8_t input[INPUT_BYTES];
};

DEFINE_CLEANUP(struct inflated_section *, inflated_section_destroy);

struct packing {
	bool zstd;
	uint64_t header_bytes, size_bytes;
};

static int packing_read(const struct blob *blob, const struct elf_section *section,
			enum inflated_header kind, struct packing *ret)
{
	struct {
		char magic[4];
		uint8_t size_bytes[8];
	} old;
	Elf64_Chdr header = {0};
	Elf32_Chdr narrow = {0};
	uint64_t size_bytes;
	int err;

	if (kind == INFLATED_HEADER_LEGACY) {
		err = section->size_bytes < sizeof(old) ? -EBADMSG : 0;
		err = err ?: blob_read(blob, section->file_offset, &old, sizeof(old));
		if (err)
			return err;
		memcpy(&size_bytes, old.size_bytes, sizeof(size_bytes));
		*ret = (struct packing){false, sizeof(old), be64toh(size_bytes)};
		return memcmp(old.magic, "ZLIB", 4) ? -EBADMSG : 0;
	}
	if (kind == INFLATED_HEADER_32) {
		err = section->size_bytes < sizeof(narrow) ? -EBADMSG : 0;
		err = err ?: blob_read(blob, section->file_offset, &narrow, sizeof(narrow));
		header.ch_type = narrow.ch_type;
		header.ch_size = narrow.ch_size;
	} else {
		err = section->size_bytes < sizeof(header) ? -EBADMSG : 0;
		err = err ?: blob_read(blob, section->file_offset, &header, sizeof(header));
	}
	if (err)
		return err;
	if (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != ELFCOMPRESS_ZSTD)
		return -ENOTSUP;
	*ret = (struct packing){
		.zstd = header.ch_type == ELFCOMPRESS_ZSTD,
		.header_bytes = kind == INFLATED_HEADER_32 ? sizeof(narrow) : sizeof(header),
		.size_bytes = header.ch_size,
	};
	return 0;
}

static int zstd_init(struct inflated_section *inflated, uint64_t *whole_bytes)
{
	int err;

	if (inflated->size_bytes > *whole_bytes)
		return -E2BIG;
	/* malloc() does not touch pages, so a false size fails before it costs memory. */
	inflated->whole = malloc(inflated->size_bytes ? inflated->size_bytes : 1);
	if (!inflated->whole)
		return -ENOMEM;
	err = zstd_inflate(inflated->blob, inflated->begin, inflated->end, inflated->whole,
			   inflated->size_bytes);
	if (!err)
		*whole_bytes -= inflated->size_bytes;
	return err;
}

static int zlib_init(struct inflated_section *inflated)
{
	struct point start = {.in = inflated->begin + ZLIB_HEADER};
	uint8_t header[ZLIB_HEADER];
	int err;

	if (inflated->end - inflated->begin < ZLIB_HEADER ||
	    inflated->size_bytes / DEFLATE_RATIO > inflated->end - inflated->begin)
		return -EBADMSG;
	err = blob_read(inflated->blob, inflated->begin, header, sizeof(header));
	if (err)
		return err;
	/* The header must specify deflate without a preset dictionary. */
	if ((header[0] & 15) != Z_DEFLATED || header[1] & 0x20 || (header[0] << 8 | header[1]) % 31)
		return -EBADMSG;
	if (inflateInit2(&inflated->stream, RAW_DEFLATE) != Z_OK)
		return -ENOMEM;
	inflated->inflating = true;
	inflated->in = start.in;
	return vec_push(&inflated->points, start);
}

int inflated_section_create(const struct blob *blob, const struct elf_section *section,
			    enum inflated_header kind, uint64_t *whole_bytes,
			    struct inflated_section **ret)
{
	CLEANUP(inflated_section_destroyp)
	struct inflated_section *inflated = calloc(1, sizeof(*inflated));
	struct packing packing;
	int err;

	if (!inflated)
		return -ENOMEM;
	err = packing_read(blob, section, kind, &packing);
	if (err)
		return err;
	inflated->blob = blob;
	inflated->size_bytes = packing.size_bytes;
	inflated->begin = section->file_offset + packing.header_bytes;
	inflated->end = section->file_offset + section->size_bytes;
	err = packing.zstd ? zstd_init(inflated, whole_bytes) : zlib_init(inflated);
	if (err)
		return err;
	*ret = TAKE_PTR(inflated);
	return 0;
}

void inflated_section_destroy(struct inflated_section *inflated)
{
	if (!inflated)
		return;
	vec_for_each (point, &inflated->points)
		free(point->dictionary);
	vec_deinit(&inflated->points);
	for (unsigned i = 0; i < BLOCKS_KEPT; i++)
		free(inflated->blocks[i].bytes);
	if (inflated->inflating)
		inflateEnd(&inflated->stream);
	free(inflated->whole);
	free(inflated);
}

void inflated_section_drop_cache(struct inflated_section *inflated)
{
	for (unsigned i = 0; i < BLOCKS_KEPT; i++) {
		free(inflated->blocks[i].bytes);
		inflated->blocks[i] = (struct block){0};
	}
}

uint64_t inflated_section_size(const struct inflated_section *inflated)
{
	return inflated->size_bytes;
}

size_t inflated_section_bytes(const struct inflated_section *inflated)
{
	/* The internal state of the stream is about half the size of a dictionary. */
	size_t size_bytes = sizeof(*inflated) + DICTIONARY_BYTES * 3 / 2;

	if (inflated->whole)
		size_bytes += inflated->size_bytes;
	vec_for_each (point, &inflated->points)
		size_bytes += sizeof(*point) + point->dictionary_bytes;
	for (unsigned i = 0; i < BLOCKS_KEPT; i++)
		size_bytes += inflated->blocks[i].bytes ? BLOCK_BYTES : 0;
	return size_bytes;
}

/* Add a restart point at the current deflate block boundary, unless one is near. */
static int point_add(struct inflated_section *inflated)
{
	const struct point *last = &inflated->points.data[inflated->points.size - 1];
	uint64_t span = inflated->size_bytes / POINTS_MAX;
	uInt size_bytes = DICTIONARY_BYTES;
	AUTO_FREE uint8_t *dictionary = NULL;
	struct point added = {
		.out = inflated->out,
		.in = inflated->in - inflated->stream.avail_in,
		.bits = inflated->stream.data_type & 7,
	};

	if (span < SPAN_BYTES)
		span = SPAN_BYTES;
	if (added.out < last->out + span)
		return 0;
	dictionary = malloc(DICTIONARY_BYTES);
	if (!dictionary)
		return -ENOMEM;
	if (inflateGetDictionary(&inflated->stream, dictionary, &size_bytes) != Z_OK)
		return -EBADMSG;
	added.dictionary = dictionary;
	added.dictionary_bytes = size_bytes;
	if (vec_push(&inflated->points, added))
		return -ENOMEM;
	TAKE_PTR(dictionary);
	return 0;
}

/* Input is charged as work too: deflate blocks may be empty. */
static int stream_feed(struct inflated_section *inflated, uint64_t *work_bytes)
{
	uint64_t left = inflated->end - inflated->in;
	size_t size_bytes = left < INPUT_BYTES ? left : INPUT_BYTES;
	int err;

	if (inflated->stream.avail_in)
		return 0;
	if (!size_bytes)
		return -EBADMSG;
	if (size_bytes > *work_bytes)
		return -E2BIG;
	*work_bytes -= size_bytes;
	err = blob_read(inflated->blob, inflated->in, inflated->input, size_bytes);
	if (err)
		return err;
	inflated->in += size_bytes;
	inflated->stream.next_in = inflated->input;
	inflated->stream.avail_in = size_bytes;
	return 0;
}

static int stream_read(struct inflated_section *inflated, uint8_t *to, size_t size_bytes,
		       uint64_t *work_bytes)
{
	z_stream *stream = &inflated->stream;
	uint64_t until = inflated->out + size_bytes;
	int status, err;

	if (size_bytes > *work_bytes)
		return -E2BIG;
	*work_bytes -= size_bytes;
	stream->next_out = to;
	stream->avail_out = size_bytes;
	while (stream->avail_out) {
		err = stream_feed(inflated, work_bytes);
		if (err)
			return err;
		status = inflate(stream, Z_BLOCK);
		inflated->out = until - stream->avail_out;
		if (status == Z_STREAM_END && stream->avail_out)
			return -EBADMSG;
		if (status != Z_OK && status != Z_STREAM_END)
			return status == Z_MEM_ERROR ? -ENOMEM : -EBADMSG;
		/* End of a deflate block that is not the last. */
		err = (stream->data_type & 192) == 128 ? point_add(inflated) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int stream_go_to(struct inflated_section *inflated, const struct point *point)
{
	z_stream *stream = &inflated->stream;
	uint8_t byte;
	int err;

	inflated->broken = true;
	if (inflateReset2(stream, RAW_DEFLATE) != Z_OK)
		return -EBADMSG;
	if (point->bits) {
		err = blob_read(inflated->blob, point->in - 1, &byte, 1);
		if (err)
			return err;
		inflatePrime(stream, point->bits, byte >> (8 - point->bits));
	}
	if (point->dictionary_bytes &&
	    inflateSetDictionary(stream, point->dictionary, point->dictionary_bytes) != Z_OK)
		return -EBADMSG;
	stream->avail_in = 0;
	inflated->in = point->in;
	inflated->out = point->out;
	inflated->broken = false;
	return 0;
}

/* Move the stream to an offset, from the nearest restart point. scratch has BLOCK_BYTES. */
static int stream_seek(struct inflated_section *inflated, uint64_t offset, uint8_t *scratch,
		       uint64_t *work_bytes)
{
	const struct point *points = inflated->points.data;
	size_t after = partition_point(1, inflated->points.size, i, points[i].out <= offset);
	const struct point *point = &points[after - 1];
	int err = 0;

	if (inflated->broken || inflated->out > offset || inflated->out < point->out)
		err = stream_go_to(inflated, point);
	while (!err && inflated->out < offset) {
		uint64_t left = offset - inflated->out;

		err = stream_read(inflated, scratch, left < BLOCK_BYTES ? left : BLOCK_BYTES,
				  work_bytes);
	}
	return err;
}

static int block_fill(struct inflated_section *inflated, uint64_t number, struct block *block,
		      uint64_t *work_bytes)
{
	uint64_t offset = number * BLOCK_BYTES, left = inflated->size_bytes - offset;
	int err;

	block->number = 0;
	if (!block->bytes)
		block->bytes = malloc(BLOCK_BYTES);
	if (!block->bytes)
		return -ENOMEM;
	err = stream_seek(inflated, offset, block->bytes, work_bytes);
	err = err
		      ?: stream_read(inflated, block->bytes,
				     left < BLOCK_BYTES ? left : BLOCK_BYTES, work_bytes);
	if (err) {
		inflated->broken = true;
		return err;
	}
	block->number = number + 1;
	return 0;
}

static int block_get(struct inflated_section *inflated, uint64_t number, uint64_t *work_bytes,
		     const uint8_t **ret)
{
	struct block *oldest = &inflated->blocks[0];
	int err;

	for (unsigned i = 0; i < BLOCKS_KEPT; i++) {
		struct block *block = &inflated->blocks[i];

		if (block->number == number + 1) {
			block->used = ++inflated->uses;
			*ret = block->bytes;
			return 0;
		}
		if (block->used < oldest->used)
			oldest = block;
	}
	err = block_fill(inflated, number, oldest, work_bytes);
	if (err)
		return err;
	oldest->used = ++inflated->uses;
	*ret = oldest->bytes;
	return 0;
}

int inflated_section_read(struct inflated_section *inflated, uint64_t offset, void *buf,
			  size_t size_bytes, uint64_t *work_bytes)
{
	uint8_t *to = buf;

	if (offset > inflated->size_bytes || size_bytes > inflated->size_bytes - offset)
		return -EBADMSG;
	if (inflated->whole) {
		memcpy(to, inflated->whole + offset, size_bytes);
		return 0;
	}
	while (size_bytes) {
		size_t skipped = offset % BLOCK_BYTES, piece = BLOCK_BYTES - skipped;
		const uint8_t *block;
		int err = block_get(inflated, offset / BLOCK_BYTES, work_bytes, &block);

		if (err)
			return err;
		if (piece > size_bytes)
			piece = size_bytes;
		memcpy(to, block + skipped, piece);
		to += piece;
		offset += piece;
		size_bytes -= piece;
	}
	return 0;
}
