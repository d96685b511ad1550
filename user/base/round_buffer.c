/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/round_buffer.h"

#include <string.h>

int round_buffer_add(struct round_buffer *buffer, const struct jitbpf_record *record)
{
	struct round_entry entry = {.time_ns = record->time_ns, .offset = buffer->bytes.size};
	size_t padded = (record->size_bytes + 7u) & ~(size_t)7;
	int err = vec_reserve(&buffer->bytes, buffer->bytes.size + padded);

	err = err ?: vec_push(&buffer->entries, entry);
	if (err)
		return err;
	memcpy(buffer->bytes.data + buffer->bytes.size, record, record->size_bytes);
	buffer->bytes.size += padded;
	return 0;
}

static int compare(const void *a_, const void *b_)
{
	const struct round_entry *a = a_, *b = b_;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

int round_buffer_drain(struct round_buffer *buffer,
		       int (*take)(void *context, const struct jitbpf_record *record),
		       void *context)
{
	int err = 0;

	qsort(buffer->entries.data, buffer->entries.size, sizeof(*buffer->entries.data), compare);
	vec_for_each (entry, &buffer->entries) {
		err = take(context,
			   (const struct jitbpf_record *)(buffer->bytes.data + entry->offset));
		if (err)
			break;
	}
	buffer->entries.size = buffer->bytes.size = 0;
	return err;
}

void round_buffer_deinit(struct round_buffer *buffer)
{
	vec_deinit(&buffer->bytes);
	vec_deinit(&buffer->entries);
}
