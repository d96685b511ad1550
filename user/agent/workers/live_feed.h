/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Passes the deltas of a live sink to readers on other threads. Each reader has a queue of its own,
 * and gets only deltas that it can apply: in each epoch, a delta begins at the state to which the
 * previous delta leads.
 *
 * A reader that is opened late gets a snapshot. So does a reader that is too slow: when its queue
 * exceeds its limit, the queue is dropped, and counted.
 */
#ifndef JITBPF_AGENT_WORKERS_LIVE_FEED_H
#define JITBPF_AGENT_WORKERS_LIVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/shared_bytes.h"

struct live_feed;
struct live_reader;

/* Returns 0 or -ENOMEM. Destroy it after its readers are closed and its sink is destroyed. */
int live_feed_create(struct live_feed **ret);
void live_feed_destroy(struct live_feed *feed); /* NULL is allowed */

/* For live_sink_create(), with the feed as context. Never waits for a reader. */
bool live_feed_publish(void *feed, struct shared_bytes *delta, bool snapshot);

/* End the feed: readers still get the deltas in their queues. Any thread. */
void live_feed_end(struct live_feed *feed);

/*
 * Open a reader whose queue holds up to max_bytes, which must be several times the size of
 * a delta. Any thread. Returns 0 or -ENOMEM.
 */
int live_reader_open(struct live_feed *feed, size_t max_bytes, struct live_reader **ret);
void live_reader_close(struct live_reader *reader); /* NULL is allowed */

/*
 * Returns the next delta, whose reference the caller owns. If the queue is empty: waits,
 * and returns NULL at the end; or returns NULL at once without `wait`.
 */
struct shared_bytes *live_reader_take(struct live_reader *reader, bool wait);

/* Returns how many times the queue was dropped. */
uint64_t live_reader_dropped(struct live_reader *reader);

#endif
