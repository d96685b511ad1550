/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The reader with packed recordings that no recorder writes. */
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

/* INFO: 4 words, none of which is 0 in the first or second; four empty strings. 1,000 Hz. */
#define INFO_HEADS "\x64\0\1\4\4\x08"
#define INFO_WORDS "\xd0\x0f" /* word 2: 1000 */
#define INFO_TEXT  "\0\0\0\0"
#define THREAD	   "\x6a\0\1\4\3\x20" /* the words pid and tid, and comm */
#define THREAD_TEXT                                                                                \
	"thread\0\0"                                                                               \
	"\0\0\0\0\0\0\0\0"
#define ROUND "\x67\0\0"
#define END   "\x69\0\0"

struct outcome {
	int err;
	size_t records;
	uint64_t skipped;
	struct recording_error error;
	uint64_t last[16 + 4 * JITBPF_SAMPLE_WORDS_MAX]; /* the last record but ROUND */
};

static struct outcome read_file(struct segment_file *file)
{
	struct blob blob = blob_of_memory(file->bytes.data, file->bytes.size);
	static struct outcome outcome;
	const struct jitbpf_record *record;
	struct recording_reader *reader;

	outcome = (struct outcome){0};
	assert_int_equal(recording_reader_open(&blob, &reader, &outcome.error), 0);
	while ((outcome.err = recording_reader_next(reader, &record, &outcome.error)) == 1) {
		assert_int_equal((uintptr_t)record % 8, 0);
		outcome.records++;
		if (record->type != JITBPF_CHUNK_ROUND && record->size_bytes < sizeof(outcome.last))
			memcpy(outcome.last, record, record->size_bytes);
	}
	outcome.skipped = recording_reader_skipped(reader);
	recording_reader_close(reader);
	segment_file_deinit(file);
	return outcome;
}

static void assert_bad(struct segment_file *file, uint64_t offset, const char *what)
{
	struct outcome outcome = read_file(file);

	assert_int_equal(outcome.err, -EBADMSG);
	assert_string_equal(outcome.error.what, what);
	assert_int_equal(outcome.error.offset, offset);
}

/* A file whose first segment has INFO and a thread. */
static struct segment_file begun(void)
{
	static const struct lane_bytes lanes[] = {
		LANE(INFO_HEADS THREAD),     LANE("\0\0"), LANE(""),
		LANE(INFO_WORDS "\x0e\x10"), /* pid 7, tid 8 */
		LANE(INFO_TEXT THREAD_TEXT),
	};
	struct segment_file file;

	segment_file_begin(&file);
	segment_file_put_lanes(&file, lanes);
	return file;
}

static void finish(struct segment_file *file)
{
	static const struct lane_bytes lanes[] = {
		LANE(ROUND END), LANE("\0\0"), LANE(""), LANE(""), LANE(""),
	};

	segment_file_put_lanes(file, lanes);
}

CASE(test_a_sample)
{
	/* CPU 3, flags 4, two user frames, one kernel frame; at 5 us after its period. */
	static const struct lane_bytes lanes[] = {
		LANE("\x9d\x03\x04\x02\x01"), LANE("\x90\x4e"), LANE("\1"),
		LANE("\x80\x01\3\2"),	      LANE(""),
	};
	struct segment_file file = begun();
	struct jitbpf_sample *sample;
	struct outcome outcome;

	segment_file_put_lanes(&file, lanes);
	finish(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 3);
	sample = (void *)outcome.last;
	assert_int_equal(sample->h.type, JITBPF_SAMPLE);
	assert_int_equal(sample->h.size_bytes, sizeof(*sample) + 3 * 8);
	assert_int_equal(sample->h.flags, JITBPF_SAMPLE_FRAME_POINTERS);
	assert_int_equal(sample->h.time_ns, 1005000);
	assert_int_equal(sample->pid, 7);
	assert_int_equal(sample->tid, 8);
	assert_string_equal(sample->comm, "thread");
	assert_int_equal(sample->cpu, 3);
	assert_int_equal(sample->user_end, JITBPF_END_ROOT);
	assert_int_equal(sample->user_words, 2);
	assert_int_equal(sample->kernel_words, 1);
	assert_int_equal(sample->words[0], 1);	/* kernel: 0 + 1 */
	assert_int_equal(sample->words[1], 62); /* user: 64 - 2 */
	assert_int_equal(sample->words[2], 64);
}

