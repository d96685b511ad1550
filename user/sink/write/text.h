/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A buffer of text to be written. Empty if zero-initialized; the owner calls text_deinit(). Out of
 * memory is noted, and returned by text_write().
 */
#ifndef JITBPF_SINK_WRITE_TEXT_H
#define JITBPF_SINK_WRITE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/vec.h"

struct text {
	VEC(char) bytes; /* not NUL-terminated */
	bool failed;	 /* out of memory; the text is incomplete */
};

void text_put(struct text *text, const char *bytes, size_t size_bytes);
void text_put_string(struct text *text, const char *s);
void text_put_decimal(struct text *text, uint64_t value);
__attribute__((format(printf, 2, 3))) void text_printf(struct text *text, const char *format, ...);

/* Put 1234567 as "1,234,567", and 1234567 bytes as "1.2 MB", right-aligned in `columns`. */
void text_put_number(struct text *text, uint64_t value, int columns);
void text_put_bytes(struct text *text, uint64_t bytes, int columns);

/*
 * Put an untrusted name so that it cannot break lines or control a terminal: control characters,
 * bidirectional controls and bytes that are not UTF-8 become '?'. The byte `forbidden` (0: none)
 * becomes `instead`.
 */
void text_put_name(struct text *text, const char *name, char forbidden, char instead);

/*
 * The same without a forbidden byte; a name longer than `columns` (at least 4) is cut and ends with
 * "...". Returns the number of columns used, one per code point.
 */
uint32_t text_put_name_cut(struct text *text, const char *name, uint32_t columns);

/* Write the text, and empty it. Returns 0, -ENOMEM or the negative errno of the stream. */
int text_write(struct text *text, FILE *out);

void text_deinit(struct text *text);

#endif
