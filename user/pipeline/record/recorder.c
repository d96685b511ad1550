/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/recorder.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/index_map.h"
#include "base/scope.h"
#include "decode/record/stack_store.h"
#include "pipeline/record/chunk_writer.h"
#include "pipeline/record/frames_chunk.h"
#include "profile/ledger.h"
#include "uapi/recording.h"

struct recorder {
	struct chunk_writer writer;
	struct stack_store stacks; /* stacks that the reader has at this point */
	struct index_map index;	   /* of stacks */
	uint64_t round_ns;	   /* time of the last round */
	uint64_t flush_ns;	   /* time of the next flush */
};

/* --- samples ---------------------------------------------------------------- */

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct stack *key = key_;
	struct stack stack;

	return stack_store_get(items, item, &stack) && stack.kernel_frames == key->kernel_frames &&
	       stack.user_frames == key->user_frames && stack.user_end == key->user_end &&
	       !memcmp(stack.ips, key->ips, stack_frames(&stack) * sizeof(__u64));
}

/* Write a stack that has just got its number. */
static int put_stack(struct recorder *recorder, const struct stack *stack, uint32_t number)
{
	size_t ips_bytes = stack_frames(stack) * sizeof(__u64);
	struct jitbpf_stack_chunk chunk = {
		.h =
			{
				.size_bytes = (uint32_t)(sizeof(chunk) + ips_bytes),
				.type = JITBPF_CHUNK_STACK,
				.flags = number ? 0 : JITBPF_STACK_FRESH,
			},
		.kernel_frames = stack->kernel_frames,
		.user_frames = stack->user_frames,
		.user_end = stack->user_end,
	};

	chunk_put(&recorder->writer, &chunk, sizeof(chunk));
	return chunk_put(&recorder->writer, stack->ips, ips_bytes);
}

/* Number a new stack. If there is no room, all earlier stacks are dropped. */
static int add_stack(struct recorder *recorder, const struct stack *stack, uint64_t hash,
		     uint32_t *ret)
{
	int err;

	if (recorder->stacks.chunks_bytes > RECORDER_STACKS_BYTES) {
		stack_store_clear(&recorder->stacks);
		index_map_deinit(&recorder->index);
	}
	err = stack_store_add(&recorder->stacks, stack);
	if (err)
		return err;
	*ret = (uint32_t)recorder->stacks.firsts.size - 1;
	/* Without memory for the index, the stack is written again next time. */
	index_map_insert(&recorder->index, hash, *ret);
	return put_stack(recorder, stack, *ret);
}

static int number_of(struct recorder *recorder, const struct stack *stack, uint32_t *ret)
{
	uint64_t frames = stack->kernel_frames | (uint64_t)stack->user_frames << 16;
	uint64_t hash = hash_mix(frames, stack->user_end);

	hash = hash_bytes(stack->ips, stack_frames(stack) * sizeof(__u64), hash);
	*ret = index_map_find(&recorder->index, hash, equal, &recorder->stacks, stack);
	return *ret == INDEX_MAP_NONE ? add_stack(recorder, stack, hash, ret) : 0;
}

/* Returns true if a STACK and a SAMPLE_REF chunk can hold the sample. */
static bool is_plain(const struct jitbpf_sample *sample)
{
	uint64_t frames = (uint64_t)sample->kernel_frames + sample->user_frames;
	size_t regs_bytes =
		sample->h.flags & JITBPF_SAMPLE_USER_REGS ? sizeof(struct jitbpf_user_regs) : 0;

	return sample->kernel_frames <= JITBPF_KERNEL_FRAMES_MAX &&
	       sample->user_frames <= JITBPF_USER_FRAMES_MAX && !sample->mappings_age_ns &&
	       sample->h.size_bytes == sizeof(*sample) + frames * sizeof(__u64) + regs_bytes;
}

