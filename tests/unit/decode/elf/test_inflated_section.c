/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Random reads of compressed sections return the original bytes or an error. */
#include <stdint.h>
#include <elf.h>
#include <endian.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "base/scope.h"
#include "decode/elf/inflated_section.h"
#include "tests/unit/cases.h"

#define CONTENT_BYTES (24u << 20) /* three times the size of the cache */
#define ZSTD	      2		  /* ELFCOMPRESS_ZSTD */

struct packed {
	uint8_t *content;
	uint8_t *file; /* a section and nothing else */
	size_t file_bytes;
	struct blob blob;
	struct elf_section section;
	struct inflated_section *inflated;
};

static uint64_t random_next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	return *state ^= *state << 17;
}

/* Like debug info: compressible to about a third, with distant references. */
static void fill(uint8_t *content, size_t size_bytes)
{
	uint64_t random = 88172645463325252;

	for (size_t i = 0; i < size_bytes; i++) {
		uint64_t r = random_next(&random);

		content[i] = i > 40000 && r % 16 < 12 ? content[i - 30000 + r % 2] : r >> 8;
	}
}

static int setup(void **state)
{
	struct packed *packed = calloc(1, sizeof(*packed));

	packed->content = malloc(CONTENT_BYTES);
	packed->file = malloc(CONTENT_BYTES + 4096);
	fill(packed->content, CONTENT_BYTES);
	*state = packed;
	return 0;
}

static int teardown(void **state)
{
	struct packed *packed = *state;

	inflated_section_destroy(packed->inflated);
	free(packed->content);
	free(packed->file);
	free(packed);
	return 0;
}

static void pack_deflate(struct packed *packed, const void *header, size_t header_bytes, int level)
{
	uLongf size_bytes = CONTENT_BYTES + 4000;

	memcpy(packed->file, header, header_bytes);
	assert_int_equal(compress2(packed->file + header_bytes, &size_bytes, packed->content,
				   CONTENT_BYTES, level),
			 Z_OK);
	packed->file_bytes = header_bytes + size_bytes;
}

static void pack(struct packed *packed, uint32_t type, int level)
{
	Elf64_Chdr header = {.ch_type = type, .ch_size = CONTENT_BYTES, .ch_addralign = 1};

	if (type == ELFCOMPRESS_ZLIB) {
		pack_deflate(packed, &header, sizeof(header), level);
		return;
	}
	memcpy(packed->file, &header, sizeof(header));
	packed->file_bytes =
		sizeof(header) + ZSTD_compress(packed->file + sizeof(header), CONTENT_BYTES + 4000,
					       packed->content, CONTENT_BYTES, level);
}

static int open_packed(struct packed *packed, bool legacy, uint64_t whole_bytes)
{
	packed->blob = blob_of_memory(packed->file, packed->file_bytes);
	packed->section = (struct elf_section){.size_bytes = packed->file_bytes};
	return inflated_section_create(&packed->blob, &packed->section, legacy, &whole_bytes,
				       &packed->inflated);
}

static void assert_reads(struct packed *packed, uint64_t offset, size_t size_bytes)
{
	static uint8_t buf[1 << 20];
	uint64_t work_bytes = UINT64_MAX;

	assert_int_equal(
		inflated_section_read(packed->inflated, offset, buf, size_bytes, &work_bytes), 0);
	assert_memory_equal(buf, packed->content + offset, size_bytes);
}

static void assert_reads_anywhere(struct packed *packed)
{
	uint64_t random = 2463534242, work_bytes = UINT64_MAX;
	uint8_t byte;

	assert_int_equal(inflated_section_size(packed->inflated), CONTENT_BYTES);
	assert_reads(packed, CONTENT_BYTES - 1, 1);
	assert_reads(packed, 0, 1);
	for (unsigned i = 0; i < 120; i++) {
		uint64_t offset = random_next(&random) % CONTENT_BYTES;
		size_t size_bytes = random_next(&random) % (i % 16 ? 4000 : 1 << 20);

		if (size_bytes > CONTENT_BYTES - offset)
			size_bytes = CONTENT_BYTES - offset;
		assert_reads(packed, offset, size_bytes);
	}
	assert_int_equal(
		inflated_section_read(packed->inflated, CONTENT_BYTES, &byte, 1, &work_bytes),
		-EBADMSG);
	assert_int_equal(inflated_section_read(packed->inflated, UINT64_MAX, &byte, 1, &work_bytes),
			 -EBADMSG);
}

