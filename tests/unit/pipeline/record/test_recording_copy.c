/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Copies of a recording that is still being written: both files are complete. */
#include <stdint.h>
#include <errno.h>

#include "decode/recording/recording_reader.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/small_recording.h"

#define NAMES 3 /* of the small recording */

struct text_file {
	char *bytes;
	size_t size;
	FILE *out;
};

static void open_text(struct text_file *ret)
{
	ret->out = open_memstream(&ret->bytes, &ret->size);
	assert_non_null(ret->out);
}

static void free_text(struct text_file *text)
{
	free(text->bytes);
}

/* Require a complete recording of the first `records` records, with all names. */
static void require_recording(const struct small_recording *small, const char *bytes, size_t size,
			      size_t records)
{
	struct blob blob = blob_of_memory(bytes, size);
	const struct jitbpf_record *record;
	struct recording_reader *reader;
	struct recording_error error = {0};
	size_t read = 0, names = 0;
	int state;

	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	assert_int_equal(recording_reader_next(reader, &record, &error), 1);
	assert_int_equal(record->type, JITBPF_CHUNK_INFO);
	while ((state = recording_reader_next(reader, &record, &error)) == 1) {
		const struct jitbpf_record *wanted = small->records[read];

		if (record->type == JITBPF_CHUNK_FRAMES) {
			names++;
			continue;
		}
		if (read == records) {
			assert_int_equal(record->type, JITBPF_CHUNK_ROUND);
			continue;
		}
		assert_int_equal(record->type, wanted->type);
		if (wanted->type == JITBPF_CHUNK_ROUND)
			assert_int_equal(record->time_ns, wanted->time_ns);
		else
			assert_memory_equal(record, wanted, wanted->size_bytes);
		read++;
	}
	assert_int_equal(state, 0); /* END was read */
	assert_int_equal(read, records);
	assert_int_equal(names, NAMES);
	recording_reader_close(reader);
}

/* Make a copy after a number of records, a name in each step, while the recording continues. */
static void copy_after(const struct small_recording *small, size_t records, bool destroys)
{
	const struct ledger ledger = {0};
	struct view view = small_recording_view(small, &ledger);
	struct text_file file = {0}, end = {0};
	struct recording_end *copy;
	struct recorder *recorder;
	uint64_t file_bytes;
	char *bytes;
	int state;

	open_text(&file);
	open_text(&end);
	assert_int_equal(recorder_create(file.out, &small->info, &recorder), 0);
	for (size_t i = 0; i < records; i++)
		small_recording_put(small, recorder, i);
	assert_int_equal(recording_end_begin(recorder, &view, end.out, &copy, &file_bytes), 0);
	assert_int_equal(file_bytes, recorder_bytes(recorder));
	for (size_t i = records; i < small->count; i++) {
		small_recording_put(small, recorder, i);
		state = i < records + NAMES ? recording_end_step(copy, &view, &small->modules, 1)
					    : 1;
		assert_int_equal(state, 1);
	}
	assert_int_equal(recorder_finish(recorder, &view, &small->modules), 0);
	recorder_destroy(recorder);
	fclose(file.out);
	if (!destroys) {
		while ((state = recording_end_step(copy, &view, &small->modules, 1)) == 1)
			;
		assert_int_equal(state, 0);
	}
	recording_end_destroy(copy);
	fclose(end.out);
	require_recording(small, file.bytes, file.size, small->count);
	if (!destroys) {
		bytes = malloc(file_bytes + end.size);
		assert_non_null(bytes);
		memcpy(bytes, file.bytes, file_bytes);
		memcpy(bytes + file_bytes, end.bytes, end.size);
		require_recording(small, bytes, file_bytes + end.size, records);
		free(bytes);
	}
	free_text(&file);
	free_text(&end);
}

CASE(test_copy_at_any_time)
{
	struct small_recording small;

	small_recording_init(&small);
	for (size_t records = 0; records <= small.count; records++)
		copy_after(&small, records, false);
	small_recording_deinit(&small);
}

CASE(test_abandoned_copy)
{
	struct small_recording small;

	small_recording_init(&small);
	copy_after(&small, small.count / 2, true);
	small_recording_deinit(&small);
}

/* A failed recording cannot be flushed, so nothing is written as its copy. */
CASE(test_copy_of_a_failed_recording)
{
	const struct ledger ledger = {0};
	struct small_recording small;
	struct text_file end = {0};
	struct recording_end *copy = NULL;
	struct recorder *recorder;
	uint64_t file_bytes;
	struct view view;
	FILE *full = fopen("/dev/full", "w");

	small_recording_init(&small);
	view = small_recording_view(&small, &ledger);
	open_text(&end);
	assert_non_null(full);
	assert_int_equal(recorder_create(full, &small.info, &recorder), 0);
	assert_int_equal(recording_end_begin(recorder, &view, end.out, &copy, &file_bytes),
			 -ENOSPC);
	assert_int_equal(recording_end_begin(recorder, &view, end.out, &copy, &file_bytes),
			 -ENOSPC);
	assert_null(copy);
	recorder_destroy(recorder);
	fclose(full);
	fclose(end.out);
	assert_int_equal(end.size, 0);
	free_text(&end);
	small_recording_deinit(&small);
}
