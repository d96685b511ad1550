/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The expected bytes are those of the encoding's documentation. */
#include <stdint.h>

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "sink/write/protobuf.h"
#include "tests/unit/cases.h"

#define CHECK(protobuf, ...)                                                                       \
	check((protobuf), (const uint8_t[]){__VA_ARGS__}, sizeof((const uint8_t[]){__VA_ARGS__}))

static void check(const struct protobuf *protobuf, const uint8_t *bytes, size_t size_bytes)
{
	assert_false(protobuf->failed);
	assert_int_equal(protobuf->bytes.size, size_bytes);
	assert_memory_equal(protobuf->bytes.data, bytes, size_bytes);
}

CASE(numbers_take_seven_bits_a_byte)
{
	CLEANUP(protobuf_deinit) struct protobuf p = {0};

	protobuf_put(&p, 1, 0);
	protobuf_put(&p, 1, 150);
	protobuf_put(&p, 15, 127);
	protobuf_put(&p, 16, 128);
	protobuf_put(&p, 2, (uint64_t)-1);
	CHECK(&p, 0x08, 0, 0x08, 0x96, 0x01, 0x78, 0x7f, 0x80, 0x01, 0x80, 0x01, 0x10, 0xff, 0xff,
	      0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01);
}

CASE(what_is_zero_can_be_left_out)
{
	CLEANUP(protobuf_deinit) struct protobuf p = {0};

	protobuf_put_nonzero(&p, 1, 0);
	protobuf_put_nonzero(&p, 2, 1);
	CHECK(&p, 0x10, 0x01);
}

CASE(strings_and_packed_numbers_have_a_length)
{
	CLEANUP(protobuf_deinit) struct protobuf p = {0};
	size_t begin;

	protobuf_put_bytes(&p, 2, "testing", 7);
	protobuf_put_bytes(&p, 6, "", 0);
	begin = protobuf_begin(&p, 4);
	protobuf_put_packed(&p, 3);
	protobuf_put_packed(&p, 270);
	protobuf_put_packed(&p, 86942);
	protobuf_end(&p, begin);
	CHECK(&p, 0x12, 0x07, 't', 'e', 's', 't', 'i', 'n', 'g', 0x32, 0x00, 0x22, 0x06, 0x03, 0x8e,
	      0x02, 0x9e, 0xa7, 0x05);
}

CASE(messages_lie_inside_messages)
{
	CLEANUP(protobuf_deinit) struct protobuf p = {0};
	size_t outer, inner;

	outer = protobuf_begin(&p, 3);
	protobuf_put(&p, 1, 1);
	inner = protobuf_begin(&p, 1);
	protobuf_end(&p, inner);
	inner = protobuf_begin(&p, 2);
	protobuf_put(&p, 1, 150);
	protobuf_end(&p, inner);
	protobuf_end(&p, outer);
	protobuf_put(&p, 1, 2);
	CHECK(&p, 0x1a, 0x09, 0x08, 0x01, 0x0a, 0x00, 0x12, 0x03, 0x08, 0x96, 0x01, 0x08, 0x02);
}

/* The length field takes 1, 2 or 3 bytes, so the contents move. */
CASE(a_message_may_be_long)
{
	static const size_t sizes[] = {127, 128, 16383, 16384, 100000};

	for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
		CLEANUP(protobuf_deinit) struct protobuf p = {0};
		size_t size = sizes[i], at = 1, length = 0, begin = protobuf_begin(&p, 1);

		for (size_t k = 0; k < size; k++)
			protobuf_put_packed(&p, k % 100);
		protobuf_end(&p, begin);
		for (int shift = 0;; shift += 7) {
			length |= (size_t)(p.bytes.data[at] & 0x7f) << shift;
			if (!(p.bytes.data[at++] & 0x80))
				break;
		}
		assert_int_equal(length, size);
		assert_int_equal(p.bytes.size, at + size);
		for (size_t k = 0; k < size; k++)
			assert_int_equal(p.bytes.data[at + k], k % 100);
	}
}

CASE(writing_begins_anew)
{
	CLEANUP(protobuf_deinit) struct protobuf p = {0};
	AUTO_FREE char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(protobuf_write(&p, out), 0);
	protobuf_put(&p, 1, 1);
	assert_int_equal(protobuf_write(&p, out), 0);
	protobuf_put(&p, 1, 2);
	assert_int_equal(protobuf_write(&p, out), 0);
	fclose(out);
	assert_int_equal(size, 4);
	assert_memory_equal(text, "\x08\x01\x08\x02", 4);
	p.failed = true;
	assert_int_equal(protobuf_write(&p, stderr), -ENOMEM);
}

CASE(a_full_disk_is_an_error)
{
	CLEANUP(protobuf_deinit) struct protobuf p = {0};
	AUTO_FCLOSE FILE *out = fopen("/dev/full", "w");

	assert_non_null(out);
	setvbuf(out, NULL, _IONBF, 0);
	protobuf_put(&p, 1, 1);
	assert_int_equal(protobuf_write(&p, out), -ENOSPC);
}
