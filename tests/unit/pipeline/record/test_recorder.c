/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Recorder and reader together: records are read as they were written, and damage is detected. */
#include <stdint.h>
#include <errno.h>

#include "decode/recording/recording_reader.h"
#include "pipeline/finished_records.h"
#include "symbolize/recorded_frames.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/small_recording.h"
#include "uapi/packed_recording.h"

struct fixture {
	struct small_recording small;
	char *bytes;
	size_t size;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	small_require(f);
	small_recording_init(&f->small);
	small_recording_write(&f->small, &f->bytes, &f->size);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	small_recording_deinit(&f->small);
	free(f->bytes);
	free(f);
	return 0;
}

/* The result of reading a recording. */
struct outcome {
	int err;	    /* 0 at a proper end */
	size_t records;	    /* including records that only recordings have */
	size_t differences; /* number of records that differ from the expected ones */
	size_t bytes;	    /* of all records */
	struct recording_error error;
};

/* Returns true if a record is the nth one of the small recording. */
static bool is_expected(const struct small_recording *small, size_t n,
			const struct jitbpf_record *record)
{
	const struct jitbpf_record *wanted;

	if (n == 0)
		return record->type == JITBPF_CHUNK_INFO;
	if (n > small->count)
		return record->type ==
		       (n <= small->count + 3 ? JITBPF_CHUNK_FRAMES : JITBPF_CHUNK_ROUND);
	wanted = small->records[n - 1];
	if (wanted->type == JITBPF_CHUNK_ROUND)
		return record->type == wanted->type && record->time_ns == wanted->time_ns;
	return record->size_bytes == wanted->size_bytes &&
	       !memcmp(record, wanted, wanted->size_bytes);
}

static struct outcome read_all(const struct small_recording *small, const char *bytes, size_t size)
{
	struct blob blob = blob_of_memory(bytes, size);
	struct outcome outcome = {0};
	const struct jitbpf_record *record;
	struct recording_reader *reader;
	struct recording_error again;

	outcome.err = recording_reader_open(&blob, &reader, &outcome.error);
	if (outcome.err)
		return outcome;
	while ((outcome.err = recording_reader_next(reader, &record, &outcome.error)) == 1) {
		assert_int_equal((uintptr_t)record % 8, 0);
		outcome.differences += !is_expected(small, outcome.records++, record);
		outcome.bytes += record->size_bytes;
	}
	/* Reading again returns the same error. */
	assert_int_equal(recording_reader_next(reader, &record, &again), outcome.err);
	if (outcome.err)
		assert_int_equal(again.offset, outcome.error.offset);
	recording_reader_close(reader);
	return outcome;
}

/* Number of records of the whole file, including 3 FRAMES and the last ROUND. */
static size_t records_of_all(const struct fixture *f)
{
	return 1 + f->small.count + 4;
}

/* Returns the number of records in the first segments, from what the recorder must flush. */
static size_t records_of(const struct small_recording *small, size_t segments)
{
	uint64_t flush_ns = 0;

	if (!segments)
		return 0;
	for (size_t i = 0; i < small->count && segments; i++) {
		const struct jitbpf_record *record = small->records[i];

		if (record->type != JITBPF_CHUNK_ROUND || record->time_ns < flush_ns)
			continue;
		flush_ns = record->time_ns + RECORDER_FLUSH_NS;
		if (!--segments)
			return 1 + i + 1;
	}
	return 1 + small->count + 4;
}

/* Returns the number of whole segments in [0, size), and where the next one begins. */
static size_t segments_before(const struct fixture *f, size_t size, size_t *ret_begin)
{
	size_t at = sizeof(struct jitbpf_recording_header), segments = 0;
	struct jitbpf_segment_head head;

	*ret_begin = at <= size ? at : 0;
	while (at < f->size) {
		memcpy(&head, f->bytes + at, sizeof(head));
		at += sizeof(head) + head.bytes;
		if (at > size)
			break;
		segments++;
		*ret_begin = at;
	}
	return segments;
}

CASE_WITH(test_round_trip, setup, teardown)
{
	struct fixture *f = *state;
	struct outcome outcome = read_all(&f->small, f->bytes, f->size);
	size_t begin;

	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, records_of_all(f));
	assert_int_equal(outcome.differences, 0);
	/* Three of the rounds, and the rest. */
	assert_int_equal(segments_before(f, f->size, &begin), 4);
	assert_int_equal(records_of(&f->small, 3), 1 + f->small.count);
	assert_int_equal(records_of(&f->small, 4), records_of_all(f));
}

