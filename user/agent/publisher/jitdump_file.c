/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/jitdump_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

#define PIECE_BYTES	 (256u << 10)
#define ROOM_BYTES_MAX	 (1u << 20) /* that is kept */
#define READ_COST_BYTES	 4096
#define STREAM_TRIES_MAX 3 /* to find the stdio stream, which PHP, for one, does not have */
/*
 * Times that the process writes its buffer while it is read, in one call. All that was pending at
 * first is in the file when it has grown three times.
 */
#define AGAIN_MAX 8

bool jitdump_file_has_name(const char *path, uint32_t *ret_pid)
{
	const char *name = path_file(path);
	unsigned pid, tid;
	int end = 0;

	if (!begins_with(name, "jit-"))
		return false;
	if (sscanf(name, "jit-%u.dump%n", &pid, &end) != 1 || !end) {
		end = 0;
		if (sscanf(name, "jit-%u-%u.dump%n", &tid, &pid, &end) != 2 || !end)
			return false;
	}
	if (name[end] && strcmp(name + end, " (deleted)") != 0)
		return false;
	*ret_pid = pid;
	return true;
}

int jitdump_file_init(struct jitdump_file *ret, const struct jitbpf_mapping *mapping)
{
	struct jitbpf_mapping *copy = malloc(mapping->h.size_bytes);

	if (!copy)
		return -ENOMEM;
	memcpy(copy, mapping, mapping->h.size_bytes);
	*ret = (struct jitdump_file){.mapping = copy, .file.found.fd = -1};
	return 0;
}

void jitdump_file_deinit(struct jitdump_file *file)
{
	free(file->mapping);
	if (file->file.found.fd >= 0)
		close(file->file.found.fd);
	jitdump_events_deinit(&file->events);
}

int jitdump_file_open(struct jitdump_file *file, struct jitdump_reader *reader, bool ended)
{
	uint32_t pid = file->mapping->pid, named = 0;
	uint32_t inner_pid, user = 0;
	struct followed_file found;
	int err = ended ? -ESRCH : process_inner_pid(&reader->text, pid, &inner_pid);

	err = err ?: process_user(&reader->text, pid, &user);
	ended = err == -ESRCH || err == -ENOENT;
	if (err && !ended)
		return err;
	jitdump_file_has_name(file->mapping->path, &named);
	if (!ended && named != inner_pid)
		return -ENXIO;
	err = file_store_follow(reader->store, file->mapping, &found);
	if (err)
		return err;
	if (!ended && found.found.owner != user && found.found.owner) {
		close(found.found.fd);
		return -EPERM;
	}
	file->file = found;
	file->events.header.pid = named;
	return 0;
}

/*
 * The file was truncated. Either the process begins it anew, or somebody else truncated it: then
 * the process writes on where it was, behind a hole.
 */
static void rewind_file(struct jitdump_file *file)
{
	if (file->begun)
		file->resume_offset = file->offset;
	file->offset = file->file_bytes = 0;
	file->begun = false;
	file->events.debug_address = 0;
	file->counts.unreadable++;
}

static void give_up(struct jitdump_file *file)
{
	file->given_up = true;
	file->counts.unreadable++;
}

/*
 * Fill the room with what the file has from the offset on, up to `wanted`. *ret_end: whether that
 * is all. Returns 0 or negative errno.
 */
static int read_piece(struct jitdump_file *file, struct jitdump_reader *reader, size_t wanted,
		      bool *ret_end)
{
	uint64_t file_bytes;
	size_t got;
	int err = vec_reserve(&reader->room, wanted);

	reader->room.size = 0;
	err = err
		      ?: file_store_read_followed(reader->store, &file->file, file->offset,
						  reader->room.data, wanted, &got, &file_bytes);
	if (err)
		return err;
	if (file_bytes < file->file_bytes) {
		rewind_file(file);
		return read_piece(file, reader, wanted, ret_end);
	}
	file->file_bytes = file_bytes;
	reader->room.size = got;
	*ret_end = file->offset + got >= file_bytes;
	return 0;
}

/* How much the process holds in its stdio buffer. */
static uint64_t pending_bytes(struct jitdump_file *file, struct jitdump_reader *reader)
{
	struct stdio_stream *stream = &file->stream;

	if (!stream->address && file->stream_tries < STREAM_TRIES_MAX) {
		int err = stdio_stream_find(reader->store, &reader->text, file->mapping->pid,
					    path_file(file->mapping->path), stream);

		file->stream_tries += err != -EINPROGRESS;
	}
	if (stream->address && stdio_stream_look(reader->store, stream))
		*stream = (struct stdio_stream){0};
	return stream->end - stream->begin;
}

