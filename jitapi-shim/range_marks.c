/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/range_marks.h"

#include <stdbool.h>
#include <string.h>

#define DIGIT_BITS 11
#define DIGITS	   (1u << DIGIT_BITS)
#define PASSES	   ((64 + DIGIT_BITS - 1) / DIGIT_BITS)

uint64_t range_marks_bytes(uint32_t range_count)
{
	return 2ull * range_count * sizeof(uint64_t) + PASSES * DIGITS * sizeof(uint32_t) +
	       4ull * range_count * sizeof(struct range_mark) + 64;
}

/* libc's qsort may ask for memory. Returns where the sorted keys are: in keys or in other. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *other, uint32_t count,
			    uint32_t (*digits)[DIGITS])
{
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t pass = 0; pass < PASSES; pass++)
			digits[pass][keys[i] >> (pass * DIGIT_BITS) & (DIGITS - 1)]++;
	}
	for (uint32_t pass = 0; pass < PASSES; pass++) {
		uint32_t shift = pass * DIGIT_BITS, before = 0;
		uint64_t *sorted = other;

		/* Most addresses of a process have their upper bits in common. */
		if (count && digits[pass][keys[0] >> shift & (DIGITS - 1)] == count)
			continue;
		for (uint32_t digit = 0; digit < DIGITS; digit++) {
			uint32_t here = digits[pass][digit];

			digits[pass][digit] = before;
			before += here;
		}
		for (uint32_t i = 0; i < count; i++)
			other[digits[pass][keys[i] >> shift & (DIGITS - 1)]++] = keys[i];
		other = keys;
		keys = sorted;
	}
	return keys;
}

void range_marks_init(struct range_marks *marks, uint64_t *starts_and_ends, uint32_t count,
		      struct scratch *scratch)
{
	uint64_t *other = scratch_take(scratch, count * sizeof(*other));
	void *digits = scratch_take(scratch, PASSES * DIGITS * sizeof(uint32_t));
	uint64_t *ends = radix_sort(starts_and_ends, other, count, digits);
	uint32_t distinct = 0;

	for (uint32_t i = 0; i < count; i++) {
		if (!distinct || ends[distinct - 1] != ends[i])
			ends[distinct++] = ends[i];
	}
	marks->ends = ends;
	marks->end_count = distinct;
	marks->nodes = scratch_take(scratch, 2ull * distinct * sizeof(*marks->nodes));
}

void range_marks_clear(struct range_marks *marks)
{
	memset(marks->nodes, 0, 2ull * marks->end_count * sizeof(*marks->nodes));
}

uint32_t range_marks_cell(const struct range_marks *marks, uint64_t address, uint32_t near)
{
	uint32_t low = 0, high = marks->end_count;

	for (uint32_t cell = near; cell < high && cell - near < 2; cell++) {
		if (marks->ends[cell] == address)
			return cell;
	}
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (marks->ends[middle] < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void range_marks_set(struct range_marks *marks, uint32_t from, uint32_t to, uint32_t number)
{
	struct range_mark *nodes = marks->nodes;
	uint32_t low = from + marks->end_count, high = to + marks->end_count;

	for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
		if (l & 1)
			nodes[l++].whole = number;
		if (h & 1)
			nodes[--h].whole = number;
	}
	/* Each node that has any of the cells is above the first or the last. */
	for (uint32_t l = low, h = high - 1; l; l /= 2, h /= 2)
		nodes[l].any = nodes[h].any = number;
}

uint32_t range_marks_get(const struct range_marks *marks, uint32_t from, uint32_t to)
{
	const struct range_mark *nodes = marks->nodes;
	uint32_t low = from + marks->end_count, high = to + marks->end_count, greatest = 0;

#define SEE(number)                                                                                \
	do {                                                                                       \
		if (greatest < (number))                                                           \
			greatest = (number);                                                       \
	} while (0)
	for (uint32_t l = low, h = high; l < h; l /= 2, h /= 2) {
		if (l & 1) {
			SEE(nodes[l].any);
			SEE(nodes[l].whole);
			l++;
		}
		if (h & 1) {
			h--;
			SEE(nodes[h].any);
			SEE(nodes[h].whole);
		}
	}
	for (uint32_t l = low, h = high - 1; l; l /= 2, h /= 2) {
		SEE(nodes[l].whole);
		SEE(nodes[h].whole);
	}
#undef SEE
	return greatest;
}