CASE(test_malformed_chunks)
{
	static const struct {
		struct lane_bytes lanes[JITBPF_LANE_COUNT];
		const char *what;
	} cases[] = {
		/* samples */
		{{LANE("\xa0"), LANE("\0"), LANE("\0"), LANE(""), LANE("")}, "a malformed sample"},
		{{LANE("\x80"), LANE(""), LANE("\0"), LANE(""), LANE("")}, "a malformed sample"},
		{{LANE("\x80"), LANE("\0"), LANE(""), LANE(""), LANE("")}, "a malformed sample"},
		{{LANE("\x80"), LANE("\0"), LANE("\x10"), LANE(""), LANE("")},
		 "a malformed sample"},
		{{LANE("\x80"), LANE("\0"), LANE("\x0f"), LANE(""), LANE("")},
		 "a malformed record"},
		{{LANE("\x81\x80\x80\4"), LANE("\0"), LANE("\0"), LANE(""), LANE("")},
		 "a malformed sample"},
		{{LANE("\x82\1"), LANE("\0"), LANE("\0"), LANE(""), LANE("")},
		 "a malformed sample"},
		{{LANE("\x84\x80\x80\4"), LANE("\0"), LANE("\0"), LANE(""), LANE("")},
		 "a malformed sample"},
		{{LANE("\x84\1"), LANE("\0"), LANE("\0"), LANE(""), LANE("")},
		 "a malformed sample"},
		{{LANE("\x88\x81\x08"), LANE("\0"), LANE("\0"), LANE("\0"), LANE("")},
		 "a malformed sample"},
		{{LANE("\x88\2"), LANE("\0"), LANE("\0"), LANE("\0"), LANE("")},
		 "a malformed sample"},
		/* a user frame that is called by the kernel */
		{{LANE("\x90\1\x88\1"), LANE("\0\0"), LANE("\1\x10"), LANE("\0\0"), LANE("")},
		 "a malformed sample"},
		/* chunks */
		{{LANE("\4"), LANE("\0"), LANE(""), LANE(""), LANE("")}, "a malformed chunk"},
		{{LANE("\4\0\0"), LANE(""), LANE(""), LANE(""), LANE("")}, "a malformed chunk"},
		{{LANE("\4\x80\x80\4\0"), LANE("\0"), LANE(""), LANE(""), LANE("")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\x29\0"), LANE("\0"), LANE(""), LANE(""), LANE("")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\1\2\0"), LANE("\0"), LANE(""), LANE("\0"), LANE("")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\1\1\0"), LANE("\0"), LANE(""), LANE(""), LANE("")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\0\4"), LANE("\0"), LANE(""), LANE(""), LANE("1")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\0\1"), LANE("\0"), LANE(""), LANE(""), LANE("1")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\1\1\0"), LANE("\0"), LANE(""), LANE("\4"), LANE("1")},
		 "a malformed chunk"},
		{{LANE("\4\0\2\0\2"), LANE("\0"), LANE(""), LANE(""), LANE("1")},
		 "a malformed chunk"},
		{{LANE("\4\0\1\1\0\0"), LANE("\0"), LANE(""), LANE(""), LANE("")},
		 "a malformed record"},
		{{LANE("\x6a\0\0"), LANE("\0"), LANE(""), LANE(""), LANE("")}, "a malformed chunk"},
		{{LANE("\x64\0\0"), LANE("\0"), LANE(""), LANE(""), LANE("")}, "a malformed chunk"},
		{{LANE(INFO_HEADS), LANE("\0"), LANE(""), LANE(INFO_WORDS), LANE(INFO_TEXT)},
		 "a second description of the recording"},
		{{LANE("\x68\0\0"), LANE("\0"), LANE(""), LANE(""), LANE("")}, "a malformed chunk"},
		{{LANE(END), LANE("\0"), LANE(""), LANE(""), LANE("")},
		 "the recording ends inside a round"},
		{{LANE(ROUND), LANE("\0\0"), LANE(""), LANE(""), LANE("")},
		 "a segment with more than its chunks"},
		{{LANE(ROUND), LANE("\0"), LANE(""), LANE(""), LANE("x")},
		 "a segment with more than its chunks"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct segment_file file = begun();
		size_t at = segment_file_put_lanes(&file, cases[i].lanes);

		finish(&file);
		assert_bad(&file, at, cases[i].what);
	}
}