CASE_WITH(deflate_is_read_anywhere_in_little_memory, setup, teardown)
{
	struct packed *packed = *state;

	for (int level = 0; level <= 6; level += 6) {
		inflated_section_destroy(packed->inflated);
		pack(packed, ELFCOMPRESS_ZLIB, level);
		assert_int_equal(open_packed(packed, false, 0), 0);
		assert_reads_anywhere(packed);
		assert_true(inflated_section_bytes(packed->inflated) < CONTENT_BYTES / 2);
	}
}

/* The cost of a distant read depends on the span of restart points, not on the distance. */
CASE_WITH(far_reads_are_near_a_point, setup, teardown)
{
	struct packed *packed = *state;
	uint64_t work_bytes = UINT64_MAX, before;
	uint8_t byte;

	pack(packed, ELFCOMPRESS_ZLIB, 6);
	assert_int_equal(open_packed(packed, false, 0), 0);
	assert_reads(packed, CONTENT_BYTES - 1, 1);
	for (unsigned i = 1; i < 64; i++) {
		before = work_bytes;
		assert_int_equal(inflated_section_read(packed->inflated,
						       CONTENT_BYTES / 64 * (i * 29 % 64), &byte, 1,
						       &work_bytes),
				 0);
		assert_true(before - work_bytes < 1 << 20);
	}
}

CASE_WITH(zstd_is_read_anywhere_within_its_limit, setup, teardown)
{
	struct packed *packed = *state;

	pack(packed, ZSTD, 3);
	assert_int_equal(open_packed(packed, false, CONTENT_BYTES - 1), -E2BIG);
	assert_int_equal(open_packed(packed, false, CONTENT_BYTES), 0);
	assert_reads_anywhere(packed);
}

static int read_header_alone(void *file, uint64_t offset, void *buf, size_t size_bytes)
{
	assert_true(offset + size_bytes <= sizeof(Elf64_Chdr));
	memcpy(buf, (uint8_t *)file + offset, size_bytes);
	return 0;
}

CASE_WITH(zstd_that_is_mostly_to_be_skipped_is_refused, setup, teardown)
{
	struct packed *packed = *state;
	uint64_t whole_bytes = CONTENT_BYTES;

	pack(packed, ZSTD, 3);
	packed->section = (struct elf_section){.size_bytes = 1ull << 40};
	packed->blob = (struct blob){
		.size_bytes = packed->section.size_bytes,
		.read = read_header_alone,
		.context = packed->file,
	};
	assert_int_equal(inflated_section_create(&packed->blob, &packed->section, false,
						 &whole_bytes, &packed->inflated),
			 -EBADMSG);
	assert_int_equal(whole_bytes, CONTENT_BYTES);
}

CASE_WITH(the_old_header_is_read, setup, teardown)
{
	struct packed *packed = *state;
	uint64_t size_bytes = htobe64(CONTENT_BYTES);
	uint8_t header[12] = "ZLIB";

	memcpy(header + 4, &size_bytes, 8);
	pack_deflate(packed, header, sizeof(header), 6);
	assert_int_equal(open_packed(packed, true, 0), 0);
	assert_reads_anywhere(packed);
	inflated_section_destroy(TAKE_PTR(packed->inflated));
	packed->file[0] = 'z';
	assert_int_equal(open_packed(packed, true, 0), -EBADMSG);
}

