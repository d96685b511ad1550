/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording: everything is read, and the names are looked up. What is read is recorded again, and
 * must then be the same.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/record/record_check.h"
#include "decode/recording/recording_reader.h"
#include "pipeline/record/recorder.h"
#include "symbolize/recorded_frames.h"
#include "tests/fuzz/recording_input.h"
#include "tests/fuzz/seeds.h"

SEEDS(14);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

/* Add a FRAMES chunk, from memory of exactly its size, and find it again. */
static void take_frames(struct recorded_frames *recorded, const struct jitbpf_record *record)
{
	struct jitbpf_frames_chunk *chunk = malloc(record->size_bytes);
	struct location location;
	struct module module = {.path = ""};
	char path[JITBPF_TEXT_MAX + 1u];
	uint32_t count;

	CHECK(chunk != NULL);
	memcpy(chunk, record, record->size_bytes);
	if (!recorded_frames_add(recorded, chunk) && !recorded_frames_left_out(recorded)) {
		const uint8_t *identity = (const uint8_t *)(chunk + 1);

		location = (struct location){.kind = chunk->kind, .offset = chunk->offset};
		module.dev_major = chunk->dev_major;
		module.dev_minor = chunk->dev_minor;
		module.inode = chunk->inode;
		module.build_id_bytes = chunk->build_id_bytes;
		memcpy(module.build_id, identity, chunk->build_id_bytes);
		memcpy(path, identity + chunk->build_id_bytes, chunk->path_bytes);
		path[chunk->path_bytes] = 0;
		module.path = path;
		if (!memchr(path, 0, chunk->path_bytes))
			CHECK(recorded_frames_find(recorded, &location, &module, &count) && count);
	}
	free(chunk);
}

static struct recorder *begin_again(const struct jitbpf_record *record, FILE *out)
{
	const struct jitbpf_info_chunk *chunk = (const void *)record;
	struct run_info info = {
		.start_ns = record->time_ns,
		.wall_clock_ns = chunk->wall_clock_ns,
		.freq_hz = chunk->freq_hz,
		.cpus = chunk->cpus,
		.event = chunk->text,
	};
	struct recorder *recorder;

	info.command = info.event + strlen(info.event) + 1;
	info.host = info.command + strlen(info.command) + 1;
	info.kernel = info.host + strlen(info.host) + 1;
	CHECK(!recorder_create(out, &info, &recorder));
	return recorder;
}

static void read_all(struct recording_reader *reader, struct recorded_frames *recorded, FILE *out)
{
	struct recording_error error = {0};
	const struct jitbpf_record *record;
	struct recorder *recorder = NULL;
	int err;

	while ((err = recording_reader_next(reader, &record, &error)) == 1) {
		CHECK((uintptr_t)record % 8 == 0);
		if (record->type == JITBPF_CHUNK_FRAMES) {
			take_frames(recorded, record);
		} else if (record->type == JITBPF_CHUNK_INFO) {
			recorder = begin_again(record, out);
		} else if (record->type == JITBPF_CHUNK_ROUND) {
			CHECK(!recorder_end_round(recorder, record->time_ns));
		} else {
			CHECK(record_check(record, record->size_bytes) == 0);
			err = recorder_write(recorder, record);
			/* Unfinished records */
			CHECK(!err || err == -EINVAL);
		}
	}
	CHECK(!err || error.what);
	if (!err)
		seed_taken();
	recorder_destroy(recorder);
}

/* Returns the next record that can be recorded, or NULL. */
static const struct jitbpf_record *next_recorded(struct recording_reader *reader)
{
	struct recording_error error;
	const struct jitbpf_record *record;

	while (recording_reader_next(reader, &record, &error) == 1) {
		if (record->type != JITBPF_JIT && record->type != JITBPF_CODE &&
		    record->type != JITBPF_PROGRAM && record->type < JITBPF_CHUNK_INFO &&
		    !(record->type == JITBPF_SAMPLE &&
		      record->flags & (JITBPF_SAMPLE_STACK_COPY | JITBPF_SAMPLE_CODE_BYTES |
				       JITBPF_SAMPLE_RUNTIME_FRAMES)))
			return record;
	}
	return NULL;
}

/* The records of `again`, up to its last flush, are those of the input. */
static void compare(const struct blob *blob, const struct blob *again)
{
	struct recording_reader *a, *b;
	struct recording_error error;
	const struct jitbpf_record *x, *y;

	CHECK(!recording_reader_open(blob, &a, &error));
	CHECK(!recording_reader_open(again, &b, &error));
	while ((y = next_recorded(b)) != NULL) {
		x = next_recorded(a);
		CHECK(x && x->size_bytes == y->size_bytes && !memcmp(x, y, x->size_bytes));
	}
	recording_reader_close(a);
	recording_reader_close(b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	size_t size, again_size;
	uint8_t *bytes = recording_of_input(data, size_bytes, &size);
	struct recorded_frames *recorded;
	struct recording_reader *reader;
	struct recording_error error = {0};
	struct string_pool *strings;
	struct blob blob = blob_of_memory(bytes, size), again;
	char *again_bytes;
	FILE *out = open_memstream(&again_bytes, &again_size);

	CHECK(out && !string_pool_create(&strings) && !recorded_frames_create(strings, &recorded));
	if (!recording_reader_open(&blob, &reader, &error)) {
		read_all(reader, recorded, out);
		recording_reader_close(reader);
	} else {
		CHECK(error.what && error.offset <= size);
	}
	fclose(out);
	again = blob_of_memory(again_bytes, again_size);
	if (again_size)
		compare(&blob, &again);
	recorded_frames_destroy(recorded);
	string_pool_destroy(strings);
	free(again_bytes);
	free(bytes);
	return 0;
}
