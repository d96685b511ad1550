/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A decoder of raw deflate data (RFC 1951), which resumes at any boundary of its blocks. It takes
 * half of the time of Debian's zlib, and inflating is most of what names from debug info cost.
 * It accepts what zlib accepts.
 */
#ifndef JITBPF_DECODE_ELF_DEFLATE_STREAM_H
#define JITBPF_DECODE_ELF_DEFLATE_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "decode/elf/deflate_code.h"

#define DEFLATE_HISTORY_BYTES (32u << 10)
#define DEFLATE_PIECE_BYTES   (64u << 10) /* contents that are decoded ahead of the reader */
#define DEFLATE_INPUT_BYTES   (16u << 10)
#define DEFLATE_MARGIN_BYTES  1024u /* a block's header needs 570 at most */
#define DEFLATE_SLACK_BYTES   (258u + 16u)

enum deflate_event {
	DEFLATE_HUNGRY,	  /* feed it */
	DEFLATE_FULL,	  /* take what is decoded */
	DEFLATE_BOUNDARY, /* between two blocks, where it can resume */
	DEFLATE_END,	  /* of the last block */
};

enum deflate_block { DEFLATE_HEADER, DEFLATE_STORED, DEFLATE_CODES, DEFLATE_DONE };

struct deflate_stream {
	enum deflate_block block;
	bool is_last_block, is_last_input;
	uint32_t stored_left;
	uint64_t bits; /* the next `count` bits; those above are also the next ones, or 0 */
	uint32_t count;
	size_t in, in_end,
		fed;	  /* in `input`: the next byte, the end to decode to, the end of input */
	size_t taken, at; /* in `window`: what was taken, what was decoded */
	struct deflate_entry lengths[DEFLATE_LENGTHS_ROOM], distances[DEFLATE_DISTANCES_ROOM];
	uint8_t input[DEFLATE_INPUT_BYTES + 3 * DEFLATE_MARGIN_BYTES];
	uint8_t window[DEFLATE_HISTORY_BYTES + DEFLATE_PIECE_BYTES + DEFLATE_SLACK_BYTES];
};

/*
 * Begin at a boundary: after `bits` bits were left in a byte before the next input, with the
 * contents before it, at most DEFLATE_HISTORY_BYTES. A stream begins with 0 bits and no history.
 */
void deflate_stream_resume(struct deflate_stream *stream, uint8_t byte, uint32_t bits,
			   const uint8_t *history, size_t history_bytes);

/*
 * Returns where to write up to *ret_bytes of input. deflate_stream_feed() says how many were
 * written, and whether they are the last ones.
 */
uint8_t *deflate_stream_room(struct deflate_stream *stream, size_t *ret_bytes);
void deflate_stream_feed(struct deflate_stream *stream, size_t bytes, bool last);

/*
 * Decode until an event. Returns an enum deflate_event, or -EBADMSG: damaged, or the input has
 * ended. After an error, the stream must be resumed.
 */
int deflate_stream_run(struct deflate_stream *stream);

/* Take decoded contents, at most size_bytes; to NULL: skip them. Returns their size. */
size_t deflate_stream_take(struct deflate_stream *stream, uint8_t *to, size_t size_bytes);

/* Number of decoded bytes that were not taken. */
static inline size_t deflate_stream_ahead(const struct deflate_stream *stream)
{
	return stream->at - stream->taken;
}

/* At a boundary: returns the bytes of input that were not decoded; *ret_bits of the one before. */
static inline size_t deflate_stream_unread(const struct deflate_stream *stream, uint8_t *ret_bits)
{
	*ret_bits = stream->count & 7;
	return stream->fed - stream->in + stream->count / 8;
}

/* The last *ret_bytes of the contents, at most DEFLATE_HISTORY_BYTES. */
static inline const uint8_t *deflate_stream_history(const struct deflate_stream *stream,
						    size_t *ret_bytes)
{
	*ret_bytes = stream->at < DEFLATE_HISTORY_BYTES ? stream->at : DEFLATE_HISTORY_BYTES;
	return stream->window + stream->at - *ret_bytes;
}

#endif
