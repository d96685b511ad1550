/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* More distinct stacks than the limit: the recorder starts again, and the reader follows. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "decode/record/recording_reader.h"
#include "pipeline/record/recorder.h"
#include "profile/ledger.h"

#define FRAMES	     JITBPF_SAMPLE_FRAMES_MAX
#define SAMPLE_BYTES (sizeof(struct jitbpf_sample) + FRAMES * sizeof(__u64))
#define CHUNK_BYTES  (sizeof(struct jitbpf_stack_chunk) + FRAMES * sizeof(__u64))
#define FITTING	     (JITBPF_STACKS_MAX / CHUNK_BYTES)
#define SAMPLES	     (FITTING + 1000)
#define RENEWALS     (SAMPLES / (RECORDER_STACKS_BYTES / CHUNK_BYTES))

struct sample_buffer {
	_Alignas(8) uint8_t bytes[SAMPLE_BYTES];
};

static const struct jitbpf_record *fill(struct sample_buffer *buffer, uint64_t stack)
{
	struct jitbpf_sample *sample = (void *)buffer->bytes;

	*sample = (struct jitbpf_sample){
		.h = {.size_bytes = SAMPLE_BYTES, .type = JITBPF_SAMPLE, .time_ns = stack},
		.kernel_frames = JITBPF_KERNEL_FRAMES_MAX,
		.user_frames = JITBPF_USER_FRAMES_MAX,
		.user_end = JITBPF_END_ROOT,
	};
	for (size_t i = 0; i < FRAMES; i++)
		sample->ips[i] = stack * 1000 + i;
	return &sample->h;
}

/* SAMPLES distinct stacks, with the first one repeated after every thousand. */
static void write_recording(char **ret_bytes, size_t *ret_size)
{
	struct run_info info = {.event = "", .command = "", .host = "", .kernel = ""};
	struct location_table locations = {0};
	const struct ledger ledger = {0};
	struct view view = {.info = &info, .locations = &locations, .ledger = &ledger};
	FILE *out = open_memstream(ret_bytes, ret_size);
	struct sample_buffer buffer;
	struct recorder *recorder;

	assert_int_equal(recorder_create(out, &info, &recorder), 0);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		assert_int_equal(recorder_write(recorder, fill(&buffer, i)), 0);
		if (i % 1000 == 999)
			assert_int_equal(recorder_write(recorder, fill(&buffer, 0)), 0);
	}
	assert_int_equal(recorder_finish(recorder, &view, NULL), 0);
	recorder_destroy(recorder);
	fclose(out);
}

static int read_recording(const char *bytes, size_t size, bool right, size_t *ret_samples,
			  struct recording_error *error)
{
	struct blob blob = blob_of_memory(bytes, size);
	const struct jitbpf_record *record;
	struct recording_reader *reader;
	struct sample_buffer buffer;
	uint64_t next = 0;
	bool again = false;
	int err;

	*ret_samples = 0;
	assert_int_equal(recording_reader_open(&blob, &reader, error), 0);
	while ((err = recording_reader_next(reader, &record, error)) == 1) {
		if (record->type != JITBPF_SAMPLE)
			continue;
		assert_int_equal(record->size_bytes, SAMPLE_BYTES);
		fill(&buffer, again ? 0 : next++);
		if (right)
			assert_memory_equal(record, buffer.bytes, SAMPLE_BYTES);
		again = !again && next % 1000 == 0;
		++*ret_samples;
	}
	recording_reader_close(reader);
	return err;
}

/* Clear the FRESH flag of all stacks. Returns the offset of the first stack over the limit. */
static size_t unmark(char *bytes, size_t size)
{
	struct jitbpf_round_chunk round;
	struct jitbpf_record header;
	size_t stacks = 0, too_many = 0;

	for (size_t at = sizeof(struct jitbpf_recording_header); at < size;) {
		memcpy(&header, bytes + at, sizeof(header));
		if (header.type == JITBPF_CHUNK_STACK) {
			if (stacks++ == FITTING)
				too_many = at;
			header.flags = 0;
			memcpy(bytes + at, &header, sizeof(header));
		}
		if (header.type == JITBPF_CHUNK_ROUND) {
			memcpy(&round, bytes + at, sizeof(round));
			round.crc = (uint32_t)crc32_z(
				0, (void *)bytes, at + offsetof(struct jitbpf_round_chunk, crc));
			memcpy(bytes + at, &round, sizeof(round));
		}
		at += header.size_bytes;
	}
	return too_many;
}

static void test_begins_anew(void **state)
{
	struct recording_error error;
	size_t size, samples, too_many;
	char *bytes;

	write_recording(&bytes, &size);
	/* Each stack is written once, except the first one, which is forgotten sometimes. */
	assert_true(size > SAMPLES * CHUNK_BYTES);
	assert_true(size < (SAMPLES + RENEWALS + 1) *
				   (CHUNK_BYTES + 2 * sizeof(struct jitbpf_sample_ref_chunk)));
	assert_int_equal(read_recording(bytes, size, true, &samples, &error), 0);
	assert_int_equal(samples, SAMPLES + SAMPLES / 1000);

	/* A recording over the limit is rejected at that place. */
	too_many = unmark(bytes, size);
	assert_int_equal(read_recording(bytes, size, false, &samples, &error), -EBADMSG);
	assert_string_equal(error.what, "more stacks than allowed");
	assert_int_equal(error.offset, too_many);
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
