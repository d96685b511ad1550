/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "runtimes/hotspot/hotspot_heap.h"

#include <errno.h>
#include <stdbool.h>

#define HEAPS_MAX    16
#define SHIFT_MAX    20
#define FREE_SEGMENT 0xff

struct heap {
	uint64_t start, end, map;
	uint32_t shift;
};

static int read_heap(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		     uint64_t address, struct heap *ret)
{
	uint64_t space = address + layout->memory;
	int err = process_memory_word(memory, space + layout->space_low, &ret->start);

	err = err ?: process_memory_word(memory, space + layout->space_high, &ret->end);
	err = err
		      ?: process_memory_word(memory, address + layout->segments + layout->space_low,
					     &ret->map);
	err = err
		      ?: process_memory_read(memory, address + layout->shift, &ret->shift,
					     sizeof(ret->shift));
	if (!err && (ret->start > ret->end || ret->shift > SHIFT_MAX))
		return -EBADMSG;
	return err;
}

/* Find the segment that a block begins with. */
static int find_first(const struct process_memory *memory, const struct heap *heap, uint64_t index,
		      uint64_t *ret)
{
	for (uint32_t i = 0; i < HOTSPOT_HEAP_HOPS_MAX; i++) {
		uint8_t back;
		int err = process_memory_read(memory, heap->map + index, &back, sizeof(back));

		if (err)
			return err;
		if (back == FREE_SEGMENT)
			return -ENOENT;
		if (back > index)
			return -EBADMSG;
		index -= back;
		*ret = index;
		if (!back)
			return 0;
	}
	return -EBADMSG;
}

static int read_block(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		      const struct heap *heap, uint64_t first, struct hotspot_block *ret)
{
	uint64_t at = heap->start + (first << heap->shift), length = 0;
	bool is_long = layout->block_used - layout->block_length >= 8;
	uint8_t used;
	int err = process_memory_read(memory, at + layout->block_length, &length, is_long ? 8 : 4);

	err = err ?: process_memory_read(memory, at + layout->block_used, &used, sizeof(used));
	if (err)
		return err;
	if (!used)
		return -ENOENT;
	if (length > (heap->end - at) >> heap->shift)
		return -EBADMSG;
	ret->start = at + layout->block_size;
	ret->end = at + (length << heap->shift);
	return 0;
}

static int find_in(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		   const struct heap *heap, uint64_t address, struct hotspot_block *ret)
{
	struct hotspot_block block;
	uint64_t first = 0;
	int err = find_first(memory, heap, (address - heap->start) >> heap->shift, &first);

	err = err ?: read_block(memory, layout, heap, first, &block);
	if (err)
		return err;
	if (address < block.start)
		return -ENOENT;
	if (address >= block.end)
		return -EBADMSG;
	*ret = block;
	return 0;
}

int hotspot_heap_find(const struct process_memory *memory, const struct hotspot_code_layout *layout,
		      uint64_t address, struct hotspot_block *ret)
{
	uint64_t heaps, items, heap_at;
	struct heap heap;
	uint32_t count = 0;
	int err = process_memory_word(memory, layout->heaps, &heaps);

	if (!err && !heaps)
		return -ENOENT;
	err = err
		      ?: process_memory_read(memory, heaps + layout->heaps_count, &count,
					     sizeof(count));
	err = err ?: process_memory_word(memory, heaps + layout->heaps_data, &items);
	if (!err && count > HEAPS_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < count && !err; i++) {
		err = process_memory_word(memory, items + i * 8ull, &heap_at);
		err = err ?: read_heap(memory, layout, heap_at, &heap);
		if (!err && address >= heap.start && address < heap.end)
			return find_in(memory, layout, &heap, address, ret);
	}
	return err ?: -ENOENT;
}
