/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A window of a file: small reads, as of headers, are near each other, and share one request. */
#ifndef JITBPF_AGENT_FILES_READING_READ_WINDOW_H
#define JITBPF_AGENT_FILES_READING_READ_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#define READ_WINDOW_BYTES (16u << 10)

/* Cached bytes of a file; none if `bytes` is 0. */
struct read_window {
	uint64_t offset;
	uint32_t bytes;
	uint8_t data[READ_WINDOW_BYTES];
};

/* As in struct blob. */
typedef int (*read_window_fn)(void *context, uint64_t offset, void *buf, size_t size_bytes);

/* Read a range that is inside the file. Returns 0 or the error of `read`. */
int read_window_get(struct read_window *window, uint64_t file_bytes, read_window_fn read,
		    void *context, uint64_t offset, void *buf, size_t size_bytes);

#endif
