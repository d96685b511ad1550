/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "state/space/space_history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CAPACITY_MIN 16

static void move_to_front(struct space_history *history)
{
	if (history->first && history->size)
		memmove(history->data, history->data + history->first,
			history->size * sizeof(*history->data));
	history->first = 0;
}

int space_history_reserve(struct space_history *history, size_t count)
{
	size_t wanted, capacity;
	struct space_entry *data;

	if (count <= history->capacity - history->first - history->size)
		return 0;
	if (count > SIZE_MAX / 2 - history->size)
		return -ENOMEM;
	wanted = history->size + count;
	/* Moves only if as many were dropped: one move per entry, amortized. */
	if (wanted <= history->first) {
		move_to_front(history);
		return 0;
	}
	/* The unused slots in front stay, so that a failure changes nothing. */
	wanted += history->first;
	capacity = history->capacity * 2;
	if (capacity < CAPACITY_MIN)
		capacity = CAPACITY_MIN;
	if (capacity < wanted)
		capacity = wanted;
	data = reallocarray(history->data, capacity, sizeof(*data));
	if (!data)
		return -ENOMEM;
	history->data = data;
	history->capacity = capacity;
	move_to_front(history);
	return 0;
}

void space_history_add(struct space_history *history, const struct space_entry *entry)
{
	struct space_entry *at = history->data + history->first + history->size;
	struct space_entry *end = at;

	while (at > history->data + history->first && at[-1].to_ns > entry->to_ns)
		at--;
	memmove(at + 1, at, (size_t)(end - at) * sizeof(*at));
	*at = *entry;
	history->size++;
}

const struct space_entry *space_history_find(const struct space_history *history, uint64_t address,
					     uint64_t time_ns)
{
	const struct space_entry *best = NULL;

	for (size_t i = history->size; i--;) {
		const struct space_entry *entry = space_history_at(history, i);

		if (entry->to_ns <= time_ns)
			break;
		if (entry->start <= address && address < entry->end && entry->from_ns <= time_ns &&
		    (!best || entry->from_ns > best->from_ns))
			best = entry;
	}
	return best;
}

/* Free memory that is no longer needed after a burst of changes. */
static void shrink(struct space_history *history)
{
	size_t capacity = history->size * 2 > CAPACITY_MIN ? history->size * 2 : CAPACITY_MIN;
	struct space_entry *data;

	if (history->capacity / 8 < capacity)
		return;
	move_to_front(history);
	data = reallocarray(history->data, capacity, sizeof(*data));
	if (!data)
		return;
	history->data = data;
	history->capacity = capacity;
}

void space_history_forget(struct space_history *history, uint64_t time_ns)
{
	while (history->size && history->data[history->first].to_ns < time_ns) {
		struct space_value *value = history->data[history->first].value;

		history->first++;
		history->size--;
		space_value_put(value);
	}
	shrink(history);
}

void space_history_deinit(struct space_history *history)
{
	for (size_t i = 0; i < history->size; i++)
		space_value_put(history->data[history->first + i].value);
	free(history->data);
	*history = (struct space_history){0};
}
