/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Immutable bytes with an atomic reference count. One thread makes them. Any thread may hold and
 * read them. The last holder frees them.
 */
#ifndef JITBPF_BASE_SHARED_BYTES_H
#define JITBPF_BASE_SHARED_BYTES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

struct shared_bytes {
	atomic_uint refs;
	size_t size_bytes;
	uint8_t data[];
};

/* Returns a copy of data with one reference, or NULL (no memory). */
struct shared_bytes *shared_bytes_create(const void *data, size_t size_bytes);

/* Take another reference; returns bytes. */
struct shared_bytes *shared_bytes_get(struct shared_bytes *bytes);

void shared_bytes_put(struct shared_bytes *bytes); /* NULL is allowed */

#endif
