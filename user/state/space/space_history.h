/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * What a space map held and holds no more, in order of its end. Entries end
 * nearly in order, and look-ups are nearly always of a moment ago: both work
 * from the newest end backwards. Zero-initialized is empty.
 */
#ifndef JITBPF_STATE_SPACE_SPACE_HISTORY_H
#define JITBPF_STATE_SPACE_SPACE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "state/space/space_value.h"

struct space_entry {
	uint64_t start, end;
	uint64_t from_ns; /* in force at [from_ns, to_ns) */
	uint64_t to_ns;	  /* UINT64_MAX: still is */
	struct space_value *value;
};

struct space_history {
	struct space_entry *data; /* first those forgotten, then those in use, by to_ns */
	size_t first, size, capacity;
};

/* Make room for count more. Returns 0 or -ENOMEM. */
int space_history_reserve(struct space_history *history, size_t count);

/*
 * Add an entry, behind those that ended at the same time; takes over its
 * reference to the value. There must be room.
 */
void space_history_add(struct space_history *history, const struct space_entry *entry);

/* The entry of number i, in order of the end: 0 to space_history_size() - 1. */
static inline const struct space_entry *space_history_at(const struct space_history *history,
							 size_t i)
{
	return &history->data[history->first + i];
}

static inline size_t space_history_size(const struct space_history *history)
{
	return history->size;
}

/*
 * What covered address at time_ns, or NULL. Where several did (records came
 * late), the one that came into force last. Costs what has ended since time_ns.
 */
const struct space_entry *space_history_find(const struct space_history *history, uint64_t address,
					     uint64_t time_ns);

/* Drop what ended before time_ns. */
void space_history_forget(struct space_history *history, uint64_t time_ns);

void space_history_deinit(struct space_history *history);

#endif
