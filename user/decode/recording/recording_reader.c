/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "decode/recording/recording_reader.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/cursor.h"
#include "base/scope.h"
#include "decode/record/record_check.h"
#include "decode/recording/record_unpacker.h"
#include "decode/recording/segment_reader.h"

struct recording_reader {
	const struct blob *blob;
	struct segment_reader segments;
	struct record_unpacker unpacker; /* of the chunks of the segments */
	struct cursor lanes[JITBPF_LANE_COUNT];

	const struct jitbpf_record *record; /* the last chunk */
	uint64_t offset;		    /* file offset of it, or of its segment */
	bool has_info;
	bool in_round;
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

/* --- chunks ------------------------------------------------------------------- */

/* END is the last chunk of the last segment, behind a whole round. */
static int check_end(struct recording_reader *reader)
{
	const char *what = NULL;
	int more;

	if (reader->record->size_bytes != sizeof(*reader->record))
		return bad(reader, reader->offset, "a chunk of impossible size");
	if (reader->in_round)
		return bad(reader, reader->offset, "the recording ends inside a round");
	more = record_unpack(&reader->unpacker, reader->lanes, &what);
	if (more < 0 && more != -EBADMSG)
		return more;
	if (more || !segment_is_last(&reader->segments))
		return bad(reader, reader->segments.end,
			   "the file goes on behind the end of the recording");
	return 0;
}

static int next_chunk(struct recording_reader *reader)
{
	const char *what = NULL;
	int got = 0, err = 0;

	while (!got && !err) {
		got = record_unpack(&reader->unpacker, reader->lanes, &what);
		if (!got)
			err = segment_next(&reader->segments, reader->lanes, &what);
	}
	reader->offset = reader->segments.begin;
	err = err ?: (got < 0 ? got : 0);
	if (err)
		return err == -EBADMSG ? bad(reader, reader->offset, what) : err;
	reader->record = (void *)reader->unpacker.record.data;
	if (reader->record->type == JITBPF_CHUNK_END)
		return check_end(reader);
	reader->in_round = reader->record->type != JITBPF_CHUNK_ROUND;
	return 1;
}

static int take_info(struct recording_reader *reader)
{
	struct cursor c = cursor_of(reader->record, reader->record->size_bytes);
	const char *text;

	if (reader->has_info)
		return bad(reader, reader->offset, "a second description of the recording");
	if (cursor_skip(&c, sizeof(struct jitbpf_info_chunk)))
		return bad(reader, reader->offset, "a malformed description");
	for (int i = 0; i < 4; i++) {
		if (cursor_string(&c, &text))
			return bad(reader, reader->offset, "a malformed description");
	}
	reader->has_info = true;
	return 1;
}

/* Returns 1 if the chunk is to be returned, 0 if not. */
static int take(struct recording_reader *reader)
{
	const struct jitbpf_record *record = reader->record;
	int err;

	switch (record->type) {
	case JITBPF_CHUNK_INFO:
		return take_info(reader);
	case JITBPF_CHUNK_ROUND:
		return 1;
	case JITBPF_CHUNK_FRAMES:
		if (record->size_bytes < sizeof(struct jitbpf_frames_chunk))
			return bad(reader, reader->offset, "a malformed chunk");
		return 1;
	case JITBPF_CHUNK_THREAD:
	case JITBPF_CHUNK_FRESH:
		return 0;
	}
	err = record_check(record, record->size_bytes);
	if (err == -ENOTSUP) {
		reader->skipped++;
		return 0;
	}
	return err ? bad(reader, reader->offset, "a malformed record") : 1;
}

static int next(struct recording_reader *reader)
{
	int taken = 0, got;

	while (!taken) {
		got = next_chunk(reader);
		if (got <= 0)
			return got;
		taken = take(reader);
	}
	if (taken == 1 && !reader->has_info)
		return bad(reader, reader->offset, "no description of the recording");
	return taken;
}

int recording_reader_next(struct recording_reader *reader, const struct jitbpf_record **ret,
			  struct recording_error *error)
{
	if (reader->result == 1)
		reader->result = next(reader);
	if (reader->result == -EBADMSG)
		*error = reader->error;
	if (reader->result == 1)
		*ret = reader->record;
	return reader->result;
}

/* No release has written these. */
#define OLDER_FORMAT(version)                                                                      \
	"a recording of format " version ", which only development versions before 0.1.0 read: "   \
	"use one of them, or record again"

static int check_file_header(struct recording_reader *reader)
{
	static const char foreign[] = "not a jitbpf recording";
	static const char *const older[JITBPF_RECORDING_VERSION - 1] = {
		OLDER_FORMAT("1"), OLDER_FORMAT("2"), OLDER_FORMAT("3"), OLDER_FORMAT("4")};
	uint64_t size_bytes = reader->blob->size_bytes;
	struct jitbpf_recording_header header;
	int err;

	if (size_bytes < sizeof(header.magic))
		return bad(reader, 0, foreign);
	err = blob_read(reader->blob, 0, header.magic, sizeof(header.magic));
	if (err)
		return err;
	if (memcmp(header.magic, JITBPF_RECORDING_MAGIC, sizeof(header.magic)))
		return bad(reader, 0, foreign);
	if (size_bytes < sizeof(header))
		return bad(reader, 0, "the recording was cut");
	err = blob_read(reader->blob, 0, &header, sizeof(header));
	if (err)
		return err;
	if (header.version > JITBPF_RECORDING_VERSION)
		return bad(reader, 0, "made by a newer jitbpf: use that version to read it");
	if (header.version < 1 || header.header_bytes < sizeof(header))
		return bad(reader, 0, "a damaged file header");
	if (header.version < JITBPF_RECORDING_VERSION)
		return bad(reader, 0, older[header.version - 1]);
	if (header.header_bytes > size_bytes)
		return bad(reader, 0, "the recording was cut");
	return segment_reader_init(&reader->segments, reader->blob, header.header_bytes);
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
	segment_reader_deinit(&reader->segments);
	record_unpacker_deinit(&reader->unpacker);
	free(reader);
}

uint64_t recording_reader_skipped(const struct recording_reader *reader)
{
	return reader->skipped;
}

bool recording_reader_has_info(const struct recording_reader *reader)
{
	return reader->has_info;
}
