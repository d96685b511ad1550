/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/jitdump_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/publisher/jitdump_tail.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

#define PIECE_BYTES	(256u << 10)
#define ROOM_BYTES_MAX	(1u << 20) /* that is kept */
#define READ_COST_BYTES 4096
#define AGAIN_MAX	8 /* times that the file and the buffer are read anew in one call */

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
 * Fill the room with up to `wanted` bytes of the file from the offset on. Sets *ret_end to whether
 * the file ends there. Returns 0 or a negative errno.
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

static int take_record(struct jitdump_file *file, const struct jitdump_record *record,
		       const struct jitdump_taker *taker)
{
	struct code_event event;
	int made = jitdump_events_convert(&file->events, record, &event);

	if (made > 0)
		return taker->take(taker->context, &event, record->code);
	if (made == -EBADMSG)
		file->counts.malformed++;
	else
		return made;
	return 0;
}

static bool is_ready(const struct jitdump_taker *taker, const struct jitdump_record *record)
{
	bool by_pid = record->kind == JITDUMP_LOAD || record->kind == JITDUMP_MOVE;

	return !taker->is_ready || !by_pid ||
	       taker->is_ready(taker->context, record->pid, record->time_ns);
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

/* Take the whole records of the room for which the taker is ready. Moves the offset behind them. */
static int take_records(struct jitdump_file *file, struct jitdump_reader *reader,
			const struct jitdump_taker *taker)
{
	struct cursor c = cursor_of(reader->room.data, reader->room.size);
	struct jitdump_record record;
	int more = take_header(file, &c);

	while (more > 0) {
		size_t before = cursor_offset(&c);

		more = jitdump_record_next(&c, &record);
		if (more > 0 && !is_ready(taker, &record)) {
			file->waits = true;
			file->offset += before;
			return 0;
		}
		if (more > 0) {
			int err = take_record(file, &record, taker);

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

/*
 * Returns 1 if a record at the offset is whole in the file, or with what is in the stdio buffer; 0
 * if it is not; or a negative errno.
 */
static int is_whole(struct jitdump_file *file, struct jitdump_reader *reader, uint32_t size_bytes)
{
	uint64_t end = file->offset + size_bytes, pending = 0;
	int err = end > file->file_bytes ? jitdump_tail_pending(file, reader, &pending) : 0;

	return err ?: end <= file->file_bytes + pending;
}

/*
 * Set *ret to the size of the record at the beginning of the room, if the room is too small for it;
 * 0: there is no more of it. A record that no budget covers is skipped. Returns 0 or a negative
 * errno.
 */
static int size_wanted(struct jitdump_file *file, struct jitdump_reader *reader, bool end,
		       size_t *ret)
{
	struct cursor c = cursor_of(reader->room.data, reader->room.size);
	uint32_t size_bytes;
	int whole;

	*ret = 0;
	if (!file->begun)
		return 0;
	if (jitdump_record_size(&c, &size_bytes) <= 0) {
		*ret = end ? 0 : PIECE_BYTES;
		return 0;
	}
	if (size_bytes > JITDUMP_RECORD_MAX) {
		file->counts.over_budget++;
		file->offset += size_bytes;
		*ret = PIECE_BYTES;
		return 0;
	}
	whole = end ? 0 : is_whole(file, reader, size_bytes);
	if (whole > 0)
		*ret = size_bytes;
	return whole < 0 ? whole : 0;
}

/*
 * Charge a read. An empty read has a cost, too: a file system can report a size and return nothing.
 */
static void charge(uint64_t *budget_bytes, size_t read_bytes)
{
	uint64_t cost = read_bytes + READ_COST_BYTES;

	*budget_bytes -= cost < *budget_bytes ? cost : *budget_bytes;
}

/*
 * Read the next piece, with the stdio buffer if the file ends in it. Returns 0; -EINPROGRESS if the
 * buffer is missing; or another negative errno, after which there is no piece.
 */
static int read_next(struct jitdump_file *file, struct jitdump_reader *reader, size_t wanted,
		     struct jitdump_tail *tail, bool *ret_end)
{
	size_t again = 0;
	int err;

	do {
		err = read_piece(file, reader, wanted, ret_end);
		if (err)
			return err;
		err = *ret_end ? jitdump_tail_read(file, reader, tail) : 0;
	} while (err == -EAGAIN && again++ < AGAIN_MAX);
	/* The stdio buffer cannot be read, or changes too fast. */
	if (err == -EAGAIN || err == -ETIMEDOUT)
		err = -EINPROGRESS;
	return err == -EINPROGRESS && jitdump_tail_is_past(file, tail) ? 0 : err;
}

static int read_records(struct jitdump_file *file, struct jitdump_reader *reader,
			uint64_t *budget_bytes, const struct jitdump_taker *taker)
{
	struct jitdump_tail tail = {0};
	size_t wanted = PIECE_BYTES;

	file->waits = false;
	while (!file->given_up) {
		uint64_t before;
		bool end, begun;
		int missing, err;

		if (!*budget_bytes)
			return 1;
		missing = read_next(file, reader, wanted, &tail, &end);
		if (missing && missing != -EINPROGRESS)
			return missing;
		charge(budget_bytes, reader->room.size);
		begun = file->begun;
		before = file->offset;
		err = take_records(file, reader, taker);
		if (err < 0)
			return err;
		if (file->waits)
			return JITDUMP_WAITS;
		if (end && begun)
			return missing;
		wanted = PIECE_BYTES;
		err = file->offset == before ? size_wanted(file, reader, end, &wanted) : 0;
		if (err || !wanted)
			return err == -ETIMEDOUT ? -EINPROGRESS : err ?: missing;
	}
	return 0;
}

int jitdump_file_read(struct jitdump_file *file, struct jitdump_reader *reader,
		      uint64_t *budget_bytes, const struct jitdump_taker *taker)
{
	int more = read_records(file, reader, budget_bytes, taker);

	if (reader->room.capacity > ROOM_BYTES_MAX)
		vec_deinit(&reader->room);
	if (reader->borders.capacity * sizeof(*reader->borders.data) > ROOM_BYTES_MAX)
		vec_deinit(&reader->borders);
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
	vec_deinit(&reader->borders);
}
