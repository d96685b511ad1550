/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/jitdump_tail.h"

#include <errno.h>
#include <string.h>

#include "base/path.h"
#include "decode/media/jitdump_event.h"

#define STREAM_TRIES_MAX 3 /* to find the stdio stream, which PHP, for one, does not have */
#define PAGE_BYTES	 4096

/* A later call may succeed. */
static bool is_transient(int err)
{
	return err == -ETIMEDOUT || err == -EINPROGRESS || err == -ENOMEM;
}

int jitdump_tail_pending(struct jitdump_file *file, struct jitdump_reader *reader, uint64_t *ret)
{
	struct stdio_stream *stream = &file->stream;
	int err = 0;

	if (!stream->address && file->stream_tries < STREAM_TRIES_MAX) {
		err = stdio_stream_find(reader->store, &reader->text, file->mapping->pid,
					path_file(file->mapping->path), stream);
		if (is_transient(err))
			return err;
		file->stream_tries++;
	}
	err = stream->address ? stdio_stream_look(reader->store, stream) : 0;
	if (is_transient(err))
		return err;
	if (err)
		*stream = (struct stdio_stream){0};
	*ret = stream->end - stream->begin;
	return 0;
}

size_t jitdump_tail_overlap(const uint8_t *end, size_t end_bytes, const uint8_t *tail,
			    size_t tail_bytes, uint32_t *borders)
{
	size_t same = 0;

	if (!tail_bytes)
		return 0;
	/* borders[i]: the longest border of the first i + 1 bytes, as Knuth, Morris and Pratt do.
	 */
	borders[0] = 0;
	for (size_t i = 1; i < tail_bytes; i++) {
		while (same && tail[i] != tail[same])
			same = borders[same - 1];
		same += tail[i] == tail[same];
		borders[i] = (uint32_t)same;
	}
	same = 0;
	for (size_t i = 0; i < end_bytes; i++) {
		while (same && (same == tail_bytes || end[i] != tail[same]))
			same = borders[same - 1];
		same += end[i] == tail[same];
	}
	return same;
}

/*
 * Read the end of the file, as much as the tail is long. Returns 0, -EAGAIN if the file has grown
 * since the room was read, or a negative errno. *ret_file_bytes is the size of the file; unchanged
 * if it could not be read.
 */
static int read_end(struct jitdump_file *file, struct jitdump_reader *reader,
		    uint64_t *ret_file_bytes)
{
	size_t bytes = reader->tail.size, got;
	int err;

	bytes = bytes <= file->file_bytes ? bytes : (size_t)file->file_bytes;
	if (vec_reserve(&reader->end, bytes + 1))
		return -ENOMEM;
	/* One byte more, since a read of no bytes would not report the size of the file. */
	err = file_store_read_followed(reader->store, &file->file, file->file_bytes - bytes,
				       reader->end.data, bytes + 1, &got, ret_file_bytes);
	if (err)
		return err;
	reader->end.size = bytes;
	return *ret_file_bytes != file->file_bytes || got != bytes ? -EAGAIN : 0;
}

enum sequence {
	SEQUENCE_BROKEN, /* not a sequence of records */
	SEQUENCE_CUT,	 /* ends inside a record */
	SEQUENCE_WHOLE,
};

/*
 * Returns whether the bytes in the room are a sequence of records. With an outdated or torn copy of
 * the buffer, they are not.
 */
static enum sequence sequence_of(const struct jitdump_file *file,
				 const struct jitdump_reader *reader)
{
	struct cursor c = cursor_of(reader->room.data, reader->room.size);
	struct jitdump_header header;
	uint32_t size_bytes;
	int more = file->begun ? 1 : jitdump_header_decode(&c, &header);

	while (more > 0) {
		more = jitdump_record_size(&c, &size_bytes);
		if (more > 0 && (size_bytes > JITDUMP_RECORD_MAX ||
				 jitdump_record_kind(&c) > JITDUMP_UNWINDING_INFO))
			return SEQUENCE_BROKEN;
		if (more > 0 && cursor_skip(&c, size_bytes))
			return SEQUENCE_CUT;
	}
	if (more < 0)
		return SEQUENCE_BROKEN;
	return cursor_offset(&c) == reader->room.size ? SEQUENCE_WHOLE : SEQUENCE_CUT;
}

