/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/unit/sink/gunzip.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/gzip.h"
#include "tests/unit/cases.h"

/* Returns the compressed bytes. The caller frees them. */
static char *pack(const uint8_t *bytes, size_t size_bytes, size_t piece_bytes, size_t *ret_bytes)
{
	char *packed = NULL;
	FILE *out = open_memstream(&packed, ret_bytes);
	struct gzip *gzip;

	assert_non_null(out);
	assert_int_equal(gzip_open(out, &gzip), 0);
	for (size_t at = 0; at < size_bytes; at += piece_bytes) {
		size_t piece = size_bytes - at < piece_bytes ? size_bytes - at : piece_bytes;

		assert_int_equal(fwrite(bytes + at, 1, piece, gzip_stream(gzip)), piece);
	}
	assert_int_equal(gzip_close(gzip), 0);
	fclose(out);
	return packed;
}

/* Incompressible bytes, then compressible ones. */
static uint8_t *make_bytes(size_t size_bytes)
{
	uint8_t *bytes = malloc(size_bytes + 1);
	uint64_t x = 88172645463325252ull;

	assert_non_null(bytes);
	for (size_t i = 0; i < size_bytes; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		bytes[i] = i % 100000 < 50000 ? (uint8_t)x : 'a';
	}
	return bytes;
}

CASE(what_goes_in_comes_out)
{
	static const size_t sizes[] = {0, 1, 65535, 65536, 65537, 1000000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		AUTO_FREE uint8_t *bytes = make_bytes(sizes[i]);
		size_t packed_bytes, again_bytes;
		AUTO_FREE char *packed = pack(bytes, sizes[i], 1 << 20, &packed_bytes);
		AUTO_FREE uint8_t *again = gunzip(packed, packed_bytes, &again_bytes);

		assert_int_equal(again_bytes, sizes[i]);
		assert_memory_equal(again, bytes, sizes[i]);
	}
}

/* The output depends neither on the time nor on the sizes of the writes. */
CASE(the_same_bytes_are_packed_the_same)
{
	static const uint8_t header[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0};
	AUTO_FREE uint8_t *bytes = make_bytes(300000);
	size_t whole_bytes, pieces_bytes;
	AUTO_FREE char *whole = pack(bytes, 300000, 300000, &whole_bytes);
	AUTO_FREE char *pieces = pack(bytes, 300000, 77, &pieces_bytes);

	assert_int_equal(whole_bytes, pieces_bytes);
	assert_memory_equal(whole, pieces, whole_bytes);
	assert_memory_equal(whole, header, sizeof(header));
}

CASE(a_full_disk_is_an_error)
{
	static const size_t sizes[] = {0, 1, 1000000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		AUTO_FREE uint8_t *bytes = make_bytes(sizes[i]);
		AUTO_FCLOSE FILE *out = fopen("/dev/full", "w");
		struct gzip *gzip;

		assert_non_null(out);
		assert_int_equal(gzip_open(out, &gzip), 0);
		fwrite(bytes, 1, sizes[i], gzip_stream(gzip));
		assert_int_equal(gzip_close(gzip), -ENOSPC);
	}
}
