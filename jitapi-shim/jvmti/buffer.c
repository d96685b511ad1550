/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/jvmti/buffer.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_BYTES_MIN 256
#define SLOTS_MIN      64

void *buffer_add(struct buffer *buffer, const void *bytes, size_t size_bytes)
{
	size_t needed = buffer->size_bytes + size_bytes, room = buffer->room_bytes;
	uint8_t *grown = buffer->bytes;

	while (room < needed)
		room = room ? 2 * room : ROOM_BYTES_MIN;
	if (room != buffer->room_bytes)
		grown = realloc(buffer->bytes, room);
	if (!grown)
		return NULL;
	buffer->bytes = grown;
	buffer->room_bytes = room;
	grown += buffer->size_bytes;
	buffer->size_bytes = needed;
	return memcpy(grown, bytes, size_bytes);
}

void buffer_deinit(struct buffer *buffer)
{
	free(buffer->bytes);
	*buffer = (struct buffer){0};
}

void buffer_reset(struct buffer *buffer)
{
	buffer->size_bytes = 0;
	if (buffer->room_bytes > BUFFER_KEPT_BYTES)
		buffer_deinit(buffer);
}

static uint32_t word_at(const void *item, size_t offset)
{
	uint32_t word;

	memcpy(&word, (const uint8_t *)item + offset, sizeof(word));
	return word;
}

static uint32_t hash_of(const struct buffer_items *items, const void *item)
{
	uint64_t hash = 0;

	for (size_t i = 0; i < items->key_bytes; i += sizeof(uint32_t)) {
		hash = (hash ^ word_at(item, i)) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 32;
	}
	return (uint32_t)hash;
}

/* Keys have a few words, so a call of memcmp() would take longer. */
static bool is_key_equal(const struct buffer_items *items, const void *a, const void *b)
{
	for (size_t i = 0; i < items->key_bytes; i += sizeof(uint32_t)) {
		if (word_at(a, i) != word_at(b, i))
			return false;
	}
	return true;
}

/* Returns the slot of an item with that key, or the free slot where it would be. */
static uint32_t slot_of(const struct buffer_items *items, const void *item)
{
	uint32_t mask = items->index.slot_count - 1, slot = hash_of(items, item) & mask;

	while (items->index.slots[slot] &&
	       !is_key_equal(items, buffer_items_get(items, items->index.slots[slot] - 1), item))
		slot = (slot + 1) & mask;
	return slot;
}

/* Keep half of the slots free. Returns false if memory is short. */
static bool make_slots(struct buffer_items *items)
{
	uint32_t count = buffer_items_count(items), wanted = items->index.slot_count;
	struct buffer_index old = items->index;

	if (2 * (count + 1) <= wanted)
		return true;
	wanted = wanted ? 2 * wanted : SLOTS_MIN;
	items->index.slots = calloc(wanted, sizeof(*old.slots));
	if (!items->index.slots) {
		items->index = old;
		return false;
	}
	items->index.slot_count = wanted;
	for (uint32_t i = 0; i < count; i++)
		items->index.slots[slot_of(items, buffer_items_get(items, i))] = i + 1;
	free(old.slots);
	return true;
}

uint32_t buffer_items_find(const struct buffer_items *items, const void *item)
{
	/* An empty slot has 0, so the result is UINT32_MAX. */
	return items->index.slot_count ? items->index.slots[slot_of(items, item)] - 1 : UINT32_MAX;
}

uint32_t buffer_items_add(struct buffer_items *items, const void *item)
{
	uint32_t number = buffer_items_count(items);

	if (!make_slots(items) || !buffer_add(&items->items, item, items->item_bytes))
		return UINT32_MAX;
	items->index.slots[slot_of(items, item)] = number + 1;
	return number;
}

void buffer_items_deinit(struct buffer_items *items)
{
	buffer_deinit(&items->items);
	free(items->index.slots);
	items->index = (struct buffer_index){0};
}

void buffer_items_reset(struct buffer_items *items)
{
	size_t slot_bytes = items->index.slot_count * sizeof(*items->index.slots);

	buffer_reset(&items->items);
	if (slot_bytes > BUFFER_KEPT_BYTES) {
		free(items->index.slots);
		items->index = (struct buffer_index){0};
	} else if (slot_bytes) {
		memset(items->index.slots, 0, slot_bytes);
	}
}
