/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Entries of a space map that are no longer in force, in the order in which they ended. Entries
 * end nearly in order, and most look-ups are of a recent time, so additions and look-ups search
 * from the latest end backwards. A zero-initialized history is empty.
 */
#ifndef JITBPF_STATE_SPACE_SPACE_HISTORY_H
#define JITBPF_STATE_SPACE_SPACE_HISTORY_H

#include <stddef.h>
#include <stdint.h>

#include "state/space/space_value.h"

struct space_entry {
	uint64_t start, end;
	uint64_t from_ns; /* in force at [from_ns, to_ns) */
	uint64_t to_ns;	  /* UINT64_MAX: still in force */
	struct space_value *value;
};

struct space_history {
	struct space_entry *data; /* `first` unused slots, then `size` entries, by to_ns */
	size_t first, size, capacity;
};

/* Reserve room for count more entries. Returns 0 or -ENOMEM. */
int space_history_reserve(struct space_history *history, size_t count);

/*
 * Add an entry, behind those that ended at the same time. Takes over its reference to the
 * value. space_history_reserve() has made room.
 */
void space_history_add(struct space_history *history, const struct space_entry *entry);

/* Returns entry i, by to_ns: 0 to space_history_size() - 1. */
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
 * Returns the entry that covered address at time_ns, or NULL. If entries overlap because of late
 * records, returns the entry that came into force last. The cost grows with the number of entries
 * that ended since time_ns.
 */
const struct space_entry *space_history_find(const struct space_history *history, uint64_t address,
					     uint64_t time_ns);

/* Drop the entries that ended before time_ns. */
void space_history_forget(struct space_history *history, uint64_t time_ns);

void space_history_deinit(struct space_history *history);

#endif
