/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/process/process_past.h"

#include <string.h>

static void drop_first(struct process_past *past, size_t count)
{
	past->changes.size -= count;
	if (count)
		memmove(past->changes.data, past->changes.data + count,
			past->changes.size * sizeof(*past->changes.data));
}

int process_past_add(struct process_past *past, struct process_was was)
{
	if (past->changes.size) {
		uint64_t last_ns = past->changes.data[past->changes.size - 1].until_ns;

		if (was.until_ns < last_ns)
			was.until_ns = last_ns;
	}
	if (past->changes.size == PROCESS_PAST_MAX)
		drop_first(past, 1);
	return vec_push(&past->changes, was);
}

const struct process_was *process_past_at(const struct process_past *past, uint64_t time_ns)
{
	vec_for_each (was, &past->changes) {
		if (time_ns < was->until_ns)
			return was;
	}
	return NULL;
}

void process_past_forget(struct process_past *past, uint64_t time_ns)
{
	size_t count = 0;

	while (count < past->changes.size && past->changes.data[count].until_ns <= time_ns)
		count++;
	drop_first(past, count);
	if (!past->changes.size)
		process_past_deinit(past);
}

void process_past_deinit(struct process_past *past)
{
	vec_deinit(&past->changes);
}
