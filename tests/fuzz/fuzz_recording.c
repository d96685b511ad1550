/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A recording: everything is read, and the names are looked up. The checksums
 * of the input are corrected first, so that the contents are reached.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "decode/record/record_check.h"
#include "decode/record/recording_reader.h"
#include "symbolize/recorded_frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void require(int ok)
{
	if (!ok)
		abort();
}

static void correct_checksums(uint8_t *bytes, size_t size)
{
	struct jitbpf_recording_header file;
	struct jitbpf_record header;
	size_t round_begin = 0, at;

	if (size < sizeof(file))
		return;
	memcpy(&file, bytes, sizeof(file));
	for (at = file.header_bytes; at < size && size - at >= sizeof(header);) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.size_bytes < sizeof(header) || header.size_bytes > size - at)
			return;
		if (header.type == JITBPF_CHUNK_ROUND &&
		    header.size_bytes == sizeof(struct jitbpf_round_chunk)) {
			size_t crc_at = at + offsetof(struct jitbpf_round_chunk, crc);
			uint32_t crc =
				(uint32_t)crc32_z(0, bytes + round_begin, crc_at - round_begin);

			memcpy(bytes + crc_at, &crc, sizeof(crc));
			round_begin = at + header.size_bytes;
		}
		at += header.size_bytes;
	}
}

/* Add a FRAMES chunk, from memory of exactly its size, and find it again. */
static void take_frames(struct recorded_frames *recorded, const struct jitbpf_record *record)
{
	struct jitbpf_frames_chunk *chunk = malloc(record->size_bytes);
	struct location location;
	struct module module = {.path = ""};
	char path[JITBPF_TEXT_MAX + 1u];
	uint32_t count;

	require(chunk != NULL);
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
			require(recorded_frames_find(recorded, &location, &module, &count) &&
				count);
	}
	free(chunk);
}

static void read_all(struct recording_reader *reader, struct recorded_frames *recorded)
{
	struct recording_error error = {0};
	const struct jitbpf_record *record;
	int err;

	while ((err = recording_reader_next(reader, &record, &error)) == 1) {
		require((uintptr_t)record % 8 == 0);
		if (record->type == JITBPF_CHUNK_FRAMES)
			take_frames(recorded, record);
		else if (record->type < JITBPF_CHUNK_INFO)
			require(record_check(record, record->size_bytes) == 0);
		else
			require(record->type == JITBPF_CHUNK_INFO ||
				record->type == JITBPF_CHUNK_ROUND);
	}
	require(!err || error.what);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	uint8_t *bytes = malloc(size_bytes + 1);
	struct recorded_frames *recorded;
	struct recording_reader *reader;
	struct recording_error error = {0};
	struct string_pool *strings;
	struct blob blob;

	if (!bytes || string_pool_create(&strings) || recorded_frames_create(strings, &recorded))
		abort();
	if (size_bytes)
		memcpy(bytes, data, size_bytes);
	correct_checksums(bytes, size_bytes);
	blob = blob_of_memory(bytes, size_bytes);
	if (!recording_reader_open(&blob, &reader, &error)) {
		read_all(reader, recorded);
		recording_reader_close(reader);
	} else {
		require(error.what && error.offset <= size_bytes);
	}
	recorded_frames_destroy(recorded);
	string_pool_destroy(strings);
	free(bytes);
	return 0;
}
