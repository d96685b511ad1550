/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/recorder.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/finished_records.h"
#include "pipeline/record/location_names.h"
#include "pipeline/record/record_packer.h"
#include "pipeline/record/sample_packer.h"
#include "pipeline/record/segment_writer.h"
#include "profile/ledger.h"
#include "uapi/recording.h"

/* A segment ends when its chunks reach this size. Readers accept one more chunk of any size. */
#define SEGMENT_BYTES (1u << 20)

_Static_assert(2 * SEGMENT_BYTES + JITBPF_CHUNK_MAX / 4 * 5 <= JITBPF_SEGMENT_MAX,
	       "a word takes up to 5 bytes, and few runs are short");

/*
 * The best compression takes 10 % less room, and 1 us more for each sample. With few samples, size
 * matters more: most of the file does not depend on their number.
 */
#define COMPRESSION(freq_hz) ((freq_hz) < 500 ? SEGMENT_SMALL : SEGMENT_FAST)

struct recorder {
	struct segment_writer writer;
	struct record_packer packer; /* chunks that are not written yet */
	struct sample_packer samples;
	uint64_t round_ns;	/* time of the last round */
	uint64_t told_round_ns; /* of the last round that has a chunk */
	uint64_t flush_ns;	/* time of the next flush */
};

/* Write a segment if there is enough for one. */
static int end_chunk(struct recorder *recorder)
{
	if (recorder->packer.lanes.error)
		recorder->writer.error = recorder->packer.lanes.error;
	if (recorder->writer.error || lanes_bytes(&recorder->packer.lanes) < SEGMENT_BYTES)
		return recorder->writer.error;
	return segment_write(&recorder->writer, &recorder->packer.lanes);
}

static int put(struct recorder *recorder, const struct jitbpf_record *head, const void *body)
{
	if (!recorder->writer.error)
		record_pack(&recorder->packer, head, body);
	return end_chunk(recorder);
}

/* Put a chunk that is only a header. */
static int put_mark(struct recorder *recorder, uint16_t type, uint64_t time_ns)
{
	struct jitbpf_record mark = {.size_bytes = sizeof(mark), .type = type, .time_ns = time_ns};

	return put(recorder, &mark, NULL);
}

static int put_sample(struct recorder *recorder, const struct jitbpf_sample *sample)
{
	int err = sample_pack(&recorder->samples, &recorder->packer, sample);

	if (err)
		recorder->packer.lanes.error = err;
	return end_chunk(recorder);
}

static int check(const struct recorder *recorder, const struct jitbpf_record *record)
{
	if (recorder->writer.error)
		return recorder->writer.error;
	if (record->type >= JITBPF_CHUNK_INFO || record->size_bytes < sizeof(*record) ||
	    record->size_bytes > JITBPF_CHUNK_MAX)
		return -EINVAL;
	if (record->type == JITBPF_JIT || record->type == JITBPF_CODE ||
	    record->type == JITBPF_PROGRAM ||
	    (record->type == JITBPF_SAMPLE &&
	     record->flags & (JITBPF_SAMPLE_STACK_COPY | JITBPF_SAMPLE_CODE_BYTES |
			      JITBPF_SAMPLE_RUNTIME_FRAMES)))
		return -EINVAL;
	return 0;
}

static int put_round(struct recorder *recorder)
{
	recorder->told_round_ns = recorder->round_ns;
	return put_mark(recorder, JITBPF_CHUNK_ROUND, recorder->round_ns);
}

/*
 * Before a JOURNAL record, put the ROUND chunk of the last round: a loss ends code from the last
 * round on, so a replay needs its time.
 */
static int prepare(struct recorder *recorder, const struct jitbpf_record *record)
{
	int err = check(recorder, record);

	if (!err && record->type == JITBPF_JOURNAL && recorder->told_round_ns < recorder->round_ns)
		err = put_round(recorder);
	return err;
}

int recorder_write(struct recorder *recorder, const struct jitbpf_record *record)
{
	int err = prepare(recorder, record);

	if (err)
		return err;
	if (record->type == JITBPF_SAMPLE && record->size_bytes >= sizeof(struct jitbpf_sample) &&
	    sample_packer_can((const struct jitbpf_sample *)record))
		return put_sample(recorder, (const struct jitbpf_sample *)record);
	return put(recorder, record, record + 1);
}