/* FRESH removes threads and nodes. */
CASE(test_fresh)
{
	static const struct lane_bytes stack[] = {
		LANE("\x88\1\x80"), LANE("\0\0"), LANE("\1\x10"), LANE("\0"), LANE(""),
	};
	static const struct lane_bytes fresh[] = {
		LANE("\x6b\0\0" THREAD), LANE("\0\0"), LANE(""), LANE("\2\2"), LANE(THREAD_TEXT),
	};
	static const struct lane_bytes only_fresh[] = {
		LANE("\x6b\0\0"), LANE("\0"), LANE(""), LANE(""), LANE(""),
	};
	static const struct lane_bytes no_stack[] = {
		LANE("\x80"), LANE("\0"), LANE("\1"), LANE(""), LANE(""),
	};
	static const struct lane_bytes old_stack[] = {
		LANE("\x80"), LANE("\0"), LANE("\x10"), LANE(""), LANE(""),
	};
	struct segment_file file = begun();
	struct outcome outcome;
	size_t at;

	segment_file_put_lanes(&file, stack);
	segment_file_put_lanes(&file, fresh);
	segment_file_put_lanes(&file, no_stack);
	at = segment_file_put_lanes(&file, old_stack);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, -EBADMSG);
	assert_string_equal(outcome.error.what, "a malformed sample");
	assert_int_equal(outcome.error.offset, at);
	assert_int_equal(outcome.records, 1 + 3);

	file = begun();
	segment_file_put_lanes(&file, only_fresh);
	at = segment_file_put_lanes(&file, no_stack);
	assert_bad(&file, at, "a malformed sample"); /* of no thread */
}

/* More nodes, threads, and frames than a reader keeps. */
CASE(test_limits)
{
	static const uint8_t deep_head[] = {0x88, 0x81, 0x18}; /* 3,073 nodes */
	static uint8_t zeros[4096];
	struct lane_bytes nodes[] = {
		{deep_head, sizeof(deep_head)}, LANE("\0"), LANE("\1"), {zeros, 3073}, LANE(""),
	};
	static const struct lane_bytes longer[] = {
		LANE("\x88\1"), LANE("\0"), LANE("\x90\x18"), LANE("\0"), LANE(""),
	};
	static const struct lane_bytes thread[] = {
		LANE("\x6a\0\1\4\0\x20"), LANE("\0"), LANE(""), LANE(""), LANE(THREAD_TEXT),
	};
	struct segment_file file = begun();
	size_t at = 0;

	for (size_t i = 0; i <= (JITBPF_NODES_MAX - JITBPF_STACK_ROOTS) / 3073; i++)
		at = segment_file_put_lanes(&file, nodes);
	assert_bad(&file, at, "a malformed sample");

	file = begun();
	segment_file_put_lanes(&file, nodes);
	at = segment_file_put_lanes(&file, longer);
	assert_bad(&file, at, "a malformed sample");

	file = begun();
	for (size_t i = 0; i < JITBPF_THREADS_MAX; i++)
		at = segment_file_put_lanes(&file, thread);
	assert_bad(&file, at, "a malformed chunk");
}

