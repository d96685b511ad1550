/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/cfi/code_ranges.h"

#include <stdlib.h>

#include "base/scope.h"
#include "base/sort_keys.h"

int code_ranges_init(struct code_ranges *ret, const struct elf_file *elf)
{
	AUTO_FREE struct sort_key *keys = calloc(elf->segments.size + 1, sizeof(*keys));
	size_t count = 0;
	uint64_t end = 0;
	int err;

	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < elf->segments.size; i++) {
		if (elf->segments.data[i].executable)
			keys[count++] = (struct sort_key){elf->segments.data[i].file_offset, i};
	}
	err = sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++) {
		const struct elf_segment *segment = &elf->segments.data[keys[i].item];
		uint64_t skipped = end > segment->file_offset ? end - segment->file_offset : 0;
		struct code_range range = {
			.file_offset = segment->file_offset + skipped,
			.size_bytes = segment->file_bytes - skipped,
			.address = segment->address + skipped,
		};

		if (skipped >= segment->file_bytes)
			continue;
		end = range.file_offset + range.size_bytes;
		err = vec_push(&ret->ranges, range);
	}
	return err;
}

void code_ranges_deinit(struct code_ranges *ranges)
{
	vec_deinit(&ranges->ranges);
}

uint64_t code_ranges_offset(const struct code_ranges *ranges, uint64_t address)
{
	vec_for_each (range, &ranges->ranges) {
		if (address - range->address < range->size_bytes)
			return range->file_offset + (address - range->address);
	}
	return UINT64_MAX;
}

void code_ranges_bounds(const struct code_ranges *ranges, uint64_t *ret_low, uint64_t *ret_high)
{
	*ret_low = UINT64_MAX;
	*ret_high = 0;
	vec_for_each (range, &ranges->ranges) {
		uint64_t end = range->address + range->size_bytes;

		*ret_low = range->address < *ret_low ? range->address : *ret_low;
		*ret_high = end > *ret_high ? end : *ret_high;
	}
}

size_t code_ranges_bytes(const struct code_ranges *ranges)
{
	return ranges->ranges.capacity * sizeof(*ranges->ranges.data);
}
