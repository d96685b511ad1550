/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/inflated_section.h"

#include <elf.h>
#include <endian.h>
#include <string.h>

#include "base/scope.h"
#include "decode/elf/zlib_inflate.h"
#include "decode/elf/zstd_inflate.h"

#ifndef ELFCOMPRESS_ZSTD
#define ELFCOMPRESS_ZSTD 2
#endif

#define BLOCK_BYTES ZLIB_INFLATE_BYTES
#define BLOCKS_KEPT 128 /* .debug_info of a C library has 90 */

struct block {
	uint64_t number; /* block number + 1; 0 if the slot is empty */
	uint64_t used;
	uint8_t *bytes;
};

struct inflated_section {
	uint64_t size_bytes;
	uint8_t *whole;		   /* the contents, for zstd only */
	struct zlib_inflate *zlib; /* for zlib only */
	struct block blocks[BLOCKS_KEPT];
	uint64_t uses;
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

static int zstd_init(struct inflated_section *inflated, const struct blob *blob, uint64_t begin,
		     uint64_t end, uint64_t *whole_bytes)
{
	int err;

	if (inflated->size_bytes > *whole_bytes)
		return -E2BIG;
	/* malloc() does not touch pages, so a false size fails before it costs memory. */
	inflated->whole = malloc(inflated->size_bytes ? inflated->size_bytes : 1);
	if (!inflated->whole)
		return -ENOMEM;
	err = zstd_inflate(blob, begin, end, inflated->whole, inflated->size_bytes);
	if (!err)
		*whole_bytes -= inflated->size_bytes;
	return err;
}

int inflated_section_create(const struct blob *blob, const struct elf_section *section,
			    enum inflated_header kind, uint64_t *whole_bytes,
			    struct inflated_section **ret)
{
	CLEANUP(inflated_section_destroyp)
	struct inflated_section *inflated = calloc(1, sizeof(*inflated));
	uint64_t begin, end = section->file_offset + section->size_bytes;
	struct packing packing;
	int err;

	if (!inflated)
		return -ENOMEM;
	err = packing_read(blob, section, kind, &packing);
	if (err)
		return err;
	inflated->size_bytes = packing.size_bytes;
	begin = section->file_offset + packing.header_bytes;
	err = packing.zstd
		      ? zstd_init(inflated, blob, begin, end, whole_bytes)
		      : zlib_inflate_create(blob, begin, end, packing.size_bytes, &inflated->zlib);
	if (err)
		return err;
	*ret = TAKE_PTR(inflated);
	return 0;
}

void inflated_section_destroy(struct inflated_section *inflated)
{
	if (!inflated)
		return;
	for (unsigned i = 0; i < BLOCKS_KEPT; i++)
		free(inflated->blocks[i].bytes);
	zlib_inflate_destroy(inflated->zlib);
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

	if (inflated->whole)
		size_bytes += inflated->size_bytes;
	if (inflated->zlib)
		size_bytes += zlib_inflate_bytes(inflated->zlib);
	for (unsigned i = 0; i < BLOCKS_KEPT; i++)
		size_bytes += inflated->blocks[i].bytes ? BLOCK_BYTES : 0;
	return size_bytes;
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
	err = zlib_inflate_read(inflated->zlib, offset, block->bytes,
				left < BLOCK_BYTES ? left : BLOCK_BYTES, work_bytes);
	if (err)
		return err;
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