CASE(test_unknown_chunks_are_skipped)
{
	static const struct lane_bytes lanes[] = {
		LANE("\x63\0\1\0\6"
		     "\x7f\7\2\2\3\4\1\1\2"),
		LANE("\0\0"),
		LANE(""),
		LANE("\1\1\1"),
		LANE("abcd"),
	};
	struct segment_file file = begun();
	struct outcome outcome;

	segment_file_put_lanes(&file, lanes);
	finish(&file);
	outcome = read_file(&file);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 2);
	assert_int_equal(outcome.skipped, 2);
}

CASE(test_ends)
{
	static const struct lane_bytes more[] = {
		LANE(ROUND END ROUND), LANE("\0\0\0"), LANE(""), LANE(""), LANE(""),
	};
	static const struct lane_bytes long_end[] = {
		LANE(ROUND "\x69\0\1\0\2"), LANE("\0\0"), LANE(""), LANE(""), LANE("x"),
	};
	struct segment_file file = begun();
	size_t at;

	segment_file_put_lanes(&file, more);
	at = file.bytes.size;
	assert_bad(&file, at, "the file goes on behind the end of the recording");

	file = begun();
	finish(&file);
	at = file.bytes.size;
	segment_file_put(&file, "x", 1);
	assert_bad(&file, at, "the file goes on behind the end of the recording");

	file = begun();
	at = segment_file_put_lanes(&file, long_end);
	assert_bad(&file, at, "a chunk of impossible size");

	file = begun();
	at = file.bytes.size;
	assert_bad(&file, at, "the recording was cut");

	segment_file_begin(&file);
	at = file.bytes.size;
	finish(&file);
	assert_bad(&file, at, "no description of the recording");
}

CASE(test_malformed_segments)
{
	static const uint32_t sizes[] = {0, JITBPF_SEGMENT_MAX * 2, UINT32_MAX};
	struct segment_file file;
	size_t at;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct jitbpf_segment_head head = {.bytes = sizes[i]};

		file = begun();
		at = file.bytes.size;
		segment_file_put(&file, &head, sizeof(head));
		assert_bad(&file, at, "a segment of impossible size");
	}
	file = begun();
	at = segment_file_put_packed(&file, "not zstd", 8);
	assert_bad(&file, at, "a segment that cannot be decompressed");

	file = begun();
	at = segment_file_put_content(&file, "\0\0\0\0", 4);
	assert_bad(&file, at, "a malformed segment");
	file = begun();
	at = segment_file_put_content(&file, "\0\0\0\0\1", 5);
	assert_bad(&file, at, "a malformed segment");
	file = begun();
	at = segment_file_put_content(&file, "\0\0\0\0\0x", 6);
	assert_bad(&file, at, "a malformed segment");

	/* Segments are in their place. */
	file = begun();
	finish(&file);
	at = file.bytes.size;
	segment_file_put(&file, file.bytes.data + sizeof(struct jitbpf_recording_header), 20);
	file.bytes.size = at;
	memmove(file.bytes.data + 16,
		file.bytes.data + 16 + 8 +
			((struct jitbpf_segment_head *)(file.bytes.data + 16))->bytes,
		8);
	assert_bad(&file, 16, "checksum of the segment does not match");
}

/* A small segment with much content, and one that asks for a large window. */
CASE(test_bombs)
{
	uint8_t *zeros = calloc(1, JITBPF_SEGMENT_MAX);
	struct segment_file file = begun();
	size_t at;

	at = segment_file_put_content(&file, zeros, JITBPF_SEGMENT_MAX);
	assert_in_range(file.bytes.size, 0, 10000);
	assert_bad(&file, at, "a segment with too much content");

	segment_file_begin(&file);
	file.window_log = JITBPF_SEGMENT_WINDOW_LOG + 1;
	at = segment_file_put_content(&file, zeros, 100);
	assert_bad(&file, at, "a segment that cannot be decompressed");
	free(zeros);
}