int recorder_write_with(struct recorder *recorder, const struct jitbpf_record *record,
			uint16_t flags)
{
	struct jitbpf_record head = *record;
	int err = prepare(recorder, record);

	if (err || record->type == JITBPF_SAMPLE)
		return err ?: -EINVAL;
	head.flags |= flags;
	return put(recorder, &head, record + 1);
}

int recorder_end_round(struct recorder *recorder, uint64_t time_ns)
{
	bool is_due = time_ns >= recorder->flush_ns;
	bool is_first = round_step_ns(time_ns) > round_step_ns(recorder->round_ns);
	int err = recorder->writer.error;

	recorder->round_ns = time_ns;
	if (is_first || is_due)
		err = put_round(recorder);
	if (err || !is_due)
		return err;
	recorder->flush_ns = time_ns + RECORDER_FLUSH_NS;
	return segment_write(&recorder->writer, &recorder->packer.lanes);
}

uint64_t recorder_bytes(const struct recorder *recorder)
{
	return recorder->writer.bytes;
}

/* --- beginning and end ------------------------------------------------------ */

static int put_text(FILE *texts, const char *text)
{
	size_t bytes = strnlen(text, JITBPF_TEXT_MAX);

	return fwrite(text, 1, bytes, texts) == bytes && fputc(0, texts) != EOF ? 0 : -ENOMEM;
}

static int put_texts(FILE *texts, const struct run_info *info)
{
	int err = put_text(texts, info->event);

	err = err ?: put_text(texts, info->command);
	err = err ?: put_text(texts, info->host);
	err = err ?: put_text(texts, info->kernel);
	for (uint32_t i = 0; i < info->more_events && !err; i++) {
		const struct run_event *event = &info->events[i];
		err = put_text(texts, event->name) ?: put_text(texts, event->unit);
		if (!err && fprintf(texts, "%" PRIu64 "%c", event->period, 0) < 0)
			err = -ENOMEM;
	}
	return err;
}

static int put_info(struct recorder *recorder, const struct run_info *info)
{
	struct jitbpf_info_chunk chunk = {
		.h = {.type = JITBPF_CHUNK_INFO, .time_ns = info->start_ns},
		.wall_clock_ns = info->wall_clock_ns,
		.freq_hz = info->freq_hz,
		.cpus = info->cpus,
	};
	AUTO_FREE char *bytes = NULL;
	size_t size_bytes = 0;
	FILE *out = open_memstream(&bytes, &size_bytes);
	int err;

	if (!out)
		return -ENOMEM;
	err = fwrite(&chunk, sizeof(chunk), 1, out) == 1 ? put_texts(out, info) : -ENOMEM;
	if (fclose(out) || err)
		return -ENOMEM;
	chunk.h.size_bytes = (uint32_t)size_bytes;
	return put(recorder, &chunk.h, bytes + sizeof(chunk.h));
}

DEFINE_CLEANUP(struct recorder *, recorder_destroy);

int recorder_create(FILE *out, const struct run_info *info, struct recorder **ret)
{
	CLEANUP(recorder_destroyp) struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	if (!recorder)
		return -ENOMEM;
	recorder->round_ns = recorder->told_round_ns = info->start_ns;
	err = segment_writer_init(&recorder->writer, out, COMPRESSION(info->freq_hz));
	err = err ?: sample_packer_init(&recorder->samples, info->freq_hz);
	err = err ?: put_info(recorder, info);
	if (!err)
		*ret = TAKE_PTR(recorder);
	return err;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	segment_writer_deinit(&recorder->writer);
	lanes_deinit(&recorder->packer.lanes);
	sample_packer_deinit(&recorder->samples);
	free(recorder);
}

/* Subtract the samples in other files of the run, as put_late_counters() does. */
static void put_event_counts(struct recorder *recorder, const struct view *view)
{
	struct jitbpf_event_counts counts = {.h = {.size_bytes = sizeof(counts),
						   .type = JITBPF_EVENT_COUNTS,
						   .time_ns = recorder->round_ns}};
	bool any = false;

	for (uint32_t i = 1; i < view->event_count; i++) {
		counts.taken[i] = -view->events[i].before;
		any |= counts.taken[i] != 0;
	}
	if (any)
		put(recorder, &counts.h, &counts.h + 1);
}

