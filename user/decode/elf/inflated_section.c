/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/inflated_section.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#include "base/scope.h"
#include "base/search.h"
#include "decode/elf/deflate_stream.h"
#include "decode/elf/zstd_inflate.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define BLOCK_BYTES   (64u << 10)
#define BLOCKS_KEPT   32
#define SPAN_BYTES    (256u << 10) /* minimum distance of restart points */
#define POINTS_MAX    256
#define DEFLATE_RATIO 1032 /* highest possible compression ratio */
#define ZLIB_HEADER   2
#define ZLIB_DEFLATE  8 /* the method, in the header */

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
	uint64_t begin, end;	       /* file range of the compressed bytes */
	uint8_t *whole;		       /* the contents, for zstd only */
	struct deflate_stream *stream; /* for zlib only */
	bool broken;		       /* the stream must be reset to a restart point before use */
	/* Stream position. out: in the contents; in: file offset after its input. */
	uint64_t out, in;
	VEC(struct point) points;
	struct block blocks[BLOCKS_KEPT];
	uint64_t uses;
};

DEFINE_CLEANUP(struct inflated_section *, inflated_section_destroy);

struct packing {
	bool zstd;
	uint64_t header_bytes, size_bytes;
};

static int packing_read(const struct blob *blob, const struct elf_section *section, bool legacy,
			struct packing *ret)
{
	struct {
		char magic[4];
		uint8_t size_bytes[8];
	} old;
	Elf64_Chdr header;
	uint64_t size_bytes;
	int err;

	if (legacy) {
		err = section->size_bytes < sizeof(old) ? -EBADMSG : 0;
		err = err ?: blob_read(blob, section->file_offset, &old, sizeof(old));
		if (err)
			return err;
		memcpy(&size_bytes, old.size_bytes, sizeof(size_bytes));
		*ret = (struct packing){false, sizeof(old), be64toh(size_bytes)};
		return memcmp(old.magic, "ZLIB", 4) ? -EBADMSG : 0;
	}
	err = section->size_bytes < sizeof(header) ? -EBADMSG : 0;
	err = err ?: blob_read(blob, section->file_offset, &header, sizeof(header));
	if (err)
		return err;
	if (header.ch_type != ELFCOMPRESS_ZLIB && header.ch_type != ELFCOMPRESS_ZSTD)
		return -ENOTSUP;
	*ret = (struct packing){header.ch_type == ELFCOMPRESS_ZSTD, sizeof(header), header.ch_size};
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
	if ((header[0] & 15) != ZLIB_DEFLATE || header[1] & 0x20 ||
	    (header[0] << 8 | header[1]) % 31)
		return -EBADMSG;
	inflated->stream = malloc(sizeof(*inflated->stream));
	if (!inflated->stream)
		return -ENOMEM;
	inflated->broken = true;
	return vec_push(&inflated->points, start);
}

int inflated_section_create(const struct blob *blob, const struct elf_section *section, bool legacy,
			    uint64_t *whole_bytes, struct inflated_section **ret)
{
	CLEANUP(inflated_section_destroyp)
	struct inflated_section *inflated = calloc(1, sizeof(*inflated));
	struct packing packing;
	int err;

	if (!inflated)
		return -ENOMEM;
	err = packing_read(blob, section, legacy, &packing);
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
	free(inflated->stream);
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
	size_t size_bytes = sizeof(*inflated);

	size_bytes += inflated->whole ? inflated->size_bytes : sizeof(*inflated->stream);
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
	struct point added = {.out = inflated->out + deflate_stream_ahead(inflated->stream)};
	const uint8_t *history;
	size_t history_bytes;

	if (span < SPAN_BYTES)
		span = SPAN_BYTES;
	if (added.out < last->out + span)
		return 0;
	added.in = inflated->in - deflate_stream_unread(inflated->stream, &added.bits);
	history = deflate_stream_history(inflated->stream, &history_bytes);
	added.dictionary = malloc(history_bytes ?: 1);
	if (!added.dictionary)
		return -ENOMEM;
	memcpy(added.dictionary, history, history_bytes);
	added.dictionary_bytes = (uint32_t)history_bytes;
	if (vec_push(&inflated->points, added)) {
		free(added.dictionary);
		return -ENOMEM;
	}
	return 0;
}

/* Input is charged as work too: deflate blocks may be empty. */
static int stream_feed(struct inflated_section *inflated, uint64_t *work_bytes)
{
	uint64_t left = inflated->end - inflated->in;
	size_t room_bytes, size_bytes;
	uint8_t *room = deflate_stream_room(inflated->stream, &room_bytes);
	int err;

	size_bytes = left < room_bytes ? left : room_bytes;
	if (size_bytes > *work_bytes)
		return -E2BIG;
	*work_bytes -= size_bytes;
	err = blob_read(inflated->blob, inflated->in, room, size_bytes);
	if (err)
		return err;
	inflated->in += size_bytes;
	deflate_stream_feed(inflated->stream, size_bytes, inflated->in == inflated->end);
	return 0;
}

/* Reads the next bytes of the contents; to NULL: skips them. */
static int stream_read(struct inflated_section *inflated, uint8_t *to, uint64_t size_bytes,
		       uint64_t *work_bytes)
{
	if (size_bytes > *work_bytes)
		return -E2BIG;
	*work_bytes -= size_bytes;
	while (size_bytes) {
		size_t piece = size_bytes < BLOCK_BYTES ? size_bytes : BLOCK_BYTES, taken;
		int err = 0, event;

		taken = deflate_stream_take(inflated->stream, to, piece);
		inflated->out += taken;
		size_bytes -= taken;
		to = to ? to + taken : NULL;
		if (taken)
			continue;
		event = deflate_stream_run(inflated->stream);
		if (event == DEFLATE_HUNGRY)
			err = stream_feed(inflated, work_bytes);
		else if (event == DEFLATE_BOUNDARY)
			err = point_add(inflated);
		else if (event == DEFLATE_END && !deflate_stream_ahead(inflated->stream))
			err = -EBADMSG;
		if (err || event < 0)
			return err ?: event;
	}
	return 0;
}

static int stream_go_to(struct inflated_section *inflated, const struct point *point)
{
	uint8_t byte = 0;
	int err = point->bits ? blob_read(inflated->blob, point->in - 1, &byte, 1) : 0;

	if (err)
		return err;
	deflate_stream_resume(inflated->stream, byte, point->bits, point->dictionary,
			      point->dictionary_bytes);
	inflated->in = point->in;
	inflated->out = point->out;
	inflated->broken = false;
	return 0;
}

/* Move the stream to an offset, from the nearest restart point. */
static int stream_seek(struct inflated_section *inflated, uint64_t offset, uint64_t *work_bytes)
{
	const struct point *points = inflated->points.data;
	size_t after = partition_point(1, inflated->points.size, i, points[i].out <= offset);
	const struct point *point = &points[after - 1];
	int err = 0;

	if (inflated->broken || inflated->out > offset || inflated->out < point->out)
		err = stream_go_to(inflated, point);
	return err ?: stream_read(inflated, NULL, offset - inflated->out, work_bytes);
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
	err = stream_seek(inflated, offset, work_bytes);
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
