/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/recorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "pipeline/finished_records.h"
#include "pipeline/record/frames_chunk.h"
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
 * The best compression takes 10 % less room, and 1 us more for each sample. With few samples, room
 * counts: what does not depend on their number is most of it.
 */
#define COMPRESSION(freq_hz) ((freq_hz) < 500 ? SEGMENT_SMALL : SEGMENT_FAST)

struct recorder {
	struct segment_writer writer;
	struct record_packer packer; /* what is not written yet */
	struct sample_packer samples;
	uint64_t round_ns;	/* time of the last round */
	uint64_t told_round_ns; /* of the last one that has a chunk */
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
	    (record->type == JITBPF_SAMPLE &&
	     record->flags & (JITBPF_SAMPLE_STACK_COPY | JITBPF_SAMPLE_CODE_BYTES)))
		return -EINVAL;
	return 0;
}

static int put_round(struct recorder *recorder)
{
	recorder->told_round_ns = recorder->round_ns;
	return put_mark(recorder, JITBPF_CHUNK_ROUND, recorder->round_ns);
}

/* Code ends at a loss from the last round on, so a replay must know when that was. */
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

int recorder_write_counted(struct recorder *recorder, const struct jitbpf_record *record)
{
	struct jitbpf_record head = *record;
	int err = prepare(recorder, record);

	if (err || record->type == JITBPF_SAMPLE)
		return err ?: -EINVAL;
	head.flags |= JITBPF_RECORD_COUNTED;
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

static int put_info(struct recorder *recorder, const struct run_info *info)
{
	const char *texts[] = {info->event, info->command, info->host, info->kernel};
	size_t size_bytes = sizeof(struct jitbpf_info_chunk);
	AUTO_FREE struct jitbpf_info_chunk *chunk = NULL;
	char *at;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		size_bytes += strnlen(texts[i], JITBPF_TEXT_MAX) + 1;
	chunk = calloc(1, size_bytes);
	if (!chunk)
		return -ENOMEM;
	*chunk = (struct jitbpf_info_chunk){
		.h =
			{
				.size_bytes = (uint32_t)size_bytes,
				.type = JITBPF_CHUNK_INFO,
				.time_ns = info->start_ns,
			},
		.wall_clock_ns = info->wall_clock_ns,
		.freq_hz = info->freq_hz,
		.cpus = info->cpus,
	};
	at = chunk->text;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		size_t bytes = strnlen(texts[i], JITBPF_TEXT_MAX);

		memcpy(at, texts[i], bytes);
		at += bytes + 1;
	}
	return put(recorder, &chunk->h, &chunk->h + 1);
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

/* Counts since the source's COUNTERS record; readers add both up. */
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

struct name_order {
	const struct location *location;
	uint32_t number;
};

/* By module and offset: neighbours have much in common. */
static int compare_places(const void *a_, const void *b_)
{
	const struct location *a = ((const struct name_order *)a_)->location;
	const struct location *b = ((const struct name_order *)b_)->location;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static int put_frames(struct recorder *recorder, struct frames_chunk *chunk,
		      const struct view *view, const struct module_table *modules,
		      const struct name_order *place)
{
	const struct location *location = place->location;
	const struct module *module = NULL;
	const struct frame *frames;
	uint32_t count;
	int err;

	if (location->kind == LOCATION_NATIVE)
		module = module_table_get(modules, (uint32_t)location->owner);
	frames = frame_table_get(view->frames, place->number, &count);
	if (!frames || (!module && location->kind != LOCATION_KERNEL))
		return 0;
	err = frames_chunk_make(chunk, location, module, view->strings, frames, count);
	if (err)
		return err;
	return put(recorder, (const struct jitbpf_record *)chunk->bytes.data,
		   chunk->bytes.data + sizeof(struct jitbpf_record));
}

static int put_names(struct recorder *recorder, const struct view *view,
		     const struct module_table *modules)
{
	size_t locations = view->locations->locations.size, count = 0;
	AUTO_FREE struct name_order *order = reallocarray(NULL, locations ?: 1, sizeof(*order));
	struct frames_chunk chunk = {0};
	int err = order ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < locations && !err; i++) {
		const struct location *location = &view->locations->locations.data[i];

		/* JIT code is named by its own records. Of an unnamed one, a replay knows the file,
		 * too. */
		if ((location->kind == LOCATION_NATIVE || location->kind == LOCATION_KERNEL) &&
		    frame_table_is_named(view->frames, i))
			order[count++] = (struct name_order){location, i};
	}
	if (count)
		qsort(order, count, sizeof(*order), compare_places);
	for (size_t i = 0; i < count && !err; i++)
		err = put_frames(recorder, &chunk, view, modules, &order[i]);
	vec_deinit(&chunk.bytes);
	return err;
}

int recorder_finish(struct recorder *recorder, const struct view *view,
		    const struct module_table *modules)
{
	int err = recorder->writer.error ?: put_names(recorder, view, modules);

	if (err)
		return err;
	put_late_counters(recorder, view->ledger);
	put_round(recorder);
	put_mark(recorder, JITBPF_CHUNK_END, recorder->round_ns);
	return segment_write(&recorder->writer, &recorder->packer.lanes);
}