/* The time of a sample takes up to two bytes if the period varies by some us, all else little. */
CASE_WITH(test_samples_are_small, setup, teardown)
{
	struct fixture *f = *state;
	const struct ledger ledger = {0};
	struct view view = {.ledger = &ledger,
			    .strings = f->small.strings,
			    .locations = &f->small.locations,
			    .frames = f->small.frames};
	struct small_recording one = {0};
	struct jitbpf_sample *sample = small_add_sample(&one, 10, 100, 1, false);
	struct recorder *recorder;
	size_t size;
	char *bytes;
	FILE *out = open_memstream(&bytes, &size);

	assert_int_equal(recorder_create(out, &f->small.info, &recorder), 0);
	for (uint32_t i = 0; i < 10000; i++) {
		sample->h.time_ns += 1000000000 / f->small.info.freq_hz + i * 2654435761u % 8000;
		assert_int_equal(recorder_write(recorder, &sample->h), 0);
		assert_int_equal(recorder_end_round(recorder, sample->h.time_ns), 0);
	}
	assert_int_equal(recorder_finish(recorder, &view, &f->small.modules), 0);
	assert_int_equal(recorder_bytes(recorder), size);
	assert_in_range(size, 10000, 10 * 10000);
	recorder_destroy(recorder);
	fclose(out);
	free(bytes);
	free(sample);
}

CASE_WITH(test_info, setup, teardown)
{
	struct fixture *f = *state;
	static const char texts[] = "cpu-clock\0java -jar 'a b'.jar\0box\0"
				    "6.18.0";
	struct blob blob = blob_of_memory(f->bytes, f->size);
	const struct jitbpf_record *record;
	const struct jitbpf_info_chunk *info;
	struct recording_reader *reader;
	struct recording_error error;

	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	assert_int_equal(recording_reader_next(reader, &record, &error), 1);
	info = (const void *)record;
	assert_int_equal(info->h.time_ns, f->small.info.start_ns);
	assert_int_equal(info->wall_clock_ns, f->small.info.wall_clock_ns);
	assert_int_equal(info->freq_hz, 99);
	assert_int_equal(info->cpus, 2);
	assert_int_equal(info->h.size_bytes, sizeof(*info) + sizeof(texts));
	assert_memory_equal(info->text, texts, sizeof(texts));
	recording_reader_close(reader);
}

static struct recorded_frames *read_frames(const struct fixture *f, struct string_pool *strings)
{
	struct blob blob = blob_of_memory(f->bytes, f->size);
	const struct jitbpf_record *record;
	struct recorded_frames *recorded;
	struct recording_reader *reader;
	struct recording_error error;

	assert_int_equal(recorded_frames_create(strings, &recorded), 0);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	while (recording_reader_next(reader, &record, &error) == 1) {
		if (record->type == JITBPF_CHUNK_FRAMES)
			assert_int_equal(recorded_frames_add(recorded, (const void *)record), 0);
	}
	recording_reader_close(reader);
	return recorded;
}

CASE_WITH(test_names_come_back, setup, teardown)
{
	struct fixture *f = *state;
	struct string_pool *strings;
	struct recorded_frames *recorded;
	size_t found = 0;

	assert_int_equal(string_pool_create(&strings), 0);
	recorded = read_frames(f, strings);
	for (uint32_t i = 0; i < f->small.locations.locations.size; i++) {
		const struct location *location = &f->small.locations.locations.data[i];
		const struct module *module =
			location->kind == LOCATION_NATIVE
				? module_table_get(&f->small.modules, (uint32_t)location->owner)
				: NULL;
		uint32_t count, wanted_count;
		const struct frame *got, *wanted;

		wanted = frame_table_get(f->small.frames, i, &wanted_count);
		got = recorded_frames_find(recorded, location, module, &count);
		if (location->kind == LOCATION_ANON || !wanted) {
			assert_null(got);
			continue;
		}
		found++;
		assert_int_equal(count, wanted_count);
		for (uint32_t j = 0; j < count; j++) {
			assert_string_equal(string_pool_get(strings, got[j].name),
					    string_pool_get(f->small.strings, wanted[j].name));
			assert_string_equal(string_pool_get(strings, got[j].file),
					    string_pool_get(f->small.strings, wanted[j].file));
			assert_string_equal(string_pool_get(strings, got[j].module),
					    string_pool_get(f->small.strings, wanted[j].module));
			assert_int_equal(got[j].line, wanted[j].line);
			assert_int_equal(got[j].symbol_offset, wanted[j].symbol_offset);
			assert_int_equal(got[j].kind, wanted[j].kind);
			assert_int_equal(got[j].flags, wanted[j].flags);
		}
	}
	assert_int_equal(found, 3);
	recorded_frames_destroy(recorded);
	string_pool_destroy(strings);
}

