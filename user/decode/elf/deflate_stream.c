/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/elf/deflate_stream.h"

#include <endian.h>
#include <errno.h>
#include <string.h>

#include "base/scope.h"

#define WINDOW_FULL	(DEFLATE_HISTORY_BYTES + DEFLATE_PIECE_BYTES)
#define LOOKAHEAD_BYTES 8u /* input that `bits` can hold */

#define LENGTH_CODES_MAX   286
#define DISTANCE_CODES_MAX 30
#define PRECODES	   19

void deflate_stream_resume(struct deflate_stream *stream, uint8_t byte, uint32_t bits,
			   const uint8_t *history, size_t history_bytes)
{
	stream->block = DEFLATE_HEADER;
	stream->is_last_block = stream->is_last_input = false;
	stream->bits = bits ? byte >> (8 - bits) : 0;
	stream->count = bits;
	stream->in = stream->in_end = stream->fed = 0;
	stream->taken = stream->at = history_bytes;
	if (history_bytes)
		memcpy(stream->window, history, history_bytes);
}

uint8_t *deflate_stream_room(struct deflate_stream *stream, size_t *ret_bytes)
{
	size_t left = stream->fed - stream->in;

	memmove(stream->input, stream->input + stream->in, left);
	stream->in = 0;
	stream->in_end = stream->fed = left;
	*ret_bytes = DEFLATE_INPUT_BYTES;
	return stream->input + left;
}

/* Behind the last input, zeros are decoded as if they were input; that is noticed later. */
void deflate_stream_feed(struct deflate_stream *stream, size_t bytes, bool last)
{
	stream->fed += bytes;
	stream->in_end = stream->fed;
	stream->is_last_input = last;
	if (!last)
		return;
	memset(stream->input + stream->fed, 0, DEFLATE_MARGIN_BYTES + 2 * LOOKAHEAD_BYTES);
	stream->in_end += DEFLATE_MARGIN_BYTES + LOOKAHEAD_BYTES;
}

static bool is_hungry(const struct deflate_stream *stream)
{
	return stream->in_end < stream->in + DEFLATE_MARGIN_BYTES;
}

/* Returns true if bits behind the end of the input were decoded. */
static bool has_overrun(const struct deflate_stream *stream)
{
	return stream->in > stream->fed + stream->count / 8;
}

/* --- bits ------------------------------------------------------------------------------ */

/* The input that is being decoded: a copy of the stream's, which stays in registers. */
struct bit_reader {
	const uint8_t *in;
	uint64_t bits;
	uint32_t count;
};

static inline struct bit_reader begin_reading(const struct deflate_stream *stream)
{
	return (struct bit_reader){stream->input + stream->in, stream->bits, stream->count};
}

static inline void end_reading(struct deflate_stream *stream, const struct bit_reader *reader)
{
	stream->in = (size_t)(reader->in - stream->input);
	stream->bits = reader->bits;
	stream->count = reader->count;
}

/* From now on, there are at least 56 bits. What is read beyond `count` is read again, the same. */
static inline void refill(struct bit_reader *reader)
{
	uint64_t word;

	memcpy(&word, reader->in, sizeof(word));
	reader->bits |= le64toh(word) << reader->count;
	reader->in += (63 - reader->count) >> 3;
	reader->count |= 56;
}

static inline uint32_t peek(const struct bit_reader *reader, uint32_t count)
{
	return (uint32_t)reader->bits & ((1u << count) - 1);
}

static inline void skip(struct bit_reader *reader, uint32_t count)
{
	reader->bits >>= count;
	reader->count -= count;
}

static inline uint32_t take_bits(struct bit_reader *reader, uint32_t count)
{
	uint32_t bits = peek(reader, count);

	skip(reader, count);
	return bits;
}

/* Consumes a code of at most 15 bits. */
static inline struct deflate_entry take_code(struct bit_reader *reader,
					     const struct deflate_entry *table, uint32_t bits)
{
	struct deflate_entry entry = table[peek(reader, bits)];

	if (entry.kind & DEFLATE_TABLE) {
		skip(reader, bits);
		entry = table[entry.value + peek(reader, entry.kind & 15)];
	}
	skip(reader, entry.bits);
	return entry;
}

/* --- headers --------------------------------------------------------------------------- */

