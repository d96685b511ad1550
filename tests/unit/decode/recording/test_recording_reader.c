/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The reader with files of versions 1 and 2, and with file headers of all. tests/unit/pipeline has
 * files of the recorder.
 */
#include <stdint.h>
#include <errno.h>
#include <stdbool.h>
#include <zlib.h>

#include "base/vec.h"
#include "decode/recording/recording_reader.h"
#include "tests/unit/cases.h"

#define VERSION 2 /* the latest whose chunks are not packed */

/* A file under construction. */
struct file {
	VEC(uint8_t) bytes;
	size_t round_begin;
};

static void put(struct file *file, const void *bytes, size_t size)
{
	assert_int_equal(vec_reserve(&file->bytes, file->bytes.size + size), 0);
	if (size)
		memcpy(file->bytes.data + file->bytes.size, bytes, size);
	file->bytes.size += size;
}

/* Append a chunk of a header and `size` bytes. Returns its offset. */
static size_t put_chunk(struct file *file, uint16_t type, uint16_t flags, const void *bytes,
			size_t size)
{
	struct jitbpf_record header = {
		.size_bytes = (uint32_t)(sizeof(header) + size),
		.type = type,
		.flags = flags,
		.time_ns = 5,
	};
	size_t at = file->bytes.size;

	put(file, &header, sizeof(header));
	put(file, bytes, size);
	return at;
}

static void put_file_header(struct file *file, uint32_t version, uint32_t header_bytes)
{
	struct jitbpf_recording_header header = {.version = version, .header_bytes = header_bytes};

	memcpy(header.magic, JITBPF_RECORDING_MAGIC, sizeof(header.magic));
	put(file, &header, sizeof(header));
}

static void put_info(struct file *file)
{
	static const uint8_t info[16 + 4]; /* four empty strings */

	put_chunk(file, JITBPF_CHUNK_INFO, 0, info, sizeof(info));
}

static void put_round(struct file *file)
{
	uint32_t words[2] = {0};
	size_t at = put_chunk(file, JITBPF_CHUNK_ROUND, 0, words, sizeof(words));

	at += offsetof(struct jitbpf_round_chunk, crc);
	words[1] =
		(uint32_t)crc32_z(0, file->bytes.data + file->round_begin, at - file->round_begin);
	memcpy(file->bytes.data + at, &words[1], sizeof(words[1]));
	file->round_begin = file->bytes.size;
}

static void put_end(struct file *file)
{
	put_chunk(file, JITBPF_CHUNK_END, 0, NULL, 0);
}

/* A file up to and including its INFO chunk. */
static struct file begun(void)
{
	struct file file = {0};

	put_file_header(&file, VERSION, sizeof(struct jitbpf_recording_header));
	put_info(&file);
	return file;
}

static void finish(struct file *file)
{
	put_round(file);
	put_end(file);
}

struct outcome {
	int err;
	size_t records;
	uint64_t skipped;
	uint16_t last_type;
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
	while ((outcome.err = recording_reader_next(reader, &record, &outcome.error)) == 1) {
		assert_int_equal((uintptr_t)record % 8, 0);
		outcome.records++;
		outcome.last_type = record->type;
	}
	outcome.skipped = recording_reader_skipped(reader);
	recording_reader_close(reader);
	return outcome;
}

/* Read the file and free it. */
static struct outcome read_file(struct file *file)
{
	struct blob blob = blob_of_memory(file->bytes.data, file->bytes.size);
	struct outcome outcome = read_blob(&blob);

	vec_deinit(&file->bytes);
	return outcome;
}

static void assert_bad(struct file *file, uint64_t offset, const char *what)
{
	struct outcome outcome = read_file(file);

	assert_int_equal(outcome.err, -EBADMSG);
	assert_string_equal(outcome.error.what, what);
	assert_int_equal(outcome.error.offset, offset);
}

CASE(test_foreign_files)
{
	static const char elf[64] = "\x7f"
				    "ELF",
			  text[] = "JITBPF\n recordings are not text";
	struct file file = {0};

	assert_bad(&file, 0, "not a jitbpf recording");
	put(&file, elf, sizeof(elf));
	assert_bad(&file, 0, "not a jitbpf recording");
	put(&file, text, sizeof(text));
	assert_bad(&file, 0, "not a jitbpf recording");
}

CASE(test_versions)
{
	struct file file = {0};

	put_file_header(&file, JITBPF_RECORDING_VERSION + 1, 16);
	assert_bad(&file, 0, "made by a newer jitbpf: use that version to read it");
	put_file_header(&file, 0, 16);
	assert_bad(&file, 0, "a damaged file header");
	put_file_header(&file, JITBPF_RECORDING_VERSION, 15);
	assert_bad(&file, 0, "a damaged file header");
	put_file_header(&file, JITBPF_RECORDING_VERSION, 17);
	assert_bad(&file, 0, "the recording was cut");
	put_file_header(&file, JITBPF_RECORDING_VERSION, UINT32_MAX);
	assert_bad(&file, 0, "the recording was cut");
}

