/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/reading/window_blob.h"

#include <stdlib.h>

#include "agent/files/reading/read_window.h"

struct window {
	struct window_source source;
	uint64_t size_bytes;
	struct read_window window;
};

/* Read a range in pieces. */
static int read_pieces(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct window *window = context;
	uint8_t *to = buf;

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

static int read_at(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct window *window = context;

	return read_window_get(&window->window, window->size_bytes, read_pieces, window, offset,
			       buf, size_bytes);
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
	window->window.offset = window->window.bytes = 0;
	*ret = (struct blob){
		.size_bytes = size_bytes,
		.read = read_at,
		.close = close_window,
		.context = window,
	};
	return 0;
}