static int make_codes(struct deflate_stream *stream, const uint8_t *lengths, uint32_t length_codes,
		      uint32_t distance_codes)
{
	int err = deflate_code_make(stream->lengths, DEFLATE_LENGTHS, lengths, length_codes);

	stream->block = DEFLATE_CODES;
	return err
		       ?: deflate_code_make(stream->distances, DEFLATE_DISTANCES,
					    lengths + length_codes, distance_codes);
}

static int read_fixed(struct deflate_stream *stream)
{
	uint8_t lengths[DEFLATE_SYMBOLS_MAX + 32];

	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 112);
	memset(lengths + 256, 7, 24);
	memset(lengths + 280, 8, 8);
	memset(lengths + DEFLATE_SYMBOLS_MAX, 5, 32);
	return make_codes(stream, lengths, DEFLATE_SYMBOLS_MAX, 32);
}

static int read_lengths(struct bit_reader *reader, const struct deflate_entry *precode,
			uint8_t *lengths, uint32_t count)
{
	static const struct {
		uint8_t bits, least;
	} repeats[] = {{2, 3}, {3, 3}, {7, 11}};

	for (uint32_t at = 0; at < count;) {
		struct deflate_entry entry;
		uint32_t kind, times;

		refill(reader);
		entry = take_code(reader, precode, DEFLATE_PRECODE_BITS);
		if (entry.kind != DEFLATE_LITERAL)
			return -EBADMSG;
		if (entry.value < 16) {
			lengths[at++] = (uint8_t)entry.value;
			continue;
		}
		kind = entry.value - 16u;
		times = repeats[kind].least + take_bits(reader, repeats[kind].bits);
		if (times > count - at || (!kind && !at))
			return -EBADMSG;
		memset(lengths + at, kind ? 0 : lengths[at - 1], times);
		at += times;
	}
	return 0;
}

static int read_dynamic(struct deflate_stream *stream, struct bit_reader *reader)
{
	static const uint8_t order[PRECODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
						11, 4,	12, 3, 13, 2, 14, 1, 15};
	struct deflate_entry precode[DEFLATE_PRECODE_ROOM];
	uint8_t lengths[LENGTH_CODES_MAX + DISTANCE_CODES_MAX] = {0}, of_precode[PRECODES] = {0};
	uint32_t length_codes = 257 + take_bits(reader, 5);
	uint32_t distance_codes = 1 + take_bits(reader, 5);
	uint32_t precodes = 4 + take_bits(reader, 4);
	int err;

	if (length_codes > LENGTH_CODES_MAX || distance_codes > DISTANCE_CODES_MAX)
		return -EBADMSG;
	for (uint32_t i = 0; i < precodes; i++) {
		refill(reader);
		of_precode[order[i]] = (uint8_t)take_bits(reader, 3);
	}
	err = deflate_code_make(precode, DEFLATE_PRECODE, of_precode, PRECODES);
	err = err ?: read_lengths(reader, precode, lengths, length_codes + distance_codes);
	if (!err && !lengths[256]) /* the end of the block has no code */
		err = -EBADMSG;
	return err ?: make_codes(stream, lengths, length_codes, distance_codes);
}

/* The bytes of a stored block follow whole bytes of input. */
static int read_stored(struct deflate_stream *stream, struct bit_reader *reader)
{
	uint32_t size, complement;

	skip(reader, reader->count & 7);
	refill(reader);
	size = take_bits(reader, 16);
	complement = take_bits(reader, 16);
	if (size != (complement ^ 0xffff))
		return -EBADMSG;
	reader->in -= reader->count / 8;
	reader->bits = reader->count = 0;
	stream->stored_left = size;
	stream->block = DEFLATE_STORED;
	return 0;
}

static int read_header(struct deflate_stream *stream)
{
	struct bit_reader reader = begin_reading(stream);
	uint32_t kind;
	int err;

	refill(&reader);
	stream->is_last_block = take_bits(&reader, 1);
	kind = take_bits(&reader, 2);
	if (kind == 0)
		err = read_stored(stream, &reader);
	else if (kind == 1)
		err = read_fixed(stream);
	else
		err = kind == 2 ? read_dynamic(stream, &reader) : -EBADMSG;
	end_reading(stream, &reader);
	return err;
}

/* --- contents -------------------------------------------------------------------------- */

/* Returns as decode_codes(). */
static int copy_stored(struct deflate_stream *stream)
{
	size_t size = stream->stored_left, input = stream->fed - stream->in;

	size = size < input ? size : input;
	size = size < WINDOW_FULL - stream->at ? size : WINDOW_FULL - stream->at;
	memcpy(stream->window + stream->at, stream->input + stream->in, size);
	stream->in += size;
	stream->at += size;
	if (!size && stream->stored_left) /* the input has ended */
		return -EBADMSG;
	stream->stored_left -= (uint32_t)size;
	return !stream->stored_left;
}