/*
 * Check that the file has not grown since read_piece(), and whether it ends with the tail: glibc
 * writes its buffer to the file, and then marks it as empty. Returns 1 if it does, 0 if it does
 * not, -EAGAIN if the file has grown, or negative errno.
 */
static int ends_with_tail(struct jitdump_file *file, struct jitdump_reader *reader)
{
	size_t bytes = reader->tail.size, got;
	uint64_t begin, file_bytes;
	int err;

	bytes = bytes <= file->file_bytes ? bytes : 0;
	begin = file->file_bytes - bytes;
	if (vec_reserve(&reader->end, bytes + 1))
		return -ENOMEM;
	/* One byte more, since a read of no bytes would not report the size of the file. */
	err = file_store_read_followed(reader->store, &file->file, begin, reader->end.data,
				       bytes + 1, &got, &file_bytes);
	if (err)
		return err;
	if (file_bytes != file->file_bytes || got != bytes)
		return -EAGAIN;
	return bytes && !memcmp(reader->end.data, reader->tail.data, bytes);
}

/*
 * Whether the room is a sequence of records. It is not if the process changed its buffer while it
 * was copied, or has written a part of it to the file: the tail then does not continue the file.
 */
static bool is_sequence(const struct jitdump_file *file, const struct jitdump_reader *reader)
{
	struct cursor c = cursor_of(reader->room.data, reader->room.size);
	struct jitdump_header header;
	uint32_t size_bytes;
	int more = file->begun ? 1 : jitdump_header_decode(&c, &header);

	while (more > 0) {
		more = jitdump_record_size(&c, &size_bytes);
		if (more > 0 && (size_bytes > JITDUMP_RECORD_MAX ||
				 jitdump_record_kind(&c) > JITDUMP_UNWINDING_INFO))
			return false;
		if (more > 0 && cursor_skip(&c, size_bytes))
			break;
	}
	return more >= 0;
}

/*
 * Append what the process holds in its stdio buffer, which follows the end of the file, to the
 * room, which ends there. Returns 0, -EAGAIN if the process wrote to the file after read_piece(),
 * or -ENOMEM. What cannot be read comes with the file.
 */
static int read_tail(struct jitdump_file *file, struct jitdump_reader *reader)
{
	uint64_t had = file->offset > file->file_bytes ? file->offset - file->file_bytes : 0;
	bool had_stream = file->stream.address;
	int err = 0, written;

	reader->tail.size = 0;
	if (pending_bytes(file, reader) > had)
		err = stdio_stream_read(reader->store, &file->stream, &reader->tail);
	else if (!had_stream && !file->stream.address)
		return 0; /* everything goes to the file at once */
	/* A process that has ended, for one, has written its buffer to the file before. */
	written = err == -EAGAIN ? err : ends_with_tail(file, reader);
	if (err || written || reader->tail.size <= had)
		return written == -ENOMEM || written == -EAGAIN ? written : 0;
	if (vec_reserve(&reader->room, reader->room.size + reader->tail.size - had))
		return -ENOMEM;
	memcpy(reader->room.data + reader->room.size, reader->tail.data + had,
	       reader->tail.size - had);
	reader->room.size += reader->tail.size - had;
	if (is_sequence(file, reader))
		return 0;
	reader->room.size -= reader->tail.size - had;
	return -EAGAIN;
}

static int take_record(struct jitdump_file *file, const struct jitdump_record *record,
		       jitdump_taker_fn take, void *take_context)
{
	struct code_event event;
	int made = jitdump_events_convert(&file->events, record, &event);

	if (made > 0)
		return take(take_context, &event, record->code);
	if (made == -EBADMSG)
		file->counts.malformed++;
	else
		return made;
	return 0;
}

static bool is_hole(const struct cursor *c)
{
	struct cursor begin = *c;
	uint32_t word = 1;

	cursor_read(&begin, &word, sizeof(word));
	return !word;
}

