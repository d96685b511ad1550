/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Values of deltas, and the samples of an event. */
#include <string.h>

#include "sink/live/delta_format.h"
#include "sink/live/delta_reading.h"

const char *delta_take_text(struct delta_reading *r, size_t *ret_bytes)
{
	uint64_t size = delta_take(r);
	const void *bytes = NULL;

	if (!r->error && (size > cursor_left(&r->at) || cursor_take(&r->at, size, &bytes) ||
			  memchr(bytes, 0, size)))
		delta_fail(r, -EBADMSG);
	*ret_bytes = size;
	return r->error ? NULL : bytes;
}

void delta_take_fields(struct delta_reading *r, void *object, const struct delta_fields *fields,
		       size_t field_count)
{
	uint64_t distance = delta_take(r);

	for (size_t i = 0; i < field_count; i++) {
		uint64_t *values = (uint64_t *)((char *)object + fields[i].offset);

		for (uint32_t k = 0; k < fields[i].count; k++) {
			values[k] = distance == 1 ? delta_take(r) : 0;
			if (distance == 1)
				distance = delta_take(r);
			else if (distance)
				distance--;
		}
	}
	if (distance)
		delta_fail(r, -EBADMSG);
}

void delta_take_items(struct delta_reading *r, void (*take_item)(struct delta_reading *r))
{
	uint64_t count = delta_take(r);

	for (uint64_t i = 0; i < count && !r->error; i++)
		take_item(r);
}

void delta_take_changed(struct delta_reading *r, size_t size,
			void (*take_item)(struct delta_reading *r, uint32_t number))
{
	uint64_t count = delta_take(r);
	uint32_t number = 0;

	for (uint64_t i = 0; i < count && !r->error; i++) {
		number += delta_take_below(r, size - number);
		if (!r->error)
			take_item(r, number);
	}
}

static void take_node(struct delta_reading *r)
{
	struct delta_samples *to = r->to;
	uint32_t number = (uint32_t)to->profile.nodes.size;
	uint32_t above = delta_take_below(r, (uint64_t)number + 1);
	struct profile_node node = {.parent = above ? number - above : PROFILE_NODE_NONE};
	struct profile_root root = {.node = number};

	if (above) {
		node.location = delta_take_below(r, r->profile->locations.locations.size);
	} else {
		node.location = delta_take_below(r, PROFILE_NODE_NONE);
		root.comm = delta_take_string_number(r);
		DELTA_ADD(r, &to->profile.roots, root);
		if (node.location >= to->rows_due)
			to->rows_due = node.location + 1;
	}
	DELTA_ADD(r, &to->profile.nodes, node);
}

static void take_thread(struct delta_reading *r)
{
	struct sampled_thread thread;

	thread.pid = delta_take_u32(r);
	thread.tid = delta_take_u32(r);
	thread.comm = delta_take_string_number(r);
	thread.container = delta_take_string_number(r);
	thread.unit = delta_take_string_number(r);
	DELTA_ADD(r, &r->to->threads.threads, thread);
}

static void take_count(struct delta_reading *r)
{
	struct delta_samples *to = r->to;
	struct thread_count count;

	count.node = delta_take_below(r, to->profile.nodes.size);
	count.thread = delta_take_below(r, to->threads.threads.size);
	count.samples = delta_take(r);
	DELTA_ADD(r, &to->threads.counts, count);
	if (!r->error)
		to->profile.nodes.data[count.node].self += count.samples;
}

static void take_counted_item(struct delta_reading *r, uint32_t number)
{
	struct delta_samples *to = r->to;
	struct thread_count *count = &to->threads.counts.data[number];
	uint64_t samples = delta_take(r);

	if (r->error)
		return;
	to->profile.nodes.data[count->node].self += samples - count->samples;
	count->samples = samples;
}

void delta_take_samples(struct delta_reading *r)
{
	delta_take_items(r, take_node);
	delta_take_items(r, take_thread);
	delta_take_items(r, take_count);
}

void delta_take_counted(struct delta_reading *r)
{
	delta_take_changed(r, r->to->threads.counts.size, take_counted_item);
}

void delta_samples_deinit(struct delta_samples *samples)
{
	thread_counts_deinit(&samples->threads);
	time_slices_deinit(&samples->slices);
	profile_deinit(&samples->profile);
}
