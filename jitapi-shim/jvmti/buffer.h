/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Bytes that grow. All zeros: empty. */
#ifndef JITBPF_SHIM_JVMTI_BUFFER_H
#define JITBPF_SHIM_JVMTI_BUFFER_H

#include <stddef.h>
#include <stdint.h>

#define BUFFER_KEPT_BYTES (64u << 10)

struct buffer {
	uint8_t *bytes;
	size_t size_bytes, room_bytes;
};

/*
 * Append a copy of bytes. Returns a pointer to the copy, valid until the next call; NULL: no
 * memory.
 */
void *buffer_add(struct buffer *buffer, const void *bytes, size_t size_bytes);
void buffer_deinit(struct buffer *buffer);

/* Empty a buffer, and keep up to BUFFER_KEPT_BYTES of memory for its next contents. */
void buffer_reset(struct buffer *buffer);

/*
 * A hash index of the items of a buffer. Each item begins with its key, which consists of 32-bit
 * words. An item's number is its index in the buffer, from 0. All zeros: empty.
 */
struct buffer_index {
	uint32_t *slots; /* number of the item + 1; 0: free */
	uint32_t slot_count;
};

struct buffer_items {
	struct buffer items;
	struct buffer_index index;
	size_t item_bytes, key_bytes;
};

/* Returns the number of an item with the key of `item`; if there is none, UINT32_MAX. */
uint32_t buffer_items_find(const struct buffer_items *items, const void *item);

/* Add an item whose key is new. Returns its number, or UINT32_MAX: no memory. */
uint32_t buffer_items_add(struct buffer_items *items, const void *item);

static inline uint32_t buffer_items_count(const struct buffer_items *items)
{
	return (uint32_t)(items->items.size_bytes / items->item_bytes);
}

static inline void *buffer_items_get(const struct buffer_items *items, uint32_t number)
{
	return items->items.bytes + number * items->item_bytes;
}

void buffer_items_deinit(struct buffer_items *items);
void buffer_items_reset(struct buffer_items *items); /* as buffer_reset() */

#endif
