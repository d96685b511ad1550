/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/common_words.h"
#include "tests/unit/cases.h"

#define WORDS 100

CASE(test_each_length)
{
	uint64_t a[WORDS], b[WORDS];

	for (uint32_t count = 0; count <= WORDS; count++) {
		for (uint32_t common = 0; common <= count; common++) {
			for (uint32_t i = 0; i < WORDS; i++) {
				a[i] = i;
				b[i] = i + (i < WORDS - common);
			}
			assert_int_equal(common_last_words(a + WORDS, b + WORDS, count), common);
		}
	}
}

/* Words behind the first difference do not count, though they are equal. */
CASE(test_first_difference)
{
	uint64_t a[WORDS] = {0}, b[WORDS] = {0};

	for (uint32_t at = 0; at < WORDS; at++) {
		b[at] = 1;
		assert_int_equal(common_last_words(a + WORDS, b + WORDS, WORDS), WORDS - 1 - at);
		b[at] = 0;
	}
}