CASE(test_longer_file_header)
{
	struct file file = {0};
	struct outcome outcome;

	put_file_header(&file, VERSION, 16 + 3);
	put(&file, "new", 3);
	put_info(&file);
	finish(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 2);
}

CASE(test_unknown_chunks_are_skipped)
{
	struct file file = begun();
	struct outcome outcome;

	put_chunk(&file, 99, 0, "abc", 3);
	put_chunk(&file, 4711, 0, NULL, 0);
	put_chunk(&file, UINT16_MAX, 0, "abcdef", 6);
	finish(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 2);
	assert_int_equal(outcome.skipped, 3);
}

CASE(test_description_comes_first_and_once)
{
	struct file file = {0};
	size_t at;

	put_file_header(&file, VERSION, 16);
	at = file.bytes.size;
	finish(&file);
	assert_bad(&file, at, "no description of the recording");

	file = begun();
	at = file.bytes.size;
	put_info(&file);
	finish(&file);
	assert_bad(&file, at, "a second description of the recording");

	file.round_begin = 0;
	put_file_header(&file, VERSION, 16);
	at = put_chunk(&file, JITBPF_CHUNK_INFO, 0, "0123456789abcdef\0\0\0x", 20);
	finish(&file);
	assert_bad(&file, at, "a malformed description");
}

CASE(test_ends)
{
	struct file file = begun();
	size_t at = file.bytes.size;

	put_end(&file);
	assert_bad(&file, at, "the recording ends inside a round");

	file = begun();
	finish(&file);
	at = file.bytes.size;
	put(&file, "x", 1);
	assert_bad(&file, at, "the file goes on behind the end of the recording");

	file = begun();
	put_round(&file);
	at = file.bytes.size;
	assert_bad(&file, at, "the recording was cut");

	file = begun();
	put_round(&file);
	at = put_chunk(&file, JITBPF_CHUNK_END, 0, "x", 1);
	assert_bad(&file, at, "a chunk of impossible size");
}

CASE(test_impossible_sizes)
{
	static const uint32_t sizes[] = {0, 1, 15, JITBPF_CHUNK_MAX + 1, UINT32_MAX};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct file file = begun();
		size_t at =
			put_chunk(&file, JITBPF_COMM, 0, "0123456789abcdef0123456789abcdef", 32);

		memcpy(file.bytes.data + at, &sizes[i], sizeof(sizes[i]));
		finish(&file);
		assert_bad(&file, at, "a chunk of impossible size");
	}
}

