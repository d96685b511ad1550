/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/reading/read_window.h"

#include <string.h>

#define PAGE_BYTES 4096

static int fill(struct read_window *window, uint64_t file_bytes, read_window_fn read, void *context,
		uint64_t offset)
{
	uint64_t start = offset - offset % PAGE_BYTES, left = file_bytes - start;
	uint32_t bytes = left < READ_WINDOW_BYTES ? (uint32_t)left : READ_WINDOW_BYTES;
	int err;

	window->bytes = 0;
	err = read(context, start, window->data, bytes);
	if (err)
		return err;
	window->offset = start;
	window->bytes = bytes;
	return 0;
}

int read_window_get(struct read_window *window, uint64_t file_bytes, read_window_fn read,
		    void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	int err = 0;

	if (size_bytes > READ_WINDOW_BYTES / 2)
		return read(context, offset, buf, size_bytes);
	if (offset < window->offset || offset + size_bytes > window->offset + window->bytes)
		err = fill(window, file_bytes, read, context, offset);
	if (!err)
		memcpy(buf, window->data + (offset - window->offset), size_bytes);
	return err;
}
