/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/write/protobuf.h"

#include <errno.h>
#include <string.h>

#include "base/leb128.h"
#include "sink/write/out.h"

enum wire_type {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
};

static void put_raw(struct protobuf *protobuf, const void *bytes, size_t size_bytes)
{
	if (vec_reserve(&protobuf->bytes, protobuf->bytes.size + size_bytes)) {
		protobuf->failed = true;
		return;
	}
	if (size_bytes)
		memcpy(protobuf->bytes.data + protobuf->bytes.size, bytes, size_bytes);
	protobuf->bytes.size += size_bytes;
}

void protobuf_put_packed(struct protobuf *protobuf, uint64_t value)
{
	uint8_t bytes[LEB128_BYTES_MAX];

	put_raw(protobuf, bytes, leb128_write(value, bytes));
}

static void put_tag(struct protobuf *protobuf, uint32_t field, enum wire_type type)
{
	protobuf_put_packed(protobuf, (uint64_t)field << 3 | type);
}

void protobuf_put(struct protobuf *protobuf, uint32_t field, uint64_t value)
{
	put_tag(protobuf, field, WIRE_VARINT);
	protobuf_put_packed(protobuf, value);
}

void protobuf_put_nonzero(struct protobuf *protobuf, uint32_t field, uint64_t value)
{
	if (value)
		protobuf_put(protobuf, field, value);
}

void protobuf_put_bytes(struct protobuf *protobuf, uint32_t field, const void *bytes,
			size_t size_bytes)
{
	put_tag(protobuf, field, WIRE_BYTES);
	protobuf_put_packed(protobuf, size_bytes);
	put_raw(protobuf, bytes, size_bytes);
}

size_t protobuf_begin(struct protobuf *protobuf, uint32_t field)
{
	put_tag(protobuf, field, WIRE_BYTES);
	return protobuf->bytes.size;
}

/* The length precedes the message, so the message is moved when its length is known. */
void protobuf_end(struct protobuf *protobuf, size_t begin)
{
	uint8_t length[LEB128_BYTES_MAX];
	size_t body_bytes, length_bytes;

	if (protobuf->failed)
		return;
	body_bytes = protobuf->bytes.size - begin;
	length_bytes = leb128_write(body_bytes, length);
	put_raw(protobuf, length, length_bytes);
	if (protobuf->failed)
		return;
	memmove(protobuf->bytes.data + begin + length_bytes, protobuf->bytes.data + begin,
		body_bytes);
	memcpy(protobuf->bytes.data + begin, length, length_bytes);
}

int protobuf_write(struct protobuf *protobuf, FILE *out)
{
	size_t size = protobuf->bytes.size;

	protobuf->bytes.size = 0;
	if (protobuf->failed)
		return -ENOMEM;
	return out_write(out, protobuf->bytes.data, size);
}

void protobuf_deinit(struct protobuf *protobuf)
{
	vec_deinit(&protobuf->bytes);
}
