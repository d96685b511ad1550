/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reader with file headers, descriptions and files that cannot be read. Packed chunks are in
 * test_packed_recording.c, files of the recorder in tests/unit/pipeline.
 */
#include <stdint.h>
#include <errno.h>
#include <stdio.h>

#include "decode/recording/recording_reader.h"
#include "tests/unit/cases.h"
#include "tests/unit/decode/record/segment_file.h"

/* A string of bytes as a lane: its NUL is not part of it. */
#define LANE(text)                                                                                 \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

#define INFO  "\x64\0\1\4\0\x08" /* four words, then four empty strings */
#define ROUND "\x67\0\0"
#define END   "\x69\0\0"

struct outcome {
	int err;
	size_t records;
	struct recording_error error;
};

static struct outcome read_blob(const struct blob *blob)
{
	struct outcome outcome = {0};
	const struct jitbpf_record *record;
	struct recording_reader *reader;

	outcome.err = recording_reader_open(blob, &reader, &outcome.error);
	if (outcome.err)
		return outcome;
	while ((outcome.err = recording_reader_next(reader, &record, &outcome.error)) == 1)
		outcome.records++;
	recording_reader_close(reader);
	return outcome;
}

/* Read the file and free it. */
static struct outcome read_file(struct segment_file *file)
{
	struct blob blob = blob_of_memory(file->bytes.data, file->bytes.size);
	struct outcome outcome = read_blob(&blob);

	segment_file_deinit(file);
	*file = (struct segment_file){0};
	return outcome;
}

static void assert_bad(struct segment_file *file, uint64_t offset, const char *what)
{
	struct outcome outcome = read_file(file);

	assert_int_equal(outcome.err, -EBADMSG);
	assert_string_equal(outcome.error.what, what);
	assert_int_equal(outcome.error.offset, offset);
}

/* A file that begins with this header, and `more_bytes` behind it. */
static struct segment_file headed(uint32_t version, uint32_t header_bytes, size_t more_bytes)
{
	struct segment_file file;

	segment_file_begin(&file);
	((struct jitbpf_recording_header *)file.bytes.data)->version = version;
	((struct jitbpf_recording_header *)file.bytes.data)->header_bytes = header_bytes;
	segment_file_put(&file, "more", more_bytes);
	file.crc = (uint32_t)crc32_z(0, file.bytes.data, file.bytes.size);
	return file;
}

static void put_whole(struct segment_file *file)
{
	static const struct lane_bytes info[] = {
		LANE(INFO), LANE("\0"), LANE(""), LANE(""), LANE("\0\0\0\0"),
	};
	static const struct lane_bytes end[] = {
		LANE(ROUND END), LANE("\0\0"), LANE(""), LANE(""), LANE(""),
	};

	segment_file_put_lanes(file, info);
	segment_file_put_lanes(file, end);
}

CASE(test_foreign_files)
{
	static const char elf[64] = "\x7f"
				    "ELF",
			  text[] = "JITBPF\n recordings are not text";
	struct segment_file file = {0};

	assert_bad(&file, 0, "not a jitbpf recording");
	segment_file_put(&file, elf, sizeof(elf));
	assert_bad(&file, 0, "not a jitbpf recording");
	segment_file_put(&file, text, sizeof(text));
	assert_bad(&file, 0, "not a jitbpf recording");
	segment_file_put(&file, JITBPF_RECORDING_MAGIC, 8);
	assert_bad(&file, 0, "the recording was cut");
}

CASE(test_versions)
{
	struct segment_file file = headed(JITBPF_RECORDING_VERSION + 1, 16, 0);

	assert_bad(&file, 0, "made by a newer jitbpf: use that version to read it");
	file = headed(0, 16, 0);
	assert_bad(&file, 0, "a damaged file header");
	file = headed(JITBPF_RECORDING_VERSION, 15, 0);
	assert_bad(&file, 0, "a damaged file header");
	file = headed(JITBPF_RECORDING_VERSION, 17, 0);
	assert_bad(&file, 0, "the recording was cut");
	file = headed(JITBPF_RECORDING_VERSION, UINT32_MAX, 0);
	assert_bad(&file, 0, "the recording was cut");
}

/* An older recording is whole, but this reader does not know its chunks. */
CASE(test_older_versions)
{
	for (uint32_t version = 1; version < JITBPF_RECORDING_VERSION; version++) {
		struct segment_file file = headed(version, 16, 0);
		char what[128];

		put_whole(&file);
		snprintf(what, sizeof(what),
			 "a recording of format %u, which only development versions before 0.1.0 "
			 "read: use one of them, or record again",
			 version);
		assert_bad(&file, 0, what);
	}
}

CASE(test_longer_file_header)
{
	struct segment_file file = headed(JITBPF_RECORDING_VERSION, 16 + 3, 3);
	struct outcome outcome;

	put_whole(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 2);
}

CASE(test_description_comes_once)
{
	static const struct lane_bytes twice[] = {
		LANE(INFO INFO), LANE("\0\0"), LANE(""), LANE(""), LANE("\0\0\0\0\0\0\0\0"),
	};
	static const struct lane_bytes endless[] = {
		LANE(INFO), LANE("\0"), LANE(""), LANE(""), LANE("\0\0\0x"),
	};
	struct segment_file file;
	size_t at;

	segment_file_begin(&file);
	at = segment_file_put_lanes(&file, twice);
	assert_bad(&file, at, "a second description of the recording");
	segment_file_begin(&file);
	at = segment_file_put_lanes(&file, endless);
	assert_bad(&file, at, "a malformed description");
}

/* A file of which the bytes from an offset on cannot be read. */
struct moody {
	const struct segment_file *file;
	uint64_t fails_at;
};

static int moody_read(void *context, uint64_t offset, void *buf, size_t size)
{
	struct moody *moody = context;

	if (offset + size > moody->fails_at)
		return -EIO;
	memcpy(buf, moody->file->bytes.data + offset, size);
	return 0;
}

CASE(test_files_that_cannot_be_read)
{
	struct segment_file file;
	struct moody moody = {.file = &file};
	struct blob blob = {.read = moody_read, .context = &moody};

	segment_file_begin(&file);
	put_whole(&file);
	blob.size_bytes = file.bytes.size;
	for (; moody.fails_at < file.bytes.size; moody.fails_at++) {
		struct outcome outcome = read_blob(&blob);

		assert_int_equal(outcome.err, -EIO);
		assert_true(outcome.records <= 1);
	}
	assert_int_equal(read_blob(&blob).err, 0);
	segment_file_deinit(&file);
}
