/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The input as deflate data: the same contents as zlib's, or refused as by zlib. A second decoder
 * resumes at each boundary of blocks.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "decode/elf/deflate_stream.h"

#define CONTENTS_MAX (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Returns true if the stream is whole, with *ret_bytes of contents. */
static bool inflate_by_zlib(const uint8_t *data, size_t size_bytes, uint8_t *to, size_t *ret_bytes)
{
	z_stream stream = {.next_in = (uint8_t *)data,
			   .avail_in = (uInt)size_bytes,
			   .next_out = to,
			   .avail_out = CONTENTS_MAX};
	int status;

	if (inflateInit2(&stream, -15) != Z_OK)
		abort();
	status = inflate(&stream, Z_FINISH);
	*ret_bytes = CONTENTS_MAX - stream.avail_out;
	inflateEnd(&stream);
	return status == Z_STREAM_END;
}

static void feed(struct deflate_stream *stream, const uint8_t *data, size_t size_bytes, size_t *at)
{
	size_t room, left = size_bytes - *at;
	uint8_t *to = deflate_stream_room(stream, &room);

	room = room < left ? room : left;
	memcpy(to, data + *at, room);
	*at += room;
	deflate_stream_feed(stream, room, *at == size_bytes);
}

/* Begin anew at a boundary, as a reader does that comes back. */
static void resume(struct deflate_stream *stream, const uint8_t *data, size_t *at)
{
	uint8_t history[DEFLATE_HISTORY_BYTES], bits;
	size_t history_bytes, left = deflate_stream_unread(stream, &bits);
	const uint8_t *from = deflate_stream_history(stream, &history_bytes);

	memcpy(history, from, history_bytes);
	*at -= left;
	deflate_stream_resume(stream, bits ? data[*at - 1] : 0, bits, history, history_bytes);
}

static bool inflate_by_us(const uint8_t *data, size_t size_bytes, bool resumes, uint8_t *to,
			  size_t *ret_bytes)
{
	struct deflate_stream *stream = malloc(sizeof(*stream));
	size_t at = 0, done = 0;
	int event = DEFLATE_FULL;

	if (!stream)
		abort();
	deflate_stream_resume(stream, 0, 0, NULL, 0);
	while (event >= 0 && event != DEFLATE_END) {
		event = deflate_stream_run(stream);
		done += deflate_stream_take(stream, to + done, CONTENTS_MAX - done);
		if (deflate_stream_ahead(stream))
			break; /* it has more than CONTENTS_MAX */
		if (event == DEFLATE_HUNGRY)
			feed(stream, data, size_bytes, &at);
		if (event == DEFLATE_BOUNDARY && resumes)
			resume(stream, data, &at);
	}
	free(stream);
	*ret_bytes = done;
	return event == DEFLATE_END;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *theirs = malloc(CONTENTS_MAX), *ours = malloc(CONTENTS_MAX);
	size_t their_bytes, our_bytes;
	bool whole;

	if (!theirs || !ours)
		abort();
	whole = inflate_by_zlib(data, size_bytes, theirs, &their_bytes);
	for (int resumes = 0; resumes < 2; resumes++) {
		bool ours_whole = inflate_by_us(data, size_bytes, resumes, ours, &our_bytes);

		if (their_bytes < CONTENTS_MAX && ours_whole != whole)
			abort();
		if (whole && (our_bytes != their_bytes || memcmp(ours, theirs, our_bytes)))
			abort();
	}
	free(theirs);
	free(ours);
	return 0;
}