CASE_WITH(work_has_an_end, setup, teardown)
{
	struct packed *packed = *state;
	uint64_t work_bytes = 1 << 20;
	uint8_t byte;

	/* A single deflate block: there is no restart point. */
	memset(packed->content, 0, CONTENT_BYTES);
	pack(packed, ELFCOMPRESS_ZLIB, 9);
	assert_true(packed->file_bytes < CONTENT_BYTES / 1000);
	assert_int_equal(open_packed(packed, false, 0), 0);
	assert_int_equal(
		inflated_section_read(packed->inflated, CONTENT_BYTES - 1, &byte, 1, &work_bytes),
		-E2BIG);
	assert_reads(packed, 1000, 1000);
	/* Empty blocks. */
	for (size_t i = sizeof(Elf64_Chdr) + 2; i + 5 < CONTENT_BYTES; i += 5)
		memcpy(packed->file + i, "\0\0\0\xff\xff", 5);
	packed->file_bytes = CONTENT_BYTES;
	inflated_section_destroy(TAKE_PTR(packed->inflated));
	assert_int_equal(open_packed(packed, false, 0), 0);
	work_bytes = 1 << 20;
	assert_int_equal(inflated_section_read(packed->inflated, 0, &byte, 1, &work_bytes), -E2BIG);
}

CASE_WITH(sizes_that_lie_are_refused, setup, teardown)
{
	static const uint32_t types[] = {ELFCOMPRESS_ZLIB, ZSTD};
	struct packed *packed = *state;
	Elf64_Chdr *header = (Elf64_Chdr *)packed->file;
	uint64_t work_bytes = UINT64_MAX;
	uint8_t byte;

	pack(packed, ELFCOMPRESS_ZLIB, 6);
	header->ch_size = 1ull << 40;
	assert_int_equal(open_packed(packed, false, UINT64_MAX), -EBADMSG);
	header->ch_size = CONTENT_BYTES + 1;
	assert_int_equal(open_packed(packed, false, 0), 0);
	assert_int_equal(
		inflated_section_read(packed->inflated, CONTENT_BYTES, &byte, 1, &work_bytes),
		-EBADMSG);
	assert_reads(packed, 70000, 1000);
	inflated_section_destroy(TAKE_PTR(packed->inflated));
	pack(packed, ZSTD, 3);
	header->ch_size = CONTENT_BYTES + 1;
	assert_int_equal(open_packed(packed, false, CONTENT_BYTES + 1), -EBADMSG);
	header->ch_type = 3;
	assert_int_equal(open_packed(packed, false, UINT64_MAX), -ENOTSUP);
	for (unsigned i = 0; i < 2; i++) {
		pack(packed, types[i], 3);
		packed->file_bytes = sizeof(*header);
		assert_int_equal(open_packed(packed, false, UINT64_MAX), -EBADMSG);
		packed->file_bytes--;
		assert_int_equal(open_packed(packed, false, UINT64_MAX), -EBADMSG);
	}
}

CASE_WITH(damage_costs_what_it_hits, setup, teardown)
{
	struct packed *packed = *state;
	uint64_t random = 521288629;
	unsigned failed = 0;

	pack(packed, ELFCOMPRESS_ZLIB, 6);
	for (unsigned i = 0; i < 24; i++) {
		size_t at = sizeof(Elf64_Chdr) + 2 +
			    random_next(&random) % (packed->file_bytes - sizeof(Elf64_Chdr) - 2);
		uint64_t work_bytes = UINT64_MAX;
		static uint8_t buf[4096];

		packed->file[at] ^= 0x55;
		assert_int_equal(open_packed(packed, false, 0), 0);
		failed += inflated_section_read(packed->inflated, CONTENT_BYTES - sizeof(buf), buf,
						sizeof(buf), &work_bytes) ||
			  memcmp(buf, packed->content + CONTENT_BYTES - sizeof(buf), sizeof(buf));
		/* Data before the damage are readable after the failure. */
		packed->file[at] ^= 0x55;
		assert_reads(packed, 0, 4096);
		inflated_section_destroy(TAKE_PTR(packed->inflated));
	}
	assert_int_not_equal(failed, 0);
}
