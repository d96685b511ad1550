/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* More distinct stacks or threads than the limit: the recorder starts again, the reader follows. */
#include <stdint.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/recording/recording_reader.h"
#include "pipeline/record/recorder.h"
#include "profile/ledger.h"
#include "tests/unit/cases.h"
#include "uapi/packed_recording.h"

#define FRAMES	     JITBPF_SAMPLE_WORDS_MAX
#define SAMPLE_BYTES (sizeof(struct jitbpf_sample) + FRAMES * sizeof(__u64))
#define FITTING	     (JITBPF_NODES_MAX / FRAMES)
#define SAMPLES	     (FITTING * 10)
#define REPEATED     50 /* the first stack is repeated after as many */

struct sample_buffer {
	_Alignas(8) uint8_t bytes[SAMPLE_BYTES];
};

static const struct jitbpf_record *fill(struct sample_buffer *buffer, uint64_t stack)
{
	struct jitbpf_sample *sample = (void *)buffer->bytes;

	*sample = (struct jitbpf_sample){
		.h = {.size_bytes = SAMPLE_BYTES, .type = JITBPF_SAMPLE, .time_ns = stack},
		.kernel_words = JITBPF_KERNEL_FRAMES_MAX,
		.user_words = JITBPF_USER_WORDS_MAX,
		.user_end = JITBPF_END_ROOT,
	};
	for (size_t i = 0; i < FRAMES; i++)
		sample->words[i] = stack * 1000 + i;
	return &sample->h;
}

/* SAMPLES distinct stacks, with the first one repeated. */
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
		if (i % REPEATED == REPEATED - 1)
			assert_int_equal(recorder_write(recorder, fill(&buffer, 0)), 0);
	}
	assert_int_equal(recorder_finish(recorder, &view, NULL), 0);
	recorder_destroy(recorder);
	fclose(out);
}

static int read_recording(const char *bytes, size_t size, size_t *ret_samples,
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
		assert_memory_equal(record, buffer.bytes, SAMPLE_BYTES);
		again = !again && next % REPEATED == 0;
		++*ret_samples;
	}
	recording_reader_close(reader);
	return err;
}

CASE(test_many_stacks)
{
	struct recording_error error;
	size_t size, samples;
	char *bytes;

	write_recording(&bytes, &size);
	assert_int_equal(read_recording(bytes, size, &samples, &error), 0);
	assert_int_equal(samples, SAMPLES + SAMPLES / REPEATED);
	free(bytes);
}

static const struct jitbpf_record *in_thread(struct sample_buffer *buffer, uint32_t tid)
{
	struct jitbpf_sample *sample = (void *)buffer->bytes;

	*sample = (struct jitbpf_sample){
		.h = {.size_bytes = sizeof(*sample) + sizeof(__u64),
		      .type = JITBPF_SAMPLE,
		      .time_ns = tid},
		.pid = tid / 1000,
		.tid = tid,
		.start_ns = tid / 1000 * 77,
		.user_words = 1,
		.user_end = JITBPF_END_ROOT,
	};
	snprintf(sample->comm, sizeof(sample->comm), "thread %u", tid % 100);
	sample->words[0] = 4711;
	return &sample->h;
}

/* Every thread again after it was forgotten, and the first one now and then. */
static uint32_t nth_tid(uint32_t n)
{
	return n % 5000 ? n % (JITBPF_THREADS_MAX + 1000) : 1;
}

CASE(test_many_threads)
{
	static const struct run_info info = {.event = "", .command = "", .host = "", .kernel = ""};
	const uint32_t count = 2 * JITBPF_THREADS_MAX + 5000;
	struct sample_buffer buffer;
	const struct jitbpf_record *record, *wanted;
	struct recording_reader *reader;
	struct recording_error error;
	struct recorder *recorder;
	struct blob blob;
	size_t size;
	char *bytes;
	FILE *out = open_memstream(&bytes, &size);

	assert_int_equal(recorder_create(out, &info, &recorder), 0);
	for (uint32_t i = 0; i < count; i++)
		assert_int_equal(recorder_write(recorder, in_thread(&buffer, nth_tid(i))), 0);
	assert_int_equal(recorder_end_round(recorder, 1), 0);
	recorder_destroy(recorder);
	fclose(out);

	blob = blob_of_memory(bytes, size);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	assert_int_equal(recording_reader_next(reader, &record, &error), 1);
	for (uint32_t i = 0; i < count; i++) {
		assert_int_equal(recording_reader_next(reader, &record, &error), 1);
		wanted = in_thread(&buffer, nth_tid(i));
		assert_int_equal(record->size_bytes, wanted->size_bytes);
		assert_memory_equal(record, wanted, wanted->size_bytes);
	}
	recording_reader_close(reader);
	free(bytes);
}
