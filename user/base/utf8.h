/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decoding of untrusted UTF-8, one code point at a time. */
#ifndef JITBPF_BASE_UTF8_H
#define JITBPF_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UTF8_INVALID   UINT32_MAX
#define UTF8_BYTES_MAX 4 /* of a character */

/*
 * Return the code point at s, a NUL-terminated string that is not empty. Sets
 * *ret_bytes to the length of the sequence, 1 to 4. Returns UTF8_INVALID and a
 * length of 1 for a byte that begins no well-formed sequence (overlong,
 * surrogate, above U+10FFFF, truncated), so a caller always advances. Never
 * reads past the NUL.
 */
static inline uint32_t utf8_next(const char *s, uint32_t *ret_bytes)
{
	const uint8_t *p = (const uint8_t *)s;
	uint32_t more = p[0] >= 0xf0 ? 3 : p[0] >= 0xe0 ? 2 : 1;
	static const uint32_t least[] = {0, 0x80, 0x800, 0x10000};
	uint32_t code;

	*ret_bytes = 1;
	if (p[0] < 0x80)
		return p[0];
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return UTF8_INVALID;
	code = p[0] & (0x3f >> more);
	for (uint32_t i = 1; i <= more; i++) {
		if ((p[i] & 0xc0) != 0x80) /* a NUL fails here too */
			return UTF8_INVALID;
		code = code << 6 | (p[i] & 0x3f);
	}
	if (code < least[more] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
		return UTF8_INVALID;
	*ret_bytes = more + 1;
	return code;
}

/*
 * Return true if a code point can disguise a name: control characters (C0, DEL,
 * C1), line and paragraph separators, bidirectional controls, and invisible
 * characters.
 */
static inline bool utf8_is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xad || code == 0x61c ||
	       code == 0x180e || (code >= 0x200b && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
	       code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) ||
	       (code >= 0xe0000 && code <= 0xe0fff);
}

/*
 * Returns the number of terminal columns of a code point: 2 for East Asian characters and emoji, 0
 * for marks that combine with the character before, else 1.
 */
uint32_t utf8_columns(uint32_t code);

/*
 * Put a character as UTF-8, without a NUL; U+FFFD in place of 0 and of what is no character.
 * Returns its size in bytes.
 */
size_t utf8_put(uint32_t code, char ret[UTF8_BYTES_MAX]);

/*
 * Put '?' in place of each byte of a text that is no UTF-8. was_cut: the text may end in the middle
 * of a character; what is left of that is cut off.
 */
void utf8_mend(char *text, bool was_cut);

#endif
