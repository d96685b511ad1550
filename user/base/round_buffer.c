/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/round_buffer.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES (4u << 20) /* memory that stays allocated, used or not */

static size_t padded_bytes(uint32_t size_bytes)
{
	return (size_bytes + (size_t)7) & ~(size_t)7;
}

struct jitbpf_record *round_buffer_place(struct round_buffer *buffer, uint64_t time_ns,
					 uint32_t size_bytes)
{
	struct round_entry entry = {.time_ns = time_ns, .offset = buffer->bytes.size};
	size_t padded = padded_bytes(size_bytes);

	if (vec_reserve(&buffer->bytes, buffer->bytes.size + padded) ||
	    vec_push(&buffer->entries, entry))
		return NULL;
	buffer->bytes.size += padded;
	return (struct jitbpf_record *)(buffer->bytes.data + entry.offset);
}

int round_buffer_add(struct round_buffer *buffer, uint64_t time_ns,
		     const struct jitbpf_record *record)
{
	struct jitbpf_record *copy = round_buffer_place(buffer, time_ns, record->size_bytes);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, record, record->size_bytes);
	return 0;
}

static int compare(const void *a_, const void *b_)
{
	const struct round_entry *a = a_, *b = b_;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static const struct jitbpf_record *record_of(const struct round_buffer *buffer,
					     const struct round_entry *entry)
{
	return (const struct jitbpf_record *)(buffer->bytes.data + entry->offset);
}

static int compare_offsets(const void *a_, const void *b_)
{
	const struct round_entry *a = a_, *b = b_;

	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

/* Returns true if an earlier, larger round has left too much memory allocated. */
static bool is_too_large(size_t capacity, size_t used, size_t item_bytes)
{
	return capacity > KEPT_BYTES / item_bytes && used < capacity / 4;
}

/*
 * Drop the delivered entries, which follow the first `from` ones, and move the records of the
 * others together, in their order.
 */
static void keep_later(struct round_buffer *buffer, size_t from, size_t delivered)
{
	size_t count = buffer->entries.size, left = count - from - delivered,
	       used = buffer->bytes.size;
	struct round_entry *entries = buffer->entries.data + from;

	memmove(entries, entries + delivered, left * sizeof(*entries));
	qsort(entries, left, sizeof(*entries), compare_offsets);
	buffer->entries.size = from + left;
	buffer->bytes.size = from ? buffer->left_bytes : 0;
	if (!from)
		buffer->left_ns = UINT64_MAX;
	for (size_t i = 0; i < left; i++) {
		const struct jitbpf_record *record = record_of(buffer, &entries[i]);
		size_t padded = padded_bytes(record->size_bytes);

		memmove(buffer->bytes.data + buffer->bytes.size, record, padded);
		entries[i].offset = buffer->bytes.size;
		buffer->bytes.size += padded;
		if (entries[i].time_ns < buffer->left_ns)
			buffer->left_ns = entries[i].time_ns;
	}
	buffer->left_entries = buffer->entries.size;
	buffer->left_bytes = buffer->bytes.size;
	if (is_too_large(buffer->bytes.capacity, used, 1))
		vec_fit(&buffer->bytes);
	if (is_too_large(buffer->entries.capacity, count, sizeof(*entries)))
		vec_fit(&buffer->entries);
}

static void forget_all(struct round_buffer *buffer)
{
	buffer->entries.size = buffer->bytes.size = 0;
	buffer->left_entries = buffer->left_bytes = 0;
}

int round_buffer_drain(struct round_buffer *buffer, uint64_t until_ns,
		       int (*take)(void *context, const struct jitbpf_record *record),
		       void *context)
{
	/* What earlier drains have left is not looked at before its time. */
	size_t from = until_ns < buffer->left_ns ? buffer->left_entries : 0;
	size_t count = buffer->entries.size - from;
	int err = 0;

	if (!count)
		return 0;
	qsort(buffer->entries.data + from, count, sizeof(*buffer->entries.data), compare);
	while (count && buffer->entries.data[from + count - 1].time_ns > until_ns)
		count--;
	for (size_t i = 0; i < count && !err; i++)
		err = take(context, record_of(buffer, &buffer->entries.data[from + i]));
	if (err)
		forget_all(buffer);
	else
		keep_later(buffer, from, count);
	return err;
}

void round_buffer_deinit(struct round_buffer *buffer)
{
	vec_deinit(&buffer->bytes);
	vec_deinit(&buffer->entries);
}