static int write_sample(struct recorder *recorder, const struct jitbpf_sample *sample)
{
	struct stack stack = {
		.kernel_frames = sample->kernel_frames,
		.user_frames = sample->user_frames,
		.user_end = sample->user_end,
		.ips = sample->ips,
	};
	size_t ips_bytes = stack_frames(&stack) * sizeof(__u64);
	size_t regs_bytes = sample->h.size_bytes - sizeof(*sample) - ips_bytes;
	struct jitbpf_sample_ref_chunk chunk = {
		.h = sample->h,
		.pid = sample->pid,
		.tid = sample->tid,
		.start_ns = sample->start_ns,
		.cpu = sample->cpu,
	};
	int err = number_of(recorder, &stack, &chunk.stack);

	/* Write it as it is, which needs no memory. */
	if (err == -ENOMEM)
		return chunk_put(&recorder->writer, sample, sample->h.size_bytes);
	if (err)
		return err;
	chunk.h.type = JITBPF_CHUNK_SAMPLE_REF;
	chunk.h.size_bytes = (uint32_t)(sizeof(chunk) + regs_bytes);
	memcpy(chunk.comm, sample->comm, sizeof(chunk.comm));
	chunk_put(&recorder->writer, &chunk, sizeof(chunk));
	return chunk_put(&recorder->writer, (const uint8_t *)sample->ips + ips_bytes, regs_bytes);
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

int recorder_write(struct recorder *recorder, const struct jitbpf_record *record)
{
	int err = check(recorder, record);

	if (err)
		return err;
	if (record->type == JITBPF_SAMPLE && record->size_bytes >= sizeof(struct jitbpf_sample) &&
	    is_plain((const struct jitbpf_sample *)record))
		return write_sample(recorder, (const struct jitbpf_sample *)record);
	return chunk_put(&recorder->writer, record, record->size_bytes);
}

int recorder_write_counted(struct recorder *recorder, const struct jitbpf_record *record)
{
	struct jitbpf_record head = *record;
	int err = check(recorder, record);

	if (err || record->type == JITBPF_SAMPLE)
		return err ?: -EINVAL;
	head.flags |= JITBPF_RECORD_COUNTED;
	chunk_put(&recorder->writer, &head, sizeof(head));
	return chunk_put(&recorder->writer, record + 1, record->size_bytes - sizeof(head));
}

int recorder_end_round(struct recorder *recorder, uint64_t time_ns)
{
	int err = chunk_put_round(&recorder->writer, time_ns);

	recorder->round_ns = time_ns;
	if (err || time_ns < recorder->flush_ns)
		return err;
	recorder->flush_ns = time_ns + RECORDER_FLUSH_NS;
	return chunk_flush(&recorder->writer);
}

uint64_t recorder_bytes(const struct recorder *recorder)
{
	return recorder->writer.bytes;
}

/* --- beginning and end ------------------------------------------------------ */

static int put_info(struct chunk_writer *writer, const struct run_info *info)
{
	const char *texts[] = {info->event, info->command, info->host, info->kernel};
	struct jitbpf_info_chunk chunk = {
		.h =
			{
				.size_bytes = sizeof(chunk),
				.type = JITBPF_CHUNK_INFO,
				.time_ns = info->start_ns,
			},
		.wall_clock_ns = info->wall_clock_ns,
		.freq_hz = info->freq_hz,
		.cpus = info->cpus,
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		chunk.h.size_bytes += strnlen(texts[i], JITBPF_TEXT_MAX) + 1;
	chunk_put(writer, &chunk, sizeof(chunk));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		chunk_put(writer, texts[i], strnlen(texts[i], JITBPF_TEXT_MAX));
		chunk_put(writer, "", 1);
	}
	return writer->error;
}

int recorder_create(FILE *out, const struct run_info *info, struct recorder **ret)
{
	struct jitbpf_recording_header header = {
		.version = JITBPF_RECORDING_VERSION,
		.header_bytes = sizeof(header),
	};
	struct recorder *recorder = calloc(1, sizeof(*recorder));
	int err;

	if (!recorder)
		return -ENOMEM;
	memcpy(header.magic, JITBPF_RECORDING_MAGIC, sizeof(header.magic));
	recorder->writer.out = out;
	recorder->round_ns = info->start_ns;
	chunk_put(&recorder->writer, &header, sizeof(header));
	err = put_info(&recorder->writer, info);
	if (err) {
		recorder_destroy(recorder);
		return err;
	}
	*ret = recorder;
	return 0;
}

void recorder_destroy(struct recorder *recorder)
{
	if (!recorder)
		return;
	stack_store_deinit(&recorder->stacks);
	index_map_deinit(&recorder->index);
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
	struct jitbpf_counters counters = {
		.h =
			{
				.size_bytes = sizeof(counters) + sizeof(values),
				.type = JITBPF_COUNTERS,
				.time_ns = recorder->round_ns,
			},
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
	chunk_put(&recorder->writer, &counters, sizeof(counters));
	chunk_put(&recorder->writer, values, sizeof(values));
}

int recorder_finish(struct recorder *recorder, const struct view *view,
		    const struct module_table *modules)
{
	struct chunk_writer *writer = &recorder->writer;

	for (uint32_t i = 0; i < view->locations->locations.size && !writer->error; i++) {
		const struct location *location = &view->locations->locations.data[i];
		const struct module *module = NULL;
		const struct frame *frames;
		uint32_t count;

		if (location->kind == LOCATION_NATIVE)
			module = module_table_get(modules, (uint32_t)location->owner);
		else if (location->kind != LOCATION_KERNEL)
			continue; /* JIT code is named by its own records */
		if (!frame_table_is_named(view->frames, i))
			continue; /* the replay knows its file, too */
		frames = frame_table_get(view->frames, i, &count);
		if (frames && (module || location->kind == LOCATION_KERNEL))
			frames_chunk_put(writer, location, module, view->strings, frames, count);
	}
	put_late_counters(recorder, view->ledger);
	recorder_end_round(recorder, recorder->round_ns);
	return chunk_put_end(writer, recorder->round_ns);
}
