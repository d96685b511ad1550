/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "base/shared_bytes.h"

#include <stdlib.h>
#include <string.h>

struct shared_bytes *shared_bytes_create(const void *data, size_t size_bytes)
{
	struct shared_bytes *bytes = malloc(sizeof(*bytes) + size_bytes);

	if (!bytes)
		return NULL;
	atomic_init(&bytes->refs, 1);
	bytes->size_bytes = size_bytes;
	if (size_bytes)
		memcpy(bytes->data, data, size_bytes);
	return bytes;
}

struct shared_bytes *shared_bytes_get(struct shared_bytes *bytes)
{
	atomic_fetch_add_explicit(&bytes->refs, 1, memory_order_relaxed);
	return bytes;
}

void shared_bytes_put(struct shared_bytes *bytes)
{
	/* Release and acquire: the accesses of other threads come before the free(). */
	if (bytes && atomic_fetch_sub_explicit(&bytes->refs, 1, memory_order_acq_rel) == 1)
		free(bytes);
}
