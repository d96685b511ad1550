/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Compares arrays of words from their ends: the outer frames of stacks, which mostly repeat. */
#ifndef JITBPF_BASE_COMMON_WORDS_H
#define JITBPF_BASE_COMMON_WORDS_H

#include <stdint.h>
#include <string.h>

/* Returns how many of the last words of two arrays are equal. Both have at least `count`. */
static inline uint32_t common_last_words(const uint64_t *a_end, const uint64_t *b_end,
					 uint32_t count)
{
	enum { BLOCK = 32 };
	uint32_t common = 0;

	while (count - common >= BLOCK &&
	       !memcmp(a_end - common - BLOCK, b_end - common - BLOCK, BLOCK * sizeof(*a_end)))
		common += BLOCK;
	while (common < count && a_end[-1 - (int64_t)common] == b_end[-1 - (int64_t)common])
		common++;
	return common;
}

#endif
