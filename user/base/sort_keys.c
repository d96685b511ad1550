/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/sort_keys.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/scope.h"

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)

/*
 * Set *ret_differing to the bits in which at least two keys differ: only their
 * digits need a pass.
 */
static bool is_sorted(const struct sort_key *keys, size_t count, uint64_t *ret_differing)
{
	uint64_t differing = 0;
	bool sorted = true;

	for (size_t i = 1; i < count; i++) {
		differing |= keys[i].key ^ keys[0].key;
		sorted &= keys[i - 1].key <= keys[i].key;
	}
	*ret_differing = differing;
	return sorted;
}

static void sort_by_digit(const struct sort_key *from, struct sort_key *to, size_t count,
			  unsigned shift)
{
	size_t starts[DIGITS + 1] = {0};

	for (size_t i = 0; i < count; i++)
		starts[(from[i].key >> shift) % DIGITS + 1]++;
	for (size_t digit = 1; digit < DIGITS; digit++)
		starts[digit] += starts[digit - 1];
	for (size_t i = 0; i < count; i++)
		to[starts[(from[i].key >> shift) % DIGITS]++] = from[i];
}

int sort_keys(struct sort_key *keys, size_t count)
{
	AUTO_FREE struct sort_key *scratch = NULL;
	struct sort_key *from = keys, *to, *swap;
	uint64_t differing;

	if (is_sorted(keys, count, &differing))
		return 0;
	scratch = to = malloc(count * sizeof(*scratch));
	if (!scratch)
		return -ENOMEM;
	for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!((differing >> shift) % DIGITS))
			continue;
		sort_by_digit(from, to, count, shift);
		swap = from;
		from = to;
		to = swap;
	}
	if (from != keys)
		memcpy(keys, from, count * sizeof(*keys));
	return 0;
}
