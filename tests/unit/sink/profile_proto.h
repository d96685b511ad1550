/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * An independent reader of profile.proto, written from the published schema.
 * Malformed input fails the test.
 */
#ifndef TESTS_PROFILE_PROTO_H
#define TESTS_PROFILE_PROTO_H

#include "tests/unit/sink/gunzip.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

/* A range of the file. */
struct pb_bytes {
	const uint8_t *at, *end;
};

struct pb_field {
	uint32_t number;
	uint64_t value;	       /* of a number */
	struct pb_bytes inner; /* of a field with a length; else NULL */
};

static uint64_t pb_varint(struct pb_bytes *bytes)
{
	uint64_t value = 0;

	for (unsigned shift = 0; shift < 70; shift += 7) {
		uint8_t byte;

		assert_true(bytes->at < bytes->end);
		byte = *bytes->at++;
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	fail_msg("a number of more than ten bytes");
	return 0;
}

static bool pb_next(struct pb_bytes *bytes, struct pb_field *ret)
{
	uint64_t tag, size;

	if (bytes->at == bytes->end)
		return false;
	tag = pb_varint(bytes);
	*ret = (struct pb_field){.number = (uint32_t)(tag >> 3)};
	if ((tag & 7) == 0) {
		ret->value = pb_varint(bytes);
		return true;
	}
	assert_int_equal(tag & 7, 2);
	size = pb_varint(bytes);
	assert_true(size <= (uint64_t)(bytes->end - bytes->at));
	ret->inner = (struct pb_bytes){bytes->at, bytes->at + size};
	bytes->at += size;
	return true;
}

/* Returns the only number of a field; 0 if it is absent. */
static uint64_t pb_number(struct pb_bytes message, uint32_t number)
{
	struct pb_field field;
	uint64_t value = 0;
	int seen = 0;

	while (pb_next(&message, &field)) {
		if (field.number != number)
			continue;
		assert_null(field.inner.at);
		value = field.value;
		seen++;
	}
	assert_true(seen <= 1);
	return value;
}

/* Returns occurrence `index` of a field with a length; at is NULL beyond the last. */
__attribute__((unused)) static struct pb_bytes pb_inner(struct pb_bytes message, uint32_t number,
							size_t index)
{
	struct pb_field field;

	while (pb_next(&message, &field)) {
		if (field.number == number && !index--) {
			assert_non_null(field.inner.at);
			return field.inner;
		}
	}
	return (struct pb_bytes){0};
}

static size_t pb_count(struct pb_bytes message, uint32_t number)
{
	struct pb_field field;
	size_t count = 0;

	while (pb_next(&message, &field))
		count += field.number == number;
	return count;
}

enum { PP_SAMPLE_TYPE = 1, PP_SAMPLE, PP_MAPPING, PP_LOCATION, PP_FUNCTION, PP_STRING };

struct profile_proto {
	uint8_t *bytes; /* freed by the caller */
	struct pb_bytes all;
	char **strings; /* the strings and the array are freed by the caller */
	size_t string_count;
};

/* Decompress the profile and read its strings: all must be UTF-8, and the first one empty. */
__attribute__((unused)) static struct profile_proto pp_read(const void *packed, size_t packed_bytes)
{
	struct profile_proto p = {0};
	struct pb_field field;
	struct pb_bytes rest;
	size_t size;

	p.bytes = gunzip(packed, packed_bytes, &size);
	p.all = rest = (struct pb_bytes){p.bytes, p.bytes + size};
	p.strings = calloc(pb_count(p.all, PP_STRING) + 1, sizeof(*p.strings));
	assert_non_null(p.strings);
	while (pb_next(&rest, &field)) {
		char *s;

		if (field.number != PP_STRING)
			continue;
		s = strndup((const char *)field.inner.at,
			    (size_t)(field.inner.end - field.inner.at));
		assert_non_null(s);
		assert_int_equal(strlen(s), field.inner.end - field.inner.at);
		for (uint32_t at = 0, bytes; s[at]; at += bytes)
			assert_int_not_equal(utf8_next(s + at, &bytes), UTF8_INVALID);
		p.strings[p.string_count++] = s;
	}
	assert_true(p.string_count > 0);
	assert_string_equal(p.strings[0], "");
	return p;
}

__attribute__((unused)) static void pp_deinit(struct profile_proto *p)
{
	for (size_t i = 0; i < p->string_count; i++)
		free(p->strings[i]);
	free(p->strings);
	free(p->bytes);
}

/* Returns the string whose number a field has. */
__attribute__((unused)) static const char *pp_string(const struct profile_proto *p,
						     struct pb_bytes message, uint32_t number)
{
	uint64_t index = pb_number(message, number);

	assert_true(index < p->string_count);
	return p->strings[index];
}

/* Returns the message of a kind with an id; there must be exactly one. */
__attribute__((unused)) static struct pb_bytes pp_by_id(const struct profile_proto *p,
							uint32_t kind, uint64_t id)
{
	struct pb_bytes rest = p->all, found = {0};
	struct pb_field field;

	assert_int_not_equal(id, 0);
	while (pb_next(&rest, &field)) {
		if (field.number != kind || pb_number(field.inner, 1) != id)
			continue;
		assert_null(found.at);
		found = field.inner;
	}
	assert_non_null(found.at);
	return found;
}

#endif
