/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Text being put together before it is written. Zero-initialized is empty; the
 * owner calls text_deinit(). Running out of memory is remembered, so that only
 * text_write() needs to be asked.
 */
#ifndef JITBPF_SINK_WRITE_TEXT_H
#define JITBPF_SINK_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

struct text {
	VEC(char) bytes; /* no NUL behind them */
	bool failed;	 /* out of memory: what was put since is missing */
};

void text_put(struct text *text, const char *bytes, size_t size_bytes);
void text_put_string(struct text *text, const char *s);
void text_put_decimal(struct text *text, uint64_t value);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *text, const char *format, ...);

/* 1234567 as "1,234,567", and 1234567 bytes as "1.2 MB": right-aligned in so many columns. */
void text_put_number(struct text *text, uint64_t value, int columns);
void text_put_bytes(struct text *text, uint64_t bytes, int columns);

/*
 * A name from who knows where, made harmless to lines and terminals: control
 * characters, marks that turn the direction of text and bytes that are not
 * UTF-8 become '?', and so does the byte `forbidden` become `instead`
 * (0: none is forbidden).
 */
void text_put_name(struct text *text, const char *name, char forbidden, char instead);

/*
 * The same, none forbidden, of a name that may be long: "..." stands for what is
 * beyond so many columns (4 or more). Returns the columns it takes, taking a code
 * point for one.
 */
uint32_t text_put_name_cut(struct text *text, const char *name, uint32_t columns);

/* Write all of it and begin anew. Returns 0, -ENOMEM or the stream's negative errno. */
int text_write(struct text *text, FILE *out);

void text_deinit(struct text *text);

#endif