/* Returns the number of bytes at the start of the tail that may already be in the file. */
static size_t written_of(const struct jitdump_file *file, struct jitdump_reader *reader)
{
	size_t bytes = reader->tail.size, end_bytes = reader->end.size;

	if (end_bytes == bytes && !memcmp(reader->end.data, reader->tail.data, bytes))
		return bytes;
	/* The kernel extends a file by whole pages while it writes. */
	if (file->file_bytes % PAGE_BYTES)
		return 0;
	return jitdump_tail_overlap(reader->end.data, end_bytes, reader->tail.data, bytes,
				    reader->borders.data);
}

/* Append the tail without its first `skipped` bytes. Returns sequence_of() the result. */
static enum sequence try(struct jitdump_file *file, struct jitdump_reader *reader,
			 size_t room_bytes, size_t skipped)
{
	size_t bytes = skipped < reader->tail.size ? reader->tail.size - skipped : 0;

	memcpy(reader->room.data + room_bytes, reader->tail.data + reader->tail.size - bytes,
	       bytes);
	reader->room.size = room_bytes + bytes;
	return sequence_of(file, reader);
}

/*
 * Join the room and the tail, of which the file may have the beginning, while the process writes
 * it. Both ways are tried, and the one by which a record ends with the tail counts. `had` bytes
 * after the end of the file were taken by earlier readings.
 */
static int join(struct jitdump_file *file, struct jitdump_reader *reader, size_t had)
{
	size_t bytes = reader->room.size, written;
	enum sequence whole, cut = SEQUENCE_BROKEN;

	if (vec_reserve(&reader->borders, reader->tail.size) ||
	    vec_reserve(&reader->room, bytes + reader->tail.size))
		return -ENOMEM;
	written = written_of(file, reader);
	if (written)
		cut = try(file, reader, bytes, written + had);
	if (cut == SEQUENCE_WHOLE)
		return 0;
	whole = try(file, reader, bytes, had);
	if (whole > cut)
		return 0;
	reader->room.size = bytes;
	return written == reader->tail.size ? 0 : -EAGAIN;
}

int jitdump_tail_read(struct jitdump_file *file, struct jitdump_reader *reader,
		      struct jitdump_tail *tail)
{
	uint64_t had = file->offset > file->file_bytes ? file->offset - file->file_bytes : 0;
	uint64_t pending, file_bytes = file->file_bytes;
	bool had_stream = file->stream.address;
	int err = jitdump_tail_pending(file, reader, &pending), read_err = 0;

	if (err)
		return err;
	reader->tail.size = 0;
	if (!had_stream && !file->stream.address)
		return 0; /* everything goes to the file at once */
	if (pending > had)
		read_err = stdio_stream_read(reader->store, &file->stream, &reader->tail);
	/* A process that has ended, for one, has written its buffer to the file before. */
	err = read_end(file, reader, &file_bytes);
	if (!tail->past_bytes && (!err || err == -EAGAIN))
		tail->past_bytes = file_bytes + pending;
	if (!err && (read_err == -EAGAIN || is_transient(read_err)))
		err = read_err;
	/* A part that cannot be read at all is skipped. */
	if (err || reader->tail.size <= had)
		return err == -EAGAIN || is_transient(err) ? err : 0;
	return join(file, reader, (size_t)had);
}

bool jitdump_tail_is_past(const struct jitdump_file *file, const struct jitdump_tail *tail)
{
	return tail->past_bytes && file->file_bytes >= tail->past_bytes;
}
