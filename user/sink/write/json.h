/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A JSON writer. It writes commas and line breaks, and escapes strings. The output is valid UTF-8
 * for any bytes in strings, and safe inside an HTML script element. Errors stay in the stream;
 * out_flush() returns them.
 */
#ifndef JITBPF_SINK_WRITE_JSON_H
#define JITBPF_SINK_WRITE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;    /* borrowed */
	bool lines;   /* one indented line per member and element */
	bool more;    /* a comma is needed before the next value */
	bool has_key; /* a key was written, and its value comes next */
	uint32_t depth;
};

static inline struct json json_of(FILE *out, bool lines)
{
	return (struct json){.out = out, .lines = lines};
}

void json_begin(struct json *json, char bracket); /* '{' or '[' */
void json_end(struct json *json, char bracket);	  /* '}' or ']' */

/* Write the name of a member; its value must follow. */
void json_key(struct json *json, const char *key);

void json_string(struct json *json, const char *s);
void json_number(struct json *json, uint64_t value);

/* Write value / 10^places exactly; places is at most 19. */
void json_decimal(struct json *json, uint64_t value, uint32_t places);

/* Write "true", "false", "null" or a number, unchanged. */
void json_literal(struct json *json, const char *literal);

/* Write a key and its value. */
void json_member_string(struct json *json, const char *key, const char *s);
void json_member_number(struct json *json, const char *key, uint64_t value);
void json_member_literal(struct json *json, const char *key, const char *literal);

#endif
