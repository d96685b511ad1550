/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/name/shown_name.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"

#define MARK_BYTES 20 /* "...#" and 16 hexadecimal digits */

int shown_name_add(struct string_pool *pool, const char *s, size_t size_bytes, uint32_t *ret)
{
	char shown[SHOWN_NAME_MAX + 1];
	size_t size = strnlen(s, size_bytes), kept = SHOWN_NAME_MAX - MARK_BYTES;

	if (size <= SHOWN_NAME_MAX)
		return string_pool_add(pool, s, size, ret);
	while (kept && ((uint8_t)s[kept] & 0xc0) == 0x80)
		kept--; /* do not split a UTF-8 character */
	memcpy(shown, s, kept);
	size = kept + (size_t)snprintf(shown + kept, sizeof(shown) - kept, "...#%016llx",
				       (unsigned long long)hash_bytes(s, size, 0));
	return string_pool_add(pool, shown, size, ret);
}
