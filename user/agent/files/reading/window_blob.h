/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A blob whose bytes come from another process, in pieces. Small reads, as of
 * headers, are near each other, so they go through a window.
 */
#ifndef JITBPF_AGENT_FILES_READING_WINDOW_BLOB_H
#define JITBPF_AGENT_FILES_READING_WINDOW_BLOB_H

#include "base/blob.h"

#define WINDOW_PIECE_MAX (64u << 10)

struct window_source {
	/* Read all of a piece of at most WINDOW_PIECE_MAX. Returns 0 or a negative errno. */
	int (*read)(void *context, uint64_t offset, void *buf, size_t size_bytes);
	void (*close)(void *context);
	void *context;
};

/*
 * Create a blob of size_bytes. source is copied; its close() is called with the blob's. Returns 0
 * or -ENOMEM.
 */
int window_blob_create(const struct window_source *source, uint64_t size_bytes, struct blob *ret);

#endif
