/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A JSON writer: commas, lines and escaping are its business. What it writes is
 * valid UTF-8 whatever bytes a string has, and can stand inside an HTML script
 * element. Errors stay in the stream: ask out_flush() at the end.
 */
#ifndef JITBPF_SINK_WRITE_JSON_H
#define JITBPF_SINK_WRITE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json {
	FILE *out;    /* borrowed */
	bool lines;   /* a line for each member and element, indented */
	bool more;    /* something stands before the next value: a comma is due */
	bool has_key; /* the next value belongs to the key just written */
	uint32_t depth;
};

static inline struct json json_of(FILE *out, bool lines)
{
	return (struct json){.out = out, .lines = lines};
}

void json_begin(struct json *json, char bracket); /* '{' or '[' */
void json_end(struct json *json, char bracket);	  /* '}' or ']' */

/* A member's name: a value follows. */
void json_key(struct json *json, const char *key);

void json_string(struct json *json, const char *s);
void json_number(struct json *json, uint64_t value);

/* value / 10^places, exactly; places up to 19. */
void json_decimal(struct json *json, uint64_t value, uint32_t places);

/* "true", "false", "null" or a number, as it stands there. */
void json_literal(struct json *json, const char *literal);

/* A key and its value. */
void json_member_string(struct json *json, const char *key, const char *s);
void json_member_number(struct json *json, const char *key, uint64_t value);
void json_member_literal(struct json *json, const char *key, const char *literal);

#endif