/* Writes up to 7 bytes more, into the slack of the window. */
static inline void copy_match(uint8_t *to, uint32_t distance, uint32_t length)
{
	const uint8_t *from = to - distance, *end = to + length;

	if (distance == 1) {
		memset(to, *from, length);
		return;
	}
	if (distance < 8) {
		while (to < end)
			*to++ = *from++;
		return;
	}
	for (; to < end; to += 8, from += 8)
		memcpy(to, from, 8);
}

/* Returns 1 at the end of the block, 0 if it is full or hungry, or -EBADMSG. */
static int decode_codes(struct deflate_stream *stream)
{
	const struct deflate_entry *lengths = stream->lengths, *distances = stream->distances;
	const uint8_t *in_last = stream->input + stream->in_end - DEFLATE_MARGIN_BYTES;
	uint8_t *to = stream->window + stream->at, *full = stream->window + WINDOW_FULL;
	struct bit_reader reader = begin_reading(stream);
	int done = 0;

	while (!done && to < full && reader.in <= in_last) {
		struct deflate_entry entry;
		uint32_t length, distance;

		refill(&reader);
		entry = take_code(&reader, lengths, DEFLATE_LENGTH_BITS);
		if (entry.kind == DEFLATE_LITERAL) {
			*to++ = (uint8_t)entry.value;
			entry = take_code(&reader, lengths, DEFLATE_LENGTH_BITS);
			if (entry.kind == DEFLATE_LITERAL) {
				*to++ = (uint8_t)entry.value;
				continue;
			}
			refill(&reader);
		}
		if (entry.kind & (DEFLATE_STOP | DEFLATE_INVALID)) {
			done = entry.kind & DEFLATE_STOP ? 1 : -EBADMSG;
			break;
		}
		length = entry.value + take_bits(&reader, entry.kind);
		entry = take_code(&reader, distances, DEFLATE_DISTANCE_BITS);
		if (entry.kind & DEFLATE_INVALID) {
			done = -EBADMSG;
			break;
		}
		distance = entry.value + take_bits(&reader, entry.kind);
		if (distance > (size_t)(to - stream->window)) {
			done = -EBADMSG;
			break;
		}
		copy_match(to, distance, length);
		to += length;
	}
	stream->at = (size_t)(to - stream->window);
	end_reading(stream, &reader);
	return done;
}

/* All was taken: keep what matches can refer to. */
static void slide(struct deflate_stream *stream)
{
	memmove(stream->window, stream->window + stream->at - DEFLATE_HISTORY_BYTES,
		DEFLATE_HISTORY_BYTES);
	stream->at = stream->taken = DEFLATE_HISTORY_BYTES;
}

/* Returns as decode_codes(). */
static int decode_some(struct deflate_stream *stream)
{
	int done = 0;

	if (stream->block == DEFLATE_HEADER)
		done = read_header(stream);
	else if (stream->block == DEFLATE_STORED)
		done = copy_stored(stream);
	else
		done = decode_codes(stream);
	return has_overrun(stream) ? -EBADMSG : done;
}

int deflate_stream_run(struct deflate_stream *stream)
{
	int done = 0;

	if (stream->block == DEFLATE_DONE)
		return DEFLATE_END;
	while (!done) {
		if (stream->at >= WINDOW_FULL && stream->taken < stream->at)
			return DEFLATE_FULL;
		if (stream->at >= WINDOW_FULL)
			slide(stream);
		if (is_hungry(stream))
			return stream->is_last_input ? -EBADMSG : DEFLATE_HUNGRY;
		done = decode_some(stream);
	}
	if (done < 0)
		return done;
	stream->block = stream->is_last_block ? DEFLATE_DONE : DEFLATE_HEADER;
	return stream->is_last_block ? DEFLATE_END : DEFLATE_BOUNDARY;
}

size_t deflate_stream_take(struct deflate_stream *stream, uint8_t *to, size_t size_bytes)
{
	size_t ahead = deflate_stream_ahead(stream), size = ahead < size_bytes ? ahead : size_bytes;

	if (to)
		memcpy(to, stream->window + stream->taken, size);
	stream->taken += size;
	return size;
}
