/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A blob: the bytes of a file, read on demand through a callback. The core does
 * no I/O of its own: the agent supplies blobs over file descriptors, tests
 * supply blobs over memory. A blob never maps the file, so a file that is
 * truncated during a read causes an error and not a SIGBUS.
 */
#ifndef JITBPF_BASE_BLOB_H
#define JITBPF_BASE_BLOB_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct blob {
	uint64_t size_bytes;
	/* Read all of [offset, offset + size_bytes) into buf. Returns 0 or a negative errno. */
	int (*read)(void *context, uint64_t offset, void *buf, size_t size_bytes);
	void (*close)(void *context); /* may be NULL */
	void *context;
};

/* Returns true if [offset, offset + size_bytes) is inside the blob. */
static inline bool blob_has(const struct blob *blob, uint64_t offset, uint64_t size_bytes)
{
	return offset <= blob->size_bytes && size_bytes <= blob->size_bytes - offset;
}

/* Read with a bounds check. Returns -EBADMSG if the range is not inside the blob. */
static inline int blob_read(const struct blob *blob, uint64_t offset, void *buf, size_t size_bytes)
{
	if (!blob_has(blob, offset, size_bytes))
		return -EBADMSG;
	return blob->read(blob->context, offset, buf, size_bytes);
}

static inline void blob_close(struct blob *blob)
{
	if (blob->close)
		blob->close(blob->context);
	*blob = (struct blob){0};
}

static inline int blob_memory_read_(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	memcpy(buf, (const uint8_t *)context + offset, size_bytes);
	return 0;
}

/* Returns a blob over memory. The memory is borrowed and must outlive the blob. */
static inline struct blob blob_of_memory(const void *bytes, size_t size_bytes)
{
	return (struct blob){
		.size_bytes = size_bytes,
		.read = blob_memory_read_,
		.context = (void *)bytes,
	};
}

#endif
