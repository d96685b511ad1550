/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A BPF ring buffer over a memory file that is laid out as the kernel does it, with a producer. */
#ifndef JITBPF_TESTS_UNIT_AGENT_KERNEL_MADE_RING_H
#define JITBPF_TESTS_UNIT_AGENT_KERNEL_MADE_RING_H

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define MADE_RING_BYTES 4096u

/* A page with each position, then the data. */
struct made_ring {
	uint8_t *consumer_page, *producer_page, *data;
	size_t page_bytes;
	int fd; /* for ring_init() */
};

/* Returns 0 or a negative errno. */
static inline int made_ring_init(struct made_ring *ret)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	uint8_t *mapped;

	ret->fd = memfd_create("ring", MFD_CLOEXEC);
	if (ret->fd < 0 || ftruncate(ret->fd, (off_t)(2 * page + MADE_RING_BYTES)))
		return -errno;
	mapped = mmap(NULL, 2 * page + MADE_RING_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, ret->fd,
		      0);
	if (mapped == MAP_FAILED)
		return -errno;
	ret->consumer_page = mapped;
	ret->producer_page = mapped + page;
	ret->data = mapped + 2 * page;
	ret->page_bytes = page;
	return 0;
}

static inline void made_ring_deinit(struct made_ring *ring)
{
	munmap(ring->consumer_page, 2 * ring->page_bytes + MADE_RING_BYTES);
	close(ring->fd);
}

static inline uint64_t *made_ring_position(struct made_ring *ring)
{
	return (uint64_t *)ring->producer_page;
}

/* Set the header of the record at a position: its size, and BPF_RINGBUF_* bits. */
static inline void made_ring_set_length(struct made_ring *ring, uint64_t at, uint32_t length)
{
	__atomic_store_n((uint32_t *)(ring->data + at % MADE_RING_BYTES), length, __ATOMIC_RELEASE);
}

/* Reserve a record with a copy of `record`, and bits set in its header. Returns its position. */
static inline uint64_t made_ring_reserve(struct made_ring *ring, const void *record, uint32_t bytes,
					 uint32_t bits)
{
	uint64_t at = *made_ring_position(ring);

	for (uint32_t i = 0; i < bytes; i++)
		ring->data[(at + BPF_RINGBUF_HDR_SZ + i) % MADE_RING_BYTES] =
			((const uint8_t *)record)[i];
	made_ring_set_length(ring, at, bytes | bits);
	__atomic_store_n(made_ring_position(ring), at + ((bytes + BPF_RINGBUF_HDR_SZ + 7u) & ~7ull),
			 __ATOMIC_RELEASE);
	return at;
}

#endif