/* Returns 1 if the header has been read, 0 if it is not whole, or negative errno. */
static int take_header(struct jitdump_file *file, struct cursor *c)
{
	uint32_t pid = file->events.header.pid;
	struct jitdump_header header;
	int err = file->begun ? 1 : jitdump_header_decode(c, &header);

	if (err == -EBADMSG && file->resume_offset && is_hole(c)) {
		file->offset = file->resume_offset;
		file->resume_offset = 0;
		file->begun = true;
		return 0;
	}
	if (err <= 0 || file->begun)
		return err;
	if (header.pid != pid)
		return -EBADMSG;
	file->events.header = header;
	file->begun = true;
	return 1;
}

/* Take all whole records of the room. Moves the offset behind them. */
static int take_records(struct jitdump_file *file, struct jitdump_reader *reader,
			jitdump_taker_fn take, void *take_context)
{
	struct cursor c = cursor_of(reader->room.data, reader->room.size);
	struct jitdump_record record;
	int more = take_header(file, &c);

	while (more > 0) {
		size_t before = cursor_offset(&c);

		more = jitdump_record_next(&c, &record);
		if (more > 0) {
			int err = take_record(file, &record, take, take_context);

			if (err)
				return err;
		} else if (more < 0 && cursor_offset(&c) > before) {
			file->counts.malformed++;
			more = 1;
		}
	}
	file->offset += cursor_offset(&c);
	if (more == -EBADMSG && file->begun)
		give_up(file);
	return more == -EBADMSG && file->begun ? 0 : more;
}

/* Whether a record at the offset is whole in the file, or with what is in the stdio buffer. */
static bool is_whole(struct jitdump_file *file, struct jitdump_reader *reader, uint32_t size_bytes)
{
	uint64_t end = file->offset + size_bytes;

	if (end <= file->file_bytes)
		return true;
	return end - file->file_bytes <= pending_bytes(file, reader);
}

/*
 * The size of the record at the beginning of the room, if the room is too small for it. A record
 * that no budget covers is skipped. Returns 0: there is no more of it.
 */
static size_t size_wanted(struct jitdump_file *file, struct jitdump_reader *reader, bool end)
{
	struct cursor c = cursor_of(reader->room.data, reader->room.size);
	uint32_t size_bytes;

	if (!file->begun)
		return 0;
	if (jitdump_record_size(&c, &size_bytes) <= 0)
		return end ? 0 : PIECE_BYTES;
	if (size_bytes > JITDUMP_RECORD_MAX) {
		file->counts.over_budget++;
		file->offset += size_bytes;
		return PIECE_BYTES;
	}
	return !end && is_whole(file, reader, size_bytes) ? size_bytes : 0;
}

/* A read costs something even if the file system, against what it said, has nothing. */
static void charge(uint64_t *budget_bytes, size_t read_bytes)
{
	uint64_t cost = read_bytes + READ_COST_BYTES;

	*budget_bytes -= cost < *budget_bytes ? cost : *budget_bytes;
}

static int read_records(struct jitdump_file *file, struct jitdump_reader *reader,
			uint64_t *budget_bytes, jitdump_taker_fn take, void *take_context)
{
	size_t wanted = PIECE_BYTES, again = 0;

	while (!file->given_up) {
		uint64_t before;
		bool end, begun;
		int err;

		if (!*budget_bytes)
			return 1;
		err = read_piece(file, reader, wanted, &end);
		if (!err && end)
			err = read_tail(file, reader);
		if (err == -EAGAIN && again++ < AGAIN_MAX)
			continue;
		if (err && err != -EAGAIN)
			return err;
		charge(budget_bytes, reader->room.size);
		begun = file->begun;
		before = file->offset;
		err = take_records(file, reader, take, take_context);
		if (err < 0)
			return err;
		if (end && begun)
			return 0;
		wanted = PIECE_BYTES;
		if (file->offset == before)
			wanted = size_wanted(file, reader, end);
		if (!wanted)
			return 0;
	}
	return 0;
}

int jitdump_file_read(struct jitdump_file *file, struct jitdump_reader *reader,
		      uint64_t *budget_bytes, jitdump_taker_fn take, void *take_context)
{
	int more = read_records(file, reader, budget_bytes, take, take_context);

	if (reader->room.capacity > ROOM_BYTES_MAX)
		vec_deinit(&reader->room);
	return more;
}

void jitdump_file_end(struct jitdump_file *file)
{
	file->counts.incomplete += file->offset < file->file_bytes && !file->given_up;
}

void jitdump_reader_deinit(struct jitdump_reader *reader)
{
	process_text_deinit(&reader->text);
	vec_deinit(&reader->room);
	vec_deinit(&reader->tail);
	vec_deinit(&reader->end);
}
