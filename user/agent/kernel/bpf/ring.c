/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/ring.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_init(struct ring *ring, int fd, size_t size_bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *consumer, *producer;

	consumer = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (consumer == MAP_FAILED)
		return -errno;
	/* Map the data once. The kernel would map them twice in a row, and count both as memory. */
	producer = mmap(NULL, page + size_bytes, PROT_READ, MAP_SHARED, fd, (off_t)page);
	if (producer == MAP_FAILED) {
		int err = -errno;

		munmap(consumer, page);
		return err;
	}
	*ring = (struct ring){
		.fd = fd,
		.consumer_page = consumer,
		.producer_page = producer,
		.data = (const uint8_t *)producer + page,
		.size_bytes = size_bytes,
	};
	return 0;
}

void ring_deinit(struct ring *ring)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	if (!ring->consumer_page)
		return;
	munmap(ring->consumer_page, page);
	munmap((void *)ring->producer_page, page + ring->size_bytes);
	free(ring->wrapped);
	*ring = (struct ring){0};
}

uint64_t ring_reserved(const struct ring *ring)
{
	return __atomic_load_n((const uint64_t *)ring->producer_page, __ATOMIC_ACQUIRE);
}

uint64_t ring_consumed(const struct ring *ring)
{
	return __atomic_load_n((const uint64_t *)ring->consumer_page, __ATOMIC_RELAXED);
}

/* Returns the record behind a header as one piece, or NULL (out of memory). */
static const uint8_t *record_of(struct ring *ring, const uint8_t *header, size_t bytes)
{
	const uint8_t *record = header + BPF_RINGBUF_HDR_SZ;
	size_t left = (size_t)(ring->data + ring->size_bytes - record);

	if (bytes <= left)
		return record;
	if (bytes > ring->wrapped_bytes) {
		uint8_t *wrapped = realloc(ring->wrapped, bytes);

		if (!wrapped)
			return NULL;
		ring->wrapped = wrapped;
		ring->wrapped_bytes = bytes;
	}
	memcpy(ring->wrapped, record, left);
	memcpy(ring->wrapped + left, ring->data, bytes - left);
	return ring->wrapped;
}

int ring_drain(struct ring *ring, ring_taker_fn take, void *context)
{
	uint64_t at = ring_consumed(ring), end = ring_reserved(ring);
	int err = 0;

	while (at < end && !err) {
		const uint8_t *header = ring->data + (at & (ring->size_bytes - 1)), *record;
		uint32_t length = __atomic_load_n((const uint32_t *)header, __ATOMIC_ACQUIRE);
		uint32_t bytes = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);

		if (length & BPF_RINGBUF_BUSY_BIT)
			break;
		if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
			record = record_of(ring, header, bytes);
			err = record ? take(context, record, bytes) : -ENOMEM;
		}
		at += (bytes + BPF_RINGBUF_HDR_SZ + 7u) & ~7ull;
		__atomic_store_n((uint64_t *)ring->consumer_page, at, __ATOMIC_RELEASE);
	}
	return err;
}