CASE_WITH(test_cut_everywhere, setup, teardown)
{
	struct fixture *f = *state;

	for (size_t size = 0; size < f->size; size++) {
		char *exact = malloc(size ? size : 1);
		struct outcome outcome;
		size_t begin, segments = segments_before(f, size, &begin);

		memcpy(exact, f->bytes, size);
		outcome = read_all(&f->small, exact, size);
		assert_int_equal(outcome.err, -EBADMSG);
		assert_int_equal(outcome.records, records_of(&f->small, segments));
		assert_int_equal(outcome.differences, 0);
		assert_string_equal(outcome.error.what,
				    size < 8 ? "not a jitbpf recording" : "the recording was cut");
		assert_int_equal(outcome.error.offset, begin);
		free(exact);
	}
}

/* Any flipped bit is detected, at the segment that has it. */
CASE_WITH(test_flip_everywhere, setup, teardown)
{
	struct fixture *f = *state;

	for (size_t bit = 0; bit < f->size * 8; bit++) {
		size_t at = bit / 8, begin, segments = segments_before(f, at, &begin);
		struct outcome outcome;

		f->bytes[at] ^= 1 << bit % 8;
		outcome = read_all(&f->small, f->bytes, f->size);
		f->bytes[at] ^= 1 << bit % 8;
		assert_int_equal(outcome.err, -EBADMSG);
		assert_int_equal(outcome.records, records_of(&f->small, segments));
		assert_int_equal(outcome.differences, 0);
		assert_non_null(outcome.error.what);
		if (at >= sizeof(struct jitbpf_recording_header))
			assert_int_equal(outcome.error.offset, begin);
	}
}

/*
 * Short rounds: one ROUND chunk for each step, one before each flush, and one before a JOURNAL
 * record, whose effect depends on the last round. All records are there.
 */
CASE_WITH(test_short_rounds, setup, teardown)
{
	const uint64_t start_ns = 100 * ROUND_STEP_NS + 1, step_ns = ROUND_STEP_NS / 10;
	struct fixture *f = *state;
	struct run_info info = f->small.info;
	size_t size, rounds = 0, comms = 0;
	uint64_t round_ns = 0;
	const struct jitbpf_record *record;
	struct recording_reader *reader;
	struct recording_error error;
	struct recorder *recorder;
	struct blob blob;
	char *bytes;
	FILE *out = open_memstream(&bytes, &size);

	info.start_ns = start_ns;
	assert_int_equal(recorder_create(out, &info, &recorder), 0);
	for (uint64_t i = 0; i < 80; i++) {
		struct jitbpf_comm comm = {
			.h = {sizeof(comm), JITBPF_COMM, 0, start_ns + i * step_ns},
		};

		struct jitbpf_journal journal = {
			.h = {sizeof(journal), JITBPF_JOURNAL, 0, start_ns + i * step_ns},
		};

		assert_int_equal(recorder_write(recorder, &comm.h), 0);
		if (i == 14 || i == 21)
			assert_int_equal(recorder_write(recorder, &journal.h), 0);
		assert_int_equal(recorder_end_round(recorder, comm.h.time_ns), 0);
	}
	recorder_destroy(recorder);
	fclose(out);
	blob = blob_of_memory(bytes, size);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	while (recording_reader_next(reader, &record, &error) == 1) {
		if (record->type == JITBPF_JOURNAL)
			assert_int_equal(record->time_ns - round_ns, step_ns);
		if (record->type == JITBPF_CHUNK_ROUND)
			round_ns = record->time_ns;
		rounds += record->type == JITBPF_CHUNK_ROUND;
		comms += record->type == JITBPF_COMM;
	}
	recording_reader_close(reader);
	free(bytes);
	/* Flushed are the first round, and the first one of each second after it: 0, 40. */
	assert_int_equal(comms, 41);
	assert_int_equal(rounds, 1 + 4 + 1);
}

