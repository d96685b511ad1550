/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/round_reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "uapi/recording.h"

#define WINDOW_BYTES (256u << 10)

static int bad(struct round_reader *reader, uint64_t offset, const char *what)
{
	reader->error_offset = offset;
	reader->error_what = what;
	return -EBADMSG;
}

/* Get the bytes [offset, offset + size_bytes) of the file. Valid until the next call. */
static int window_at(struct round_reader *reader, uint64_t offset, size_t size_bytes,
		     const uint8_t **ret)
{
	uint64_t left = reader->blob->size_bytes - offset;
	uint64_t wanted = size_bytes > WINDOW_BYTES ? size_bytes : WINDOW_BYTES;
	int err;

	if (offset < reader->window_begin || offset - reader->window_begin > reader->window.size ||
	    size_bytes > reader->window.size - (offset - reader->window_begin)) {
		if (wanted > left)
			wanted = left;
		if (vec_reserve(&reader->window, wanted))
			return -ENOMEM;
		reader->window.size = 0;
		err = blob_read(reader->blob, offset, reader->window.data, wanted);
		if (err)
			return err;
		reader->window.size = wanted;
		reader->window_begin = offset;
	}
	*ret = reader->window.data + (offset - reader->window_begin);
	return 0;
}

/* Read the header of the chunk at offset, and check that the chunk lies before end. */
static int chunk_at(struct round_reader *reader, uint64_t offset, uint64_t end,
		    struct jitbpf_record *ret)
{
	const uint8_t *bytes;
	int err;

	if (end - offset < sizeof(*ret))
		return bad(reader, offset, "the recording was cut");
	err = window_at(reader, offset, sizeof(*ret), &bytes);
	if (err)
		return err;
	memcpy(ret, bytes, sizeof(*ret));
	if (ret->size_bytes < sizeof(*ret) || ret->size_bytes > JITBPF_CHUNK_MAX)
		return bad(reader, offset, "a chunk of impossible size");
	if (ret->size_bytes > end - offset)
		return bad(reader, offset, "the recording was cut");
	return 0;
}

/* Extend a checksum over [offset, end), in pieces, since a chunk can be large. */
static int checksum(struct round_reader *reader, uint64_t offset, uint64_t end, uLong *crc)
{
	while (offset < end) {
		size_t piece = end - offset < WINDOW_BYTES ? end - offset : WINDOW_BYTES;
		const uint8_t *bytes;
		int err = window_at(reader, offset, piece, &bytes);

		if (err)
			return err;
		*crc = crc32_z(*crc, bytes, piece);
		offset += piece;
	}
	return 0;
}

/* Verify the ROUND chunk at `at`. crc covers the bytes before it. */
static int close_round(struct round_reader *reader, uint64_t at, const struct jitbpf_record *header,
		       uLong crc)
{
	struct jitbpf_round_chunk round;
	const uint8_t *bytes;
	int err;

	if (header->size_bytes != sizeof(round))
		return bad(reader, at, "a chunk of impossible size");
	err = checksum(reader, at, at + offsetof(struct jitbpf_round_chunk, crc), &crc);
	if (!err)
		err = window_at(reader, at, sizeof(round), &bytes);
	if (err)
		return err;
	memcpy(&round, bytes, sizeof(round));
	if (round.crc != crc)
		return bad(reader, reader->round_begin, "checksum of the round does not match");
	reader->round_begin = at + sizeof(round);
	reader->round_end = reader->round_begin;
	return 1;
}

/*
 * Verify the chunks up to the next ROUND. They are read a second time to be returned, so that
 * memory does not depend on the size of a round; the window serves both passes of a small round.
 * Returns 1 if there is a round, 0 at the end of the recording.
 */
static int check_round(struct round_reader *reader)
{
	uint64_t end = reader->blob->size_bytes, at = reader->at;
	struct jitbpf_record header;
	uLong crc = 0;
	int err;

	/* The file header belongs to the first round. */
	err = checksum(reader, reader->round_begin, at, &crc);
	while (!err) {
		err = chunk_at(reader, at, end, &header);
		if (err)
			break;
		if (header.type == JITBPF_CHUNK_ROUND)
			return close_round(reader, at, &header, crc);
		if (header.type == JITBPF_CHUNK_END) {
			if (header.size_bytes != sizeof(header))
				return bad(reader, at, "a chunk of impossible size");
			if (at != reader->round_begin)
				return bad(reader, at, "the recording ends inside a round");
			if (end - at > sizeof(header))
				return bad(reader, at + sizeof(header),
					   "the file goes on behind the end of the recording");
			return 0;
		}
		err = checksum(reader, at, at + header.size_bytes, &crc);
		at += header.size_bytes;
	}
	return err;
}

