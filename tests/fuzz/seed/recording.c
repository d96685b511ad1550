/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes the seeds of fuzz_recording into a directory. To be run by hand after
 * a change of the format:
 *   make core && gcc -std=gnu11 -D_GNU_SOURCE -I. -Iuser tests/fuzz/seed/recording.c \
 *       build/libcore.a -liberty -lz -o build/seed && build/seed tests/fuzz/corpus/recording
 */
#include <stdio.h>

#include "tests/unit/pipeline/small_recording.h"

static void save(const char *folder, const char *name, const char *bytes, size_t size)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	small_require(f && fwrite(bytes, 1, size, f) == size && !fclose(f));
}

/* Returns the offset of the nth chunk of a type. */
static size_t chunk_at(const char *bytes, size_t size, uint16_t type, int n)
{
	struct jitbpf_record header;

	for (size_t at = sizeof(struct jitbpf_recording_header); at < size;) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.type == type && !n--)
			return at;
		at += header.size_bytes;
	}
	abort();
}

/* Save a copy with a few bytes of one chunk replaced. */
static void save_changed(const char *folder, const char *name, char *bytes, size_t size, size_t at,
			 const char *change, size_t change_bytes)
{
	char before[16];

	small_require(change_bytes <= sizeof(before) && at + change_bytes <= size);
	memcpy(before, bytes + at, change_bytes);
	memcpy(bytes + at, change, change_bytes);
	save(folder, name, bytes, size);
	memcpy(bytes + at, before, change_bytes);
}

int main(int argc, char **argv)
{
	struct small_recording small;
	size_t size, at;
	char *bytes;

	if (argc != 2)
		return 2;
	small_recording_init(&small);
	small_recording_write(&small, &bytes, &size);
	save(argv[1], "whole", bytes, size);
	save(argv[1], "cut-end", bytes, size - sizeof(struct jitbpf_record));
	save(argv[1], "cut-half", bytes, size / 2);
	save(argv[1], "header", bytes, sizeof(struct jitbpf_recording_header));
	save_changed(argv[1], "newer", bytes, size, 8, "\2", 1);
	at = chunk_at(bytes, size, JITBPF_CHUNK_SAMPLE_REF, 1);
	save_changed(argv[1], "no-stack", bytes, size, at + 36, "\xff\xff", 2);
	at = chunk_at(bytes, size, JITBPF_CHUNK_STACK, 1);
	save_changed(argv[1], "fresh", bytes, size, at + 6, "\1", 1);
	save_changed(argv[1], "many-frames", bytes, size, at + 16, "\xff\xff\xff\xff", 4);
	save_changed(argv[1], "huge-chunk", bytes, size, at, "\xff\xff\xff\xff", 4);
	at = chunk_at(bytes, size, JITBPF_CHUNK_FRAMES, 1);
	save_changed(argv[1], "frame-count", bytes, size, at + 26, "\xff\xff", 2);
	save_changed(argv[1], "build-id", bytes, size, at + 28, "\xff\xff", 2);
	at = chunk_at(bytes, size, JITBPF_MAPPING, 0);
	save_changed(argv[1], "unknown-type", bytes, size, at + 4, "\x63", 1);
	free(bytes);
	small_recording_deinit(&small);
	return 0;
}
