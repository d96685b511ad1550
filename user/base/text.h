/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#ifndef JITBPF_BASE_TEXT_H
#define JITBPF_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static inline bool begins_with(const char *text, const char *beginning)
{
	return !strncmp(text, beginning, strlen(beginning));
}

static inline bool ends_with(const char *text, const char *ending)
{
	size_t text_bytes = strlen(text), ending_bytes = strlen(ending);

	return text_bytes >= ending_bytes && !strcmp(text + text_bytes - ending_bytes, ending);
}

/* As begins_with(), for text of a known size without a NUL. */
static inline bool bytes_begin_with(const char *text, size_t text_bytes, const char *beginning)
{
	size_t bytes = strlen(beginning);

	return text_bytes >= bytes && !memcmp(text, beginning, bytes);
}

#endif