/* Put counters that changed after the source's COUNTERS record. Readers add both records up. */
static void put_late_counters(struct recorder *recorder, const struct ledger *ledger)
{
	static const enum jitbpf_counter late[] = {
		JITBPF_COUNT_DEBUG_REFUSED,  JITBPF_COUNT_DEBUG_DROPPED,
		JITBPF_COUNT_SPLITS_MISSING, JITBPF_COUNT_NAMES_LATE,
		JITBPF_COUNT_READERS_FAILED,
	};
	uint64_t values[JITBPF_COUNTER_MAX] = {0};
	struct jitbpf_record head = {
		.size_bytes = sizeof(head) + sizeof(values),
		.type = JITBPF_COUNTERS,
		.time_ns = recorder->round_ns,
	};
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(late); i++) {
		values[late[i]] = ledger->counters[late[i]];
		any |= values[late[i]] != 0;
	}
	/* Counters add up modulo 2^64: subtract the counts in other files of the run. */
	values[JITBPF_COUNT_SAMPLES_TAKEN] = -ledger->samples_before;
	any |= ledger->samples_before != 0;
	if (!any)
		return;
	put(recorder, &head, values);
}

static int put_names(struct recorder *recorder, struct location_names *names,
		     const struct view *view, const struct module_table *modules, size_t max)
{
	const struct jitbpf_record *chunk;
	int state = 1, err = recorder->writer.error;

	for (size_t i = 0; i < max && !err; i++) {
		state = location_names_next(names, view, modules, &chunk);
		if (state <= 0)
			return state;
		err = put(recorder, chunk, chunk + 1);
	}
	return err ?: 1;
}

static int put_end(struct recorder *recorder, const struct view *view)
{
	put_late_counters(recorder, view->ledger);
	put_event_counts(recorder, view);
	put_round(recorder);
	put_mark(recorder, JITBPF_CHUNK_END, recorder->round_ns);
	return segment_write(&recorder->writer, &recorder->packer.lanes);
}

int recorder_finish(struct recorder *recorder, const struct view *view,
		    const struct module_table *modules)
{
	CLEANUP(location_names_deinit) struct location_names names = {0};
	int err = recorder->writer.error ?: location_names_init(&names, view);

	err = err ?: put_names(recorder, &names, view, modules, SIZE_MAX);
	return err ?: put_end(recorder, view);
}

/* --- copies ----------------------------------------------------------------- */

struct recording_end {
	struct recorder recorder; /* continues the copy; it gets no samples */
	struct location_names names;
};

DEFINE_CLEANUP(struct recording_end *, recording_end_destroy);

int recording_end_begin(struct recorder *recorder, const struct view *view, FILE *out,
			struct recording_end **ret, uint64_t *ret_bytes)
{
	CLEANUP(recording_end_destroyp) struct recording_end *end = calloc(1, sizeof(*end));
	int err = end ? 0 : -ENOMEM;

	if (err)
		return err;
	err = recorder->writer.error ?: segment_write(&recorder->writer, &recorder->packer.lanes);
	if (err)
		return err;
	end->recorder.packer = recorder->packer;
	end->recorder.packer.lanes = (struct lanes){0};
	end->recorder.round_ns = recorder->round_ns;
	err = segment_writer_continue(&end->recorder.writer, &recorder->writer, out);
	err = err ?: location_names_init(&end->names, view);
	if (err)
		return err;
	*ret_bytes = recorder->writer.bytes;
	*ret = TAKE_PTR(end);
	return 0;
}

int recording_end_step(struct recording_end *end, const struct view *view,
		       const struct module_table *modules, size_t max)
{
	int state = put_names(&end->recorder, &end->names, view, modules, max);

	return state ?: put_end(&end->recorder, view);
}

void recording_end_destroy(struct recording_end *end)
{
	if (!end)
		return;
	location_names_deinit(&end->names);
	segment_writer_deinit(&end->recorder.writer);
	lanes_deinit(&end->recorder.packer.lanes);
	free(end);
}
