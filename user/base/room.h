/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Room for new items of a table: the owner of a table sets a function that charges each new item to
 * a budget. Items that are in the table already need no room. Zero-initialized: no limit.
 */
#ifndef JITBPF_BASE_ROOM_H
#define JITBPF_BASE_ROOM_H

#include <stdbool.h>
#include <stdint.h>

struct room {
	bool (*take)(void *context, uint64_t bytes); /* false: there is no room */
	void *context;
};

/* Take room for a new item; NULL: no limit. Returns false if there is none. */
static inline bool room_take(const struct room *room, uint64_t bytes)
{
	return !room || !room->take || room->take(room->context, bytes);
}

#endif
