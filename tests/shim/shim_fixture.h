/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The shim as an engine sees it, and its records as BPF sees them, without a
 * kernel's help: the probe site is overwritten in memory with a jump to a
 * recorder, and the semaphore raised by hand.
 */
#ifndef JITBPF_TESTS_SHIM_FIXTURE_H
#define JITBPF_TESTS_SHIM_FIXTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/shim/usdt_site.h"
#include "uapi/jit_record.h"

struct shim {
	const char *path;
	unsigned int (*initialize)(void);
	unsigned int (*notify)(unsigned int event, const void *data);
	int (*ijit_notify)(unsigned int event, const void *data);
	unsigned int (*is_active)(void);
	unsigned int (*new_method_id)(void);
	struct usdt_site site;
};

/* Load the library that $JITBPF_SHIM names; fails the test where it cannot. */
void shim_open(struct shim *shim);

/* From now on every hit of the probe is recorded, on all threads. */
void shim_listen(struct shim *shim);

/* One hit of the probe: its arguments, and a copy of what they pointed at. */
struct hit {
	const uint8_t *bytes;
	uint64_t size_bytes;
	uint64_t sequence;
	uint32_t event;
	uint32_t tid; /* who really made it */
};

/* Called inside each hit while it is set; may call NotifyEvent. */
extern void (*volatile shim_on_hit)(const struct hit *hit);

/* Forget all hits; hits go on being recorded. */
void hits_clear(void);
size_t hits_count(void);
const struct hit *hit_at(size_t index);

/* A record put together from its hits; the fields stay until hits_clear(). */
struct whole_record {
	struct jitbpf_jit_header header; /* of its first part */
	const uint8_t *fields;
	size_t field_bytes;
};

/*
 * Put together the record of that sequence number. Checks on the way that its
 * hits are of one thread, in order and complete, all but the last full, and
 * every header the first one's but for size and part.
 */
bool record_of(uint64_t sequence, struct whole_record *ret);

/* A payload or an expected field stream, written byte by byte. */
struct bytes {
	uint8_t *data;
	size_t size;
};

void bytes_put(struct bytes *bytes, const void *data, size_t size);
void bytes_put_field(struct bytes *bytes, uint32_t type, const void *data, size_t size);
void bytes_free(struct bytes *bytes);

/* Store little-endian at an offset. */
void put_u32(void *payload, size_t offset, uint32_t value);
void put_u64(void *payload, size_t offset, uint64_t value);
void put_pointer(void *payload, size_t offset, const void *value);

/* size bytes that end just before a page which cannot be read. */
uint8_t *at_edge_of_memory(size_t size);

#endif
