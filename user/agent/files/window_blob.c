/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/window_blob.h"

#include <stdlib.h>

#define PAGE_BYTES   4096
#define WINDOW_BYTES (16u << 10) /* minimum size of a read from the source */

struct window {
	struct window_source source;
	uint64_t size_bytes;
	uint64_t offset;
	uint32_t bytes_read;
	uint8_t bytes[WINDOW_BYTES];
};

static int read_through(struct window *window, uint64_t offset, void *buf, size_t size_bytes)
{
	if (offset < window->offset || offset + size_bytes > window->offset + window->bytes_read) {
		uint64_t start = offset - offset % PAGE_BYTES, left = window->size_bytes - start;
		uint32_t bytes = left < WINDOW_BYTES ? (uint32_t)left : WINDOW_BYTES;
		int err;

		window->bytes_read = 0;
		err = window->source.read(window->source.context, start, window->bytes, bytes);
		if (err)
			return err;
		window->offset = start;
		window->bytes_read = bytes;
	}
	memcpy(buf, window->bytes + (offset - window->offset), size_bytes);
	return 0;
}

static int read_at(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct window *window = context;
	uint8_t *to = buf;

	if (size_bytes <= WINDOW_BYTES / 2)
		return read_through(window, offset, buf, size_bytes);
	while (size_bytes) {
		size_t piece = size_bytes < WINDOW_PIECE_MAX ? size_bytes : WINDOW_PIECE_MAX;
		int err = window->source.read(window->source.context, offset, to, piece);

		if (err)
			return err;
		to += piece;
		offset += piece;
		size_bytes -= piece;
	}
	return 0;
}

static void close_window(void *context)
{
	struct window *window = context;

	window->source.close(window->source.context);
	free(window);
}

int window_blob_create(const struct window_source *source, uint64_t size_bytes, struct blob *ret)
{
	struct window *window = malloc(sizeof(*window));

	if (!window)
		return -ENOMEM;
	window->source = *source;
	window->size_bytes = size_bytes;
	window->offset = window->bytes_read = 0;
	*ret = (struct blob){
		.size_bytes = size_bytes,
		.read = read_at,
		.close = close_window,
		.context = window,
	};
	return 0;
}
