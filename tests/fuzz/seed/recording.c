/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes seeds of fuzz_recording and fuzz_replay (packed-*), and of fuzz_segments, into folders.
 * To be run by hand after a change of the format:
 *   make core && gcc -std=gnu11 -D_GNU_SOURCE -I. -Iuser tests/fuzz/seed/recording.c \
 *       build/libcore.a -liberty -lz -lzstd -o build/seed &&
 *   build/seed tests/fuzz/corpus/recording tests/fuzz/corpus/segments
 */
#include <stdio.h>

#include "decode/recording/segment_reader.h"
#include "tests/unit/pipeline/small_recording.h"

static void save(const char *folder, const char *name, const void *bytes, size_t size)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "wb");
	small_require(f && fwrite(bytes, 1, size, f) == size && !fclose(f));
}

/* The file header, and the contents of the segments after their sizes (recording_input.h). */
static void contents_of(const char *bytes, size_t size, char **ret, size_t *ret_size)
{
	const uint32_t header_bytes = sizeof(struct jitbpf_recording_header);
	struct blob blob = blob_of_memory(bytes, size);
	FILE *out = open_memstream(ret, ret_size);
	struct cursor lanes[JITBPF_LANE_COUNT];
	struct segment_reader reader;
	const char *what;

	small_require(out && fwrite(bytes, 1, header_bytes, out) == header_bytes &&
		      !segment_reader_init(&reader, &blob, header_bytes));
	while (!segment_next(&reader, lanes, &what)) {
		uint32_t content_bytes = (uint32_t)reader.content.size;

		fwrite(&content_bytes, 1, sizeof(content_bytes), out);
		fwrite(reader.content.data, 1, content_bytes, out);
	}
	segment_reader_deinit(&reader);
	fclose(out);
}

static void save_contents(const char *folder, const char *name, struct small_recording *small)
{
	size_t size, contents_size;
	char *bytes, *contents;

	small_recording_write(small, &bytes, &size);
	contents_of(bytes, size, &contents, &contents_size);
	save(folder, name, contents, contents_size);
	free(contents);
	free(bytes);
}

/*
 * A run with several events. The small recording also has samples of unknown events, and weights
 * that do not belong to their event.
 */
static void save_events(const char *folder, const char *name, uint32_t count)
{
	static const struct run_event known[] = {{"page-faults", "faults", 1000},
						 {"waits", "ns", 0}};
	struct small_recording small;

	small_recording_init(&small);
	small.info.more_events = count;
	for (uint32_t i = 0; i < count; i++)
		small.info.events[i] = known[i % ARRAY_SIZE(known)];
	save_contents(folder, name, &small);
	small_recording_deinit(&small);
}

/*
 * A sample with frames of a runtime, or with words that are no whole frames: of an unknown kind, or
 * cut in the middle.
 */
static void save_typed(const char *folder, const char *name, uint64_t outer, uint64_t last)
{
	const uint64_t runtime = (uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT;
	struct small_recording small;

	small_recording_init(&small);
	for (uint64_t i = 0; i < 3; i++) {
		struct jitbpf_sample *sample = small_add_sample(&small, 1, 6, 9, i == 1);

		sample->words[1] = runtime | 5;
		sample->words[2] = 40 + i;
		sample->words[4] = runtime | 6;
		sample->words[5] = outer;
		sample->words[6] = last;
	}
	small_add_round(&small);
	save_contents(folder, name, &small);
	small_recording_deinit(&small);
}

static struct jitbpf_runtime_function *add_function(struct small_recording *small, uint64_t number,
						    const char *name, const char *file)
{
	const uint32_t name_bytes = (uint32_t)strlen(name) + 1, file_bytes = strlen(file) + 1;
	struct jitbpf_runtime_function *function = small_add(
		small, JITBPF_RUNTIME_FUNCTION, sizeof(*function) + name_bytes + file_bytes);

	function->number = number;
	strcpy(function->runtime, "CPython");
	function->pid = 4001;
	function->first_line = 10;
	function->name_bytes = name_bytes;
	function->file_bytes = file_bytes;
	memcpy(function->strings, name, name_bytes);
	memcpy(function->strings + name_bytes, file, file_bytes);
	return function;
}

/*
 * Runtimes of each status, and functions that samples have: with and without names, and one that no
 * record describes. wrong: the records are refused.
 */
static void save_runtimes(const char *folder, const char *name, bool wrong)
{
	const uint64_t runtime = (uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT;
	struct jitbpf_runtime_function *function;
	struct small_recording small;
	struct jitbpf_sample *sample;
	struct jitbpf_runtime *known;

	small_recording_init(&small);
	for (uint32_t status = 0; status < 8; status++) {
		known = small_add(&small, JITBPF_RUNTIME, sizeof(*known));
		known->pid = 4000 + status;
		known->start_ns = 77;
		known->status = status;
		known->version[0] = 3;
		known->version[1] = (uint16_t)(status ? 0xffff : 11);
		memset(known->name, wrong ? 'x' : 0, sizeof(known->name));
		memcpy(known->name, status % 2 ? "PHP" : "CPython", 7);
	}
	add_function(&small, 1, "Search.run", "/srv/search.py");
	function = add_function(&small, 2, "", "");
	function->name_bytes = wrong ? UINT32_MAX : 1;
	add_function(&small, 1, "again", "of the same number");
	function = add_function(&small, (1ull << 56) - 1, "a;b\n\xff", "x");
	function->number += wrong;
	sample = small_add_sample(&small, 0, 7, 9, false);
	for (uint32_t i = 0; i < 3; i++) {
		sample->words[1 + 2 * i] = runtime | (i + 1);
		sample->words[2 + 2 * i] = 11 + i + (i ? JITBPF_POSITION_COMPILED : 0);
	}
	small_add_round(&small);
	save_contents(folder, name, &small);
	small_recording_deinit(&small);
}

int main(int argc, char **argv)
{
	struct small_recording small;
	size_t size, contents_size;
	char *bytes, *contents, name[32];

	if (argc != 3)
		return 2;
	small_recording_init(&small);
	small_recording_write(&small, &bytes, &size);
	save(argv[2], "whole", bytes, size);
	save(argv[2], "cut-half", bytes, size / 2);
	contents_of(bytes, size, &contents, &contents_size);
	save(argv[1], "packed", contents, contents_size);
	save(argv[1], "packed-cut", contents, contents_size / 2);
	save_events(argv[1], "packed-events", 2);
	save_events(argv[1], "packed-events-most", JITBPF_EVENTS_MAX - 1);
	save_typed(argv[1], "packed-frames", UINT64_MAX, 0x7f0000001000);
	save_typed(argv[1], "packed-frames-unknown", 7, (uint64_t)77 << JITBPF_FRAME_KIND_SHIFT);
	save_typed(argv[1], "packed-frames-cut", 7,
		   (uint64_t)JITBPF_FRAME_RUNTIME << JITBPF_FRAME_KIND_SHIFT);
	save_runtimes(argv[1], "packed-runtimes", false);
	save_runtimes(argv[1], "packed-runtimes-wrong", true);
	/* Damage in some places. */
	for (size_t i = 1; i < 8; i++) {
		size_t at = contents_size / 8 * i;

		contents[at] ^= 0x55;
		snprintf(name, sizeof(name), "packed-%zu", i);
		save(argv[1], name, contents, contents_size);
		contents[at] ^= 0x55;
	}
	free(contents);
	free(bytes);
	small_recording_deinit(&small);
	return 0;
}
