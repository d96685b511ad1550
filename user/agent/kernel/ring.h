/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reader's side of a BPF ring buffer, over its own pages: it tells
 * positions, which a round needs (live_source.c), and works with any libbpf.
 */
#ifndef JITBPF_AGENT_KERNEL_RING_H
#define JITBPF_AGENT_KERNEL_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	int fd;		     /* of the map; borrowed */
	void *consumer_page; /* we write our position here */
	const void *producer_page;
	const uint8_t *data;
	size_t size_bytes;
	uint8_t *wrapped; /* a record that lies at both ends, in one piece */
	size_t wrapped_bytes;
};

/* Map the ring of map fd, which has size_bytes. Returns 0 or negative errno. */
int ring_init(struct ring *ring, int fd, size_t size_bytes);
void ring_deinit(struct ring *ring);

/* How far producers have reserved; and how far we have read. In bytes since the beginning. */
uint64_t ring_reserved(const struct ring *ring);
uint64_t ring_consumed(const struct ring *ring);

/* Takes one record, borrowed until it returns; 8-aligned. Returns 0 or negative errno. */
typedef int (*ring_taker_fn)(void *context, const void *record, size_t size_bytes);

/*
 * Hand over the records that had been reserved when this began, up to the first
 * that is not yet committed: what comes meanwhile waits for the next call, so
 * that no producer, however busy, can keep it from ending. Returns 0, -ENOMEM or
 * the taker's error (the record counts as read).
 */
int ring_drain(struct ring *ring, ring_taker_fn take, void *context);

#endif
