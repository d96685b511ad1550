/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the deltas of a feed to sockets, each on a thread of its own with a queue of its own
 * (agent/workers/live_feed.h). So a socket that nobody reads delays nothing else. For the format
 * see agent/server/server_message.h.
 */
#ifndef JITBPF_AGENT_SERVER_LIVE_STREAMS_H
#define JITBPF_AGENT_SERVER_LIVE_STREAMS_H

#include <stdint.h>

#include "agent/workers/live_feed.h"

struct live_streams;

/* feed is borrowed. Returns 0 or -ENOMEM. */
int live_streams_create(struct live_feed *feed, struct live_streams **ret);

/* Write to a socket, which is owned from now on, also after an error. Returns 0 or a negative
 * errno: -EBUSY if there are SERVER_STREAMS_MAX. */
int live_streams_add(struct live_streams *streams, int socket);

/* Release those whose other end is closed. Returns how many are left. */
uint32_t live_streams_reap(struct live_streams *streams);

/* Returns how many times a reader was too slow, and started over with a snapshot. */
uint64_t live_streams_dropped(const struct live_streams *streams);

/* Call it after live_feed_end(). Waits up to limit_ms until all is written. NULL is allowed. */
void live_streams_destroy(struct live_streams *streams, uint32_t limit_ms);

#endif
