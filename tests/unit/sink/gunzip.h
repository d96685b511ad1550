/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decompression of a gzip file, for tests of sinks. */
#ifndef TESTS_GUNZIP_H
#define TESTS_GUNZIP_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <zlib.h>

/* Returns the decompressed bytes, followed by a NUL that is not counted. The caller frees them. */
__attribute__((unused)) static uint8_t *gunzip(const void *packed, size_t packed_bytes,
					       size_t *ret_bytes)
{
	size_t room = 64 + packed_bytes * 1100; /* the maximum compression ratio is 1:1032 */
	uint8_t *bytes = malloc(room + 1);
	z_stream z = {
		.next_in = (Bytef *)packed,
		.avail_in = (uInt)packed_bytes,
		.next_out = bytes,
		.avail_out = (uInt)room,
	};

	assert_non_null(bytes);
	assert_int_equal(inflateInit2(&z, 16 + MAX_WBITS), Z_OK);
	/* checks the CRC and the length too */
	assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
	assert_int_equal(z.avail_in, 0); /* nothing follows */
	*ret_bytes = z.total_out;
	bytes[z.total_out] = 0;
	inflateEnd(&z);
	return bytes;
}

#endif