static int take_stack(struct round_reader *reader, uint64_t offset)
{
	const struct jitbpf_stack_chunk *chunk = (void *)reader->record.data;
	struct stack stack;
	int err;

	if (chunk->h.size_bytes < sizeof(*chunk))
		return bad(reader, offset, "a malformed stack");
	stack = (struct stack){
		.kernel_frames = chunk->kernel_frames,
		.user_frames = chunk->user_frames,
		.user_end = chunk->user_end,
		.ips = chunk->ips,
	};
	if (stack.kernel_frames > JITBPF_KERNEL_FRAMES_MAX ||
	    stack.user_frames > JITBPF_USER_FRAMES_MAX ||
	    chunk->h.size_bytes != sizeof(*chunk) + stack_frames(&stack) * sizeof(__u64))
		return bad(reader, offset, "a malformed stack");
	if (chunk->h.flags & JITBPF_STACK_FRESH)
		stack_store_clear(&reader->stacks);
	err = stack_store_add(&reader->stacks, &stack);
	return err == -ENOSPC ? bad(reader, offset, "more stacks than allowed") : err;
}

/* Replace a SAMPLE_REF chunk by its sample. */
static int take_sample_ref(struct round_reader *reader, uint64_t offset)
{
	struct jitbpf_sample_ref_chunk ref;
	struct jitbpf_user_regs regs;
	struct jitbpf_sample *sample;
	struct stack stack;
	struct cursor c;
	size_t ips_bytes, regs_bytes, size_bytes;

	c = cursor_of(reader->record.data,
		      ((struct jitbpf_record *)reader->record.data)->size_bytes);
	if (cursor_read(&c, &ref, sizeof(ref)))
		return bad(reader, offset, "a malformed sample");
	regs_bytes = ref.h.flags & JITBPF_SAMPLE_USER_REGS ? sizeof(regs) : 0;
	if (cursor_left(&c) != regs_bytes || ref.cpu > UINT16_MAX ||
	    ref.h.flags & JITBPF_SAMPLE_WEIGHT)
		return bad(reader, offset, "a malformed sample");
	cursor_read(&c, &regs, regs_bytes);
	if (!stack_store_get(&reader->stacks, ref.stack, &stack))
		return bad(reader, offset, "a sample whose stack is not there");

	ips_bytes = stack_frames(&stack) * sizeof(__u64);
	size_bytes = sizeof(*sample) + ips_bytes + regs_bytes;
	if (vec_reserve(&reader->record, size_bytes / sizeof(uint64_t)))
		return -ENOMEM;
	sample = (void *)reader->record.data;
	*sample = (struct jitbpf_sample){
		.h = ref.h,
		.pid = ref.pid,
		.tid = ref.tid,
		.start_ns = ref.start_ns,
		.cpu = (uint16_t)ref.cpu,
		.kernel_frames = stack.kernel_frames,
		.user_frames = stack.user_frames,
		.user_end = stack.user_end,
	};
	sample->h.type = JITBPF_SAMPLE;
	sample->h.size_bytes = (uint32_t)size_bytes;
	memcpy(sample->comm, ref.comm, sizeof(ref.comm));
	memcpy(sample->ips, stack.ips, ips_bytes);
	memcpy((uint8_t *)sample->ips + ips_bytes, &regs, regs_bytes);
	return 1;
}

/* Returns 1 if the chunk is to be returned, 0 if not. */
static int take(struct round_reader *reader, uint64_t offset)
{
	const struct jitbpf_record *record = (void *)reader->record.data;

	switch (record->type) {
	case JITBPF_CHUNK_STACK:
		return take_stack(reader, offset);
	case JITBPF_CHUNK_SAMPLE_REF:
		return take_sample_ref(reader, offset);
	default:
		return 1;
	}
}

/* Copy the next chunk of the verified round, and handle it by its type. */
static int next_chunk(struct round_reader *reader)
{
	uint64_t offset = reader->at;
	struct jitbpf_record header;
	const uint8_t *bytes;
	int err;

	/* Check again: the file may have changed since check_round(). */
	err = chunk_at(reader, offset, reader->round_end, &header);
	if (!err)
		err = window_at(reader, offset, header.size_bytes, &bytes);
	if (err)
		return err;
	if (vec_reserve(&reader->record, (header.size_bytes + 7) / 8))
		return -ENOMEM;
	memcpy(reader->record.data, bytes, header.size_bytes);
	memcpy(reader->record.data, &header, sizeof(header));
	reader->at += header.size_bytes;
	reader->chunk_begin = offset;
	return take(reader, offset);
}

void round_reader_init(struct round_reader *reader, const struct blob *blob, uint32_t header_bytes)
{
	*reader = (struct round_reader){
		.blob = blob,
		.at = header_bytes,
		.round_end = header_bytes,
	};
}

void round_reader_deinit(struct round_reader *reader)
{
	vec_deinit(&reader->window);
	vec_deinit(&reader->record);
	stack_store_deinit(&reader->stacks);
}

int round_reader_next(struct round_reader *reader)
{
	int got = 0;

	while (!got) {
		if (reader->at == reader->round_end) {
			int more = check_round(reader);

			if (more <= 0)
				return more;
		}
		got = next_chunk(reader);
	}
	return got;
}
