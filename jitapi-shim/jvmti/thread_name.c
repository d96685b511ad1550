/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/thread_name.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static bool continues(char byte)
{
	return (byte & 0xc0) == 0x80;
}

/* Returns true for a surrogate: 0xa0 in `kind` for the first one of a pair, 0xb0 for the second. */
static bool is_surrogate(const char *at, uint8_t kind)
{
	return (uint8_t)at[0] == 0xed && ((uint8_t)at[1] & 0xf0) == kind && continues(at[2]);
}

/* Convert the pair at `from`, of six bytes, to four bytes. */
static void join_pair(const char *from, char to[4])
{
	uint32_t high = ((uint32_t)(from[1] & 0x0f) << 6) | (from[2] & 0x3f);
	uint32_t low = ((uint32_t)(from[4] & 0x0f) << 6) | (from[5] & 0x3f);
	uint32_t character = 0x10000 + (high << 10 | low);

	to[0] = (char)(0xf0 | character >> 18);
	to[1] = (char)(0x80 | (character >> 12 & 0x3f));
	to[2] = (char)(0x80 | (character >> 6 & 0x3f));
	to[3] = (char)(0x80 | (character & 0x3f));
}

/* Returns the bytes of the character at `from`, which is not a NUL. */
static size_t character_bytes(const char *from)
{
	size_t bytes = 1;

	if ((uint8_t)*from >= 0xc0) {
		while (bytes < 4 && continues(from[bytes]))
			bytes++;
	}
	return bytes;
}

void thread_name(const char *modified, char *name, size_t size_bytes)
{
	const char *from = modified;
	char *to = name;

	while (*from) {
		size_t left = size_bytes - 1 - (size_t)(to - name);
		size_t bytes = character_bytes(from);

		if (is_surrogate(from, 0xa0) && is_surrogate(from + 3, 0xb0)) {
			if (left < 4)
				break;
			join_pair(from, to);
			from += 6;
			to += 4;
			continue;
		}
		if (left < bytes)
			break;
		memcpy(to, from, bytes);
		from += bytes;
		to += bytes;
	}
	*to = 0;
}