/* Valid checksums with invalid chunks. Chunks before them are delivered. */
CASE(test_malformed_chunks)
{
	static const struct {
		uint16_t type, flags;
		size_t size;
		uint8_t bytes[48];
		const char *what;
	} cases[] = {
		{JITBPF_COMM, 0, 31, {0}, "a malformed record"},
		{JITBPF_SAMPLE, 0, 48, {[20] = 1}, "a malformed record"},
		{JITBPF_CHUNK_STACK, 0, 7, {0}, "a malformed stack"},
		{JITBPF_CHUNK_STACK, 0, 8, {1}, "a malformed stack"},
		{JITBPF_CHUNK_STACK, 0, 24, {1}, "a malformed stack"},
		{JITBPF_CHUNK_STACK, 0, 8, {0xff, 0xff, 0xff, 0xff}, "a malformed stack"},
		{JITBPF_CHUNK_SAMPLE_REF, 0, 39, {0}, "a malformed sample"},
		{JITBPF_CHUNK_SAMPLE_REF, 0, 41, {0}, "a malformed sample"},
		{JITBPF_CHUNK_SAMPLE_REF, JITBPF_SAMPLE_USER_REGS, 40, {0}, "a malformed sample"},
		{JITBPF_CHUNK_SAMPLE_REF, 0, 40, {[20] = 1}, "a sample whose stack is not there"},
		{JITBPF_CHUNK_FRAMES, 0, 31, {0}, "a malformed chunk"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct file file = begun();
		struct outcome outcome;
		size_t at;

		put_chunk(&file, JITBPF_CHUNK_STACK, 0, "\0\0\0\0\1\0\0\0", 8);
		put_chunk(&file, JITBPF_CHUNK_SAMPLE_REF, 0, cases[8].bytes, 40);
		at = put_chunk(&file, cases[i].type, cases[i].flags, cases[i].bytes, cases[i].size);
		finish(&file);
		outcome = read_file(&file);
		assert_int_equal(outcome.err, -EBADMSG);
		assert_string_equal(outcome.error.what, cases[i].what);
		assert_int_equal(outcome.error.offset, at);
		assert_int_equal(outcome.records, 2);
		assert_int_equal(outcome.last_type, JITBPF_SAMPLE);
	}
}

CASE(test_round_of_odd_size)
{
	struct file file = begun();
	size_t at = put_chunk(&file, JITBPF_CHUNK_ROUND, 0, "0123456789", 10);

	put_end(&file);
	assert_bad(&file, at, "a chunk of impossible size");
}

/* Stack numbers restart at a stack with JITBPF_STACK_FRESH. */
CASE(test_fresh_stacks)
{
	uint8_t ref[40] = {0}, stack[8] = {[4] = JITBPF_END_ROOT};
	struct file file = begun();
	struct outcome outcome;
	size_t at;

	put_chunk(&file, JITBPF_CHUNK_STACK, 0, stack, sizeof(stack));
	put_chunk(&file, JITBPF_CHUNK_STACK, 0, stack, sizeof(stack));
	ref[20] = 1;
	put_chunk(&file, JITBPF_CHUNK_SAMPLE_REF, 0, ref, sizeof(ref));
	put_chunk(&file, JITBPF_CHUNK_STACK, JITBPF_STACK_FRESH, stack, sizeof(stack));
	ref[20] = 0;
	put_chunk(&file, JITBPF_CHUNK_SAMPLE_REF, 0, ref, sizeof(ref));
	ref[20] = 1;
	at = put_chunk(&file, JITBPF_CHUNK_SAMPLE_REF, 0, ref, sizeof(ref));
	finish(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, -EBADMSG);
	assert_int_equal(outcome.records, 3);
	assert_string_equal(outcome.error.what, "a sample whose stack is not there");
	assert_int_equal(outcome.error.offset, at);
}

/* Rounds and chunks larger than the reader's buffer. */
CASE(test_large_rounds)
{
	static const uint8_t comm[32];
	uint8_t *large = calloc(1, 1 << 20);
	struct file file = begun();
	struct outcome outcome;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 20000; i++)
			put_chunk(&file, JITBPF_COMM, 0, comm, sizeof(comm));
		put_chunk(&file, 99, 0, large, 1 << 20);
		put_chunk(&file, JITBPF_COMM, 0, comm, sizeof(comm));
		put_chunk(&file, 99, 0, large, 31);
		if (round < 2)
			put_round(&file);
	}
	finish(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 1 + 3 * 20002);
	assert_int_equal(outcome.skipped, 6);
	free(large);
}

/* A file whose contents change while it is read. */
struct moody {
	const struct file *file;
	uint64_t fails_at; /* reads that reach this offset fail */
	/* once a read has reached it, later reads below it return other bytes */
	uint64_t lies_below;
	uint64_t reached;
};

static int moody_read(void *context, uint64_t offset, void *buf, size_t size)
{
	struct moody *moody = context;

	if (offset + size > moody->fails_at)
		return -EIO;
	memcpy(buf, moody->file->bytes.data + offset, size);
	if (moody->reached > moody->lies_below && offset < moody->lies_below)
		memset(buf, 0xff, size);
	if (offset + size > moody->reached)
		moody->reached = offset + size;
	return 0;
}

static struct outcome read_moody(struct moody *moody)
{
	struct blob blob = {
		.size_bytes = moody->file->bytes.size,
		.read = moody_read,
		.context = moody,
	};

	return read_blob(&blob);
}

CASE(test_moody_files)
{
	static const uint8_t comm[32];
	struct moody moody = {.fails_at = UINT64_MAX};
	struct file file = begun();
	struct outcome outcome;

	put_round(&file);
	for (int i = 0; i < 20000; i++)
		put_chunk(&file, JITBPF_COMM, 0, comm, sizeof(comm));
	finish(&file);
	moody.file = &file;

	/* The file changes between the check of the round and the second read. */
	moody.lies_below = 800000;
	outcome = read_moody(&moody);
	assert_int_equal(outcome.err, -EBADMSG);
	assert_string_equal(outcome.error.what, "a chunk of impossible size");

	moody = (struct moody){.file = &file, .fails_at = 600000, .lies_below = UINT64_MAX};
	outcome = read_moody(&moody);
	assert_int_equal(outcome.err, -EIO);
	assert_int_equal(outcome.records, 2);

	moody.fails_at = 0;
	assert_int_equal(read_moody(&moody).err, -EIO);
	vec_deinit(&file.bytes);
}
