/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/record/recording_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/cursor.h"
#include "base/scope.h"
#include "base/vec.h"
#include "decode/record/record_check.h"
#include "decode/record/stack_store.h"

#define WINDOW_BYTES (256u << 10)

struct recording_reader {
	const struct blob *blob;
	uint64_t round_begin; /* start of the bytes of the next checksum */
	uint64_t round_end;   /* end of the verified chunks */
	uint64_t at;	      /* offset of the next chunk */

	/* A window of the file, so that small chunks do not need a read each. */
	VEC(uint8_t) window;
	uint64_t window_begin;

	VEC(uint64_t) record; /* the last returned record; 64-bit words for alignment */
	struct stack_store stacks;
	uint32_t version;
	bool has_info;
	uint64_t skipped;
	int result; /* 1: reading continues; else the result of all later calls */
	struct recording_error error;
};

/* Note the error that ends the reading. */
static int bad(struct recording_reader *reader, uint64_t offset, const char *what)
{
	reader->error = (struct recording_error){.offset = offset, .what = what};
	return -EBADMSG;
}

/* Get the bytes [offset, offset + size_bytes) of the file. Valid until the next call. */
static int window_at(struct recording_reader *reader, uint64_t offset, size_t size_bytes,
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
static int chunk_at(struct recording_reader *reader, uint64_t offset, uint64_t end,
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
static int checksum(struct recording_reader *reader, uint64_t offset, uint64_t end, uLong *crc)
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
static int close_round(struct recording_reader *reader, uint64_t at,
		       const struct jitbpf_record *header, uLong crc)
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
static int check_round(struct recording_reader *reader)
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
				return bad(reader, at, "an end inside a round");
			if (end - at > sizeof(header))
				return bad(reader, at + sizeof(header), "bytes behind the end");
			return 0;
		}
		err = checksum(reader, at, at + header.size_bytes, &crc);
		at += header.size_bytes;
	}
	return err;
}

static int take_info(struct recording_reader *reader, uint64_t offset)
{
	const struct jitbpf_record *record = (void *)reader->record.data;
	struct cursor c = cursor_of(record, record->size_bytes);
	const char *text;

	if (reader->has_info)
		return bad(reader, offset, "a second description of the recording");
	if (cursor_skip(&c, sizeof(struct jitbpf_info_chunk)))
		return bad(reader, offset, "a malformed description");
	for (int i = 0; i < 4; i++) {
		if (cursor_string(&c, &text))
			return bad(reader, offset, "a malformed description");
	}
	reader->has_info = true;
	return 1;
}

static int take_stack(struct recording_reader *reader, uint64_t offset)
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
static int take_sample_ref(struct recording_reader *reader, uint64_t offset)
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
	if (cursor_left(&c) != regs_bytes)
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
		.cpu = ref.cpu,
		.kernel_frames = stack.kernel_frames,
		.user_frames = stack.user_frames,
		.user_end = stack.user_end,
	};
	sample->h.type = JITBPF_SAMPLE;
	sample->h.size_bytes = (uint32_t)size_bytes;
	memcpy(sample->comm, ref.comm, sizeof(ref.comm));
	memcpy(sample->ips, stack.ips, ips_bytes);
	memcpy((uint8_t *)sample->ips + ips_bytes, &regs, regs_bytes);
	return record_check(sample, size_bytes) ? bad(reader, offset, "a malformed sample") : 1;
}

/* Returns 1 if the current record is to be returned, 0 if not. */
static int take(struct recording_reader *reader, uint64_t offset)
{
	const struct jitbpf_record *record = (void *)reader->record.data;
	int err;

	switch (record->type) {
	case JITBPF_CHUNK_INFO:
		return take_info(reader, offset);
	case JITBPF_CHUNK_STACK:
		return take_stack(reader, offset);
	case JITBPF_CHUNK_SAMPLE_REF:
		return take_sample_ref(reader, offset);
	case JITBPF_CHUNK_ROUND:
		if (record->size_bytes < sizeof(struct jitbpf_round_chunk))
			return bad(reader, offset, "a malformed chunk");
		return 1;
	case JITBPF_CHUNK_FRAMES:
		if (record->size_bytes < sizeof(struct jitbpf_frames_chunk))
			return bad(reader, offset, "a malformed chunk");
		return 1;
	}
	err = record_check(record, record->size_bytes);
	if (err == -ENOTSUP) {
		reader->skipped++;
		return 0;
	}
	return err ? bad(reader, offset, "a malformed record") : 1;
}

/* Copy the next chunk of the verified round, and handle it by its type. */
static int next_chunk(struct recording_reader *reader)
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

	err = take(reader, offset);
	if (err == 1 && !reader->has_info)
		return bad(reader, offset, "no description of the recording");
	return err;
}

int recording_reader_next(struct recording_reader *reader, const struct jitbpf_record **ret,
			  struct recording_error *error)
{
	int got = 0;

	while (reader->result == 1 && !got) {
		if (reader->at == reader->round_end)
			reader->result = check_round(reader);
		if (reader->result == 1)
			got = next_chunk(reader);
		if (got < 0)
			reader->result = got;
	}
	if (reader->result == -EBADMSG)
		*error = reader->error;
	if (reader->result == 1)
		*ret = (void *)reader->record.data;
	return reader->result;
}

static int check_file_header(struct recording_reader *reader)
{
	static const char foreign[] = "not a jitbpf recording";
	uint64_t size_bytes = reader->blob->size_bytes;
	struct jitbpf_recording_header header;
	const uint8_t *bytes;
	int err;

	if (size_bytes < sizeof(header.magic))
		return bad(reader, 0, foreign);
	err = window_at(reader, 0, sizeof(header.magic), &bytes);
	if (err)
		return err;
	if (memcmp(bytes, JITBPF_RECORDING_MAGIC, sizeof(header.magic)))
		return bad(reader, 0, foreign);
	if (size_bytes < sizeof(header))
		return bad(reader, 0, "the recording was cut");
	err = window_at(reader, 0, sizeof(header), &bytes);
	if (err)
		return err;
	memcpy(&header, bytes, sizeof(header));
	if (header.version > JITBPF_RECORDING_VERSION)
		return bad(reader, offsetof(struct jitbpf_recording_header, version),
			   "made by a newer jitbpf");
	if (header.version < 1 || header.header_bytes < sizeof(header))
		return bad(reader, 0, "a damaged file header");
	if (header.header_bytes > size_bytes)
		return bad(reader, 0, "the recording was cut");
	reader->version = header.version;
	reader->at = reader->round_end = header.header_bytes;
	return 0;
}

int recording_reader_open(const struct blob *blob, struct recording_reader **ret,
			  struct recording_error *error)
{
	struct recording_reader *reader = calloc(1, sizeof(*reader));
	int err;

	if (!reader)
		return -ENOMEM;
	reader->blob = blob;
	reader->result = 1;
	err = check_file_header(reader);
	if (err) {
		if (err == -EBADMSG)
			*error = reader->error;
		recording_reader_close(reader);
		return err;
	}
	*ret = reader;
	return 0;
}

void recording_reader_close(struct recording_reader *reader)
{
	if (!reader)
		return;
	vec_deinit(&reader->window);
	vec_deinit(&reader->record);
	stack_store_deinit(&reader->stacks);
	free(reader);
}

uint64_t recording_reader_skipped(const struct recording_reader *reader)
{
	return reader->skipped;
}

uint32_t recording_reader_version(const struct recording_reader *reader)
{
	return reader->version;
}
