/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A reader of a BPF ring buffer, over the mapped pages. Unlike libbpf's reader, it provides the
 * positions of producers and consumer, which the drain of a round needs (live_drain.c).
 */
#ifndef JITBPF_AGENT_KERNEL_BPF_RING_H
#define JITBPF_AGENT_KERNEL_BPF_RING_H

#include <stddef.h>
#include <stdint.h>

struct ring {
	int fd;		     /* of the BPF map; borrowed */
	void *consumer_page; /* the reader writes its position here */
	const void *producer_page;
	const uint8_t *data;
	size_t size_bytes;
	uint8_t *wrapped; /* copy of a record that wraps around the end of the ring */
	size_t wrapped_bytes;
};

/* Map the ring of map fd, which has size_bytes. Returns 0 or negative errno. */
int ring_init(struct ring *ring, int fd, size_t size_bytes);
void ring_deinit(struct ring *ring);

/* Return the positions up to which producers have reserved, and records were read, in bytes. */
uint64_t ring_reserved(const struct ring *ring);
uint64_t ring_consumed(const struct ring *ring);

/* Takes one record, which is borrowed and 8-byte aligned. Returns 0 or a negative errno. */
typedef int (*ring_taker_fn)(void *context, const void *record, size_t size_bytes);

/*
 * Pass the records that are reserved at the time of the call to take(), up to the first one that
 * is not committed. Later records wait for the next call, so a busy producer cannot prolong it.
 * Returns 0, -ENOMEM, or the taker's error; the record that caused it counts as read.
 */
int ring_drain(struct ring *ring, ring_taker_fn take, void *context);

#endif
