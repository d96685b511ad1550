/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reads strings of V8. */
#ifndef JITBPF_RUNTIMES_V8_V8_TEXT_H
#define JITBPF_RUNTIMES_V8_V8_TEXT_H

#include "runtimes/v8/v8_object.h"

#define V8_TEXT_LENGTH_MAX (1 << 29)

/* Characters that are beside each other. */
struct v8_chars {
	uint64_t address;
	int32_t count;
	bool is_wide; /* 2 bytes each, UTF-16; else 1, Latin-1 */
};

bool v8_is_text(uint16_t type);

/*
 * Find the characters of a string. Returns 0; -EBADMSG if it is none, or in several parts; or the
 * error of the memory.
 */
int v8_text_find(const struct v8_heap *heap, uint64_t text, struct v8_chars *ret);

/*
 * Read a string as UTF-8, at most bytes_max bytes of it, for free(). Control characters are kept.
 * Returns 0; -EBADMSG if it is no string, or has too many parts; -ENOMEM or the error of the
 * memory.
 */
int v8_text_read(const struct v8_heap *heap, uint64_t text, size_t bytes_max, char **ret);

#endif
