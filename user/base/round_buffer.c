/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/round_buffer.h"

#include <errno.h>
#include <stdbool.h>
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

/* Copy entries later than until_ns into `later`. Returns the number of entries to deliver now. */
static size_t split_later(struct round_buffer *buffer, uint64_t until_ns)
{
	size_t now = buffer->entries.size, bytes = 0;

	while (now && buffer->entries.data[now - 1].time_ns > until_ns)
		bytes += padded_bytes(record_of(buffer, &buffer->entries.data[--now])->size_bytes);
	buffer->later.size = 0;
	if (vec_reserve(&buffer->later, bytes))
		return buffer->entries.size;
	for (size_t i = now; i < buffer->entries.size; i++) {
		const struct jitbpf_record *record = record_of(buffer, &buffer->entries.data[i]);

		memcpy(buffer->later.data + buffer->later.size, record, record->size_bytes);
		buffer->entries.data[i].offset = buffer->later.size;
		buffer->later.size += padded_bytes(record->size_bytes);
	}
	return now;
}

/* Returns true if memory is left over from a larger round. */
static bool is_too_large(size_t capacity, size_t used, size_t item_bytes)
{
	return capacity > KEPT_BYTES / item_bytes && used < capacity / 4;
}

/* Drop the delivered entries, so that only the records in `later` are left. */
static void keep_later(struct round_buffer *buffer, size_t from)
{
	round_bytes handed_over = buffer->bytes;
	size_t count = buffer->entries.size;

	buffer->bytes = buffer->later;
	buffer->later = handed_over;
	if (is_too_large(handed_over.capacity, handed_over.size, 1))
		vec_deinit(&buffer->later);
	buffer->entries.size -= from;
	if (buffer->entries.size)
		memmove(buffer->entries.data, buffer->entries.data + from,
			buffer->entries.size * sizeof(*buffer->entries.data));
	else if (is_too_large(buffer->entries.capacity, count, sizeof(*buffer->entries.data)))
		vec_deinit(&buffer->entries);
}

int round_buffer_drain(struct round_buffer *buffer, uint64_t until_ns,
		       int (*take)(void *context, const struct jitbpf_record *record),
		       void *context)
{
	size_t count;
	int err = 0;

	if (!buffer->entries.size)
		return 0;
	qsort(buffer->entries.data, buffer->entries.size, sizeof(*buffer->entries.data), compare);
	count = split_later(buffer, until_ns);
	for (size_t i = 0; i < count && !err; i++)
		err = take(context, record_of(buffer, &buffer->entries.data[i]));
	if (err)
		buffer->entries.size = buffer->bytes.size = 0;
	else
		keep_later(buffer, count);
	return err;
}

void round_buffer_deinit(struct round_buffer *buffer)
{
	vec_deinit(&buffer->bytes);
	vec_deinit(&buffer->entries);
	vec_deinit(&buffer->later);
}