CASE_WITH(test_failing_file, setup, teardown)
{
	struct fixture *f = *state;
	FILE *out = fopen("/dev/full", "w");
	const struct ledger ledger = {0};
	struct view view = {
		.ledger = &ledger,
		.strings = f->small.strings,
		.locations = &f->small.locations,
		.frames = f->small.frames,
	};
	struct recorder *recorder;

	assert_int_equal(recorder_create(out, &f->small.info, &recorder), 0);
	assert_int_equal(recorder_write(recorder, f->small.records[0]), 0);
	assert_int_equal(recorder_end_round(recorder, 1), -ENOSPC);
	assert_int_equal(recorder_write(recorder, f->small.records[0]), -ENOSPC);
	assert_int_equal(recorder_end_round(recorder, 1), -ENOSPC);
	assert_int_equal(recorder_finish(recorder, &view, &f->small.modules), -ENOSPC);
	recorder_destroy(recorder);
	fclose(out);

	out = fopen("/dev/full", "w");
	setvbuf(out, NULL, _IONBF, 0);
	recorder = NULL;
	assert_int_equal(recorder_create(out, &f->small.info, &recorder), -ENOSPC);
	assert_null(recorder);
	fclose(out);
}

CASE_WITH(test_refuses_what_a_reader_would, setup, teardown)
{
	struct fixture *f = *state;
	struct jitbpf_record record = {.size_bytes = sizeof(record), .type = JITBPF_CHUNK_END};
	char *bytes;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);
	struct recorder *recorder;

	assert_int_equal(recorder_create(out, &f->small.info, &recorder), 0);
	assert_int_equal(recorder_write(recorder, &record), -EINVAL);
	record.type = JITBPF_COMM;
	record.size_bytes = JITBPF_CHUNK_MAX + 1;
	assert_int_equal(recorder_write(recorder, &record), -EINVAL);
	record.size_bytes = sizeof(record) - 1;
	assert_int_equal(recorder_write(recorder, &record), -EINVAL);
	record.size_bytes = sizeof(record);
	record.type = JITBPF_JIT;
	assert_int_equal(recorder_write(recorder, &record), -EINVAL);
	record.type = JITBPF_CODE;
	assert_int_equal(recorder_write(recorder, &record), -EINVAL);
	record.type = JITBPF_PROGRAM;
	assert_int_equal(recorder_write(recorder, &record), -EINVAL);
	assert_int_equal(recorder_write(recorder, f->small.records[0]), 0);
	recorder_destroy(recorder);
	fclose(out);
	free(bytes);
}

/* An endless text is truncated, and the recording stays valid. */
CASE_WITH(test_long_text, setup, teardown)
{
	struct fixture *f = *state;
	struct run_info info = f->small.info;
	char *text = calloc(1, 200001), *bytes;
	const struct ledger ledger = {0};
	struct view view = {
		.strings = f->small.strings, .frames = f->small.frames, .ledger = &ledger};
	struct location location = {.kind = LOCATION_KERNEL, .offset = 1};
	struct location_table locations = {0};
	struct outcome outcome;
	struct recorder *recorder;
	struct frame frame = {0};
	uint32_t number;
	size_t size;
	FILE *out = open_memstream(&bytes, &size);

	memset(text, 'x', 200000);
	info.command = text;
	assert_int_equal(string_pool_add(f->small.strings, text, 200000, &frame.name), 0);
	frame.module = frame.file = frame.name;
	assert_int_equal(location_table_add(&locations, &location, &number), 0);
	assert_int_equal(number, 0); /* small_recording.h gives it no name */
	assert_int_equal(frame_table_set(f->small.frames, number, &frame, 1), 0);
	view.locations = &locations;
	assert_int_equal(recorder_create(out, &info, &recorder), 0);
	assert_int_equal(recorder_finish(recorder, &view, &f->small.modules), 0);
	recorder_destroy(recorder);
	fclose(out);

	outcome = read_all(&f->small, bytes, size);
	assert_int_equal(outcome.err, 0);
	assert_int_equal(outcome.records, 3);
	assert_in_range(outcome.bytes, 4 * JITBPF_TEXT_MAX, 4 * JITBPF_TEXT_MAX + 1000);
	location_table_deinit(&locations);
	free(bytes);
	free(text);
}
