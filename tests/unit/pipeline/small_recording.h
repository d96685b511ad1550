/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A small recording with a record of each type, for tests of recorder and
 * reader and for fuzz seeds. Aborts if memory is short.
 */
#ifndef JITBPF_TESTS_SMALL_RECORDING_H
#define JITBPF_TESTS_SMALL_RECORDING_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "decode/record/code_event.h"
#include "pipeline/record/recorder.h"
#include "profile/ledger.h"
#include "uapi/loss.h"
#include "uapi/recording.h"
#include "uapi/scope_table.h"

#define SMALL_RECORDS_MAX 48

/* The input records in order; a ROUND record marks the end of a round. */
struct small_recording {
	struct jitbpf_record *records[SMALL_RECORDS_MAX];
	size_t count;
	struct run_info info;
	struct string_pool *strings;
	struct frame_table *frames;
	struct location_table locations;
	struct module_table modules;
};

static inline void small_require(bool ok)
{
	if (!ok)
		abort();
}

/* Add a zeroed record of exactly size_bytes. */
static inline void *small_add(struct small_recording *small, uint16_t type, size_t size_bytes)
{
	struct jitbpf_record *record = calloc(1, size_bytes);

	small_require(record && small->count < SMALL_RECORDS_MAX);
	record->size_bytes = (uint32_t)size_bytes;
	record->type = type;
	/* Some rounds are flushed, others are not. */
	record->time_ns = 1000000 + small->count * 300000000;
	small->records[small->count++] = record;
	return record;
}

static inline void small_add_round(struct small_recording *small)
{
	small_add(small, JITBPF_CHUNK_ROUND, sizeof(struct jitbpf_record));
}

/* Add a sample; samples with the same shape and seed have the same stack. */
static inline struct jitbpf_sample *small_add_sample(struct small_recording *small,
						     uint16_t kernel_frames, uint16_t user_frames,
						     uint64_t seed, bool with_regs)
{
	size_t ips_bytes = (kernel_frames + (size_t)user_frames) * sizeof(__u64);
	struct jitbpf_sample *sample = small_add(
		small, JITBPF_SAMPLE,
		sizeof(*sample) + ips_bytes + (with_regs ? sizeof(struct jitbpf_user_regs) : 0));

	sample->h.flags = with_regs ? JITBPF_SAMPLE_USER_REGS : 0;
	sample->pid = 4000 + (uint32_t)small->count;
	sample->tid = 5000 + (uint32_t)small->count;
	sample->start_ns = 77;
	sample->cpu = 1;
	sample->kernel_words = kernel_frames;
	sample->user_words = user_frames;
	sample->user_end = user_frames ? JITBPF_END_ROOT : JITBPF_END_NONE;
	memcpy(sample->comm, "worker\xc3\x28", 8);
	for (uint32_t i = 0; i < kernel_frames + (uint32_t)user_frames; i++)
		sample->words[i] = (i < kernel_frames ? 0xffffffff81000000 : 0x7f0000000000) +
				   seed * 0x1000 + i * 16;
	if (with_regs) {
		struct jitbpf_user_regs regs = {.ax = 1, .ip = 0x7f0000000001, .r15 = small->count};

		memcpy((uint8_t *)sample->words + ips_bytes, &regs, sizeof(regs));
	}
	return sample;
}

/* Add a sample of another event with a weight of its own. */
static inline void small_add_weighted(struct small_recording *small, uint16_t event,
				      uint64_t weight, bool with_regs)
{
	struct jitbpf_sample *sample = small_add_sample(small, 3, 2, 1, with_regs);
	size_t bytes = sample->h.size_bytes;

	sample = realloc(sample, bytes + sizeof(weight));
	small_require(sample);
	small->records[small->count - 1] = &sample->h;
	sample->h.size_bytes += sizeof(weight);
	sample->h.flags |= JITBPF_SAMPLE_WEIGHT;
	sample->event = event;
	memcpy((uint8_t *)sample + bytes, &weight, sizeof(weight));
}

/* A scope table: bar(), and baz() inlined there. */
static const struct small_scopes {
	struct jitbpf_scope_table counts;
	struct jitbpf_scope_method methods[2];
	struct jitbpf_scope scopes[2];
	struct jitbpf_scope_range ranges[3];
	char strings[16];
} small_scopes = {
	.counts = {.method_count = 2, .scope_count = 2, .range_count = 3, .string_bytes = 16},
	.methods = {{.name = 1, .source = 5}, {.name = 12, .source = 5}},
	.scopes = {{JITBPF_NO_SCOPE, 1, 0, 3, 7}, {0, 2, 1, -1, 21}},
	.ranges = {{0, 0}, {16, 1}, {32, JITBPF_NO_SCOPE}},
	.strings = "\0bar\0Foo.cc\0baz",
};

static inline void small_add_jit(struct small_recording *small)
{
	struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_SHIM, .engine = 0x7f0000000040},
		.pid = 4001,
		.tid = 4001,
		.kind = JITBPF_CODE_LOAD,
		.method_id = 1,
		.address = 0x7f0000100000,
		.size_bytes = 64,
		.name = {.bytes = "Foo::bar", .size_bytes = 8},
		.scopes = &small_scopes,
		.scope_bytes = sizeof(small_scopes),
	};
	struct jitbpf_code_event *record =
		small_add(small, JITBPF_CODE_EVENT, code_event_record_bytes(&event));

	event.time_ns = event.reported_ns = record->h.time_ns;
	code_event_encode(&event, record);
}

static inline struct jitbpf_mapping *small_add_mapping(struct small_recording *small,
						       const char *path)
{
	struct jitbpf_mapping *mapping =
		small_add(small, JITBPF_MAPPING, sizeof(*mapping) + strlen(path) + 1);

	mapping->pid = mapping->tid = 4001;
	mapping->address = 0x7f0000000000;
	mapping->size_bytes = 0x10000;
	mapping->inode = 10 + small->count;
	mapping->dev_major = 8;
	strcpy(mapping->path, path);
	return mapping;
}

/* Add the side-band records and the records of the end. */
static inline void small_add_others(struct small_recording *small)
{
	static const char symbol_name[] = "bpf_prog_6deef7357e7b4530_sample";
	static const char names[] = "/system.slice/java.service\0java";
	struct jitbpf_comm *comm = small_add(small, JITBPF_COMM, sizeof(*comm));
	struct jitbpf_task *task = small_add(small, JITBPF_FORK, sizeof(*task));
	struct jitbpf_kernel_symbol *symbol =
		small_add(small, JITBPF_KERNEL_SYMBOL, sizeof(*symbol) + sizeof(symbol_name));
	struct jitbpf_cgroup *cgroup =
		small_add(small, JITBPF_CGROUP, sizeof(*cgroup) + sizeof(names));
	struct jitbpf_lost_samples *lost;
	struct jitbpf_counters *counters;

	cgroup->cgroup = 4711;
	memcpy(cgroup->strings, names, sizeof(names));
	comm->pid = comm->tid = 4001;
	comm->h.flags = JITBPF_COMM_EXEC;
	strcpy(comm->comm, "java");
	task->pid = task->tid = 4002;
	task->parent_pid = 4001;
	symbol->address = 0xffffffffc0000000;
	symbol->size_bytes = 128;
	memcpy(symbol->name, symbol_name, sizeof(symbol_name));
	small_add(small, JITBPF_THROTTLE, sizeof(struct jitbpf_throttle));
	task = small_add(small, JITBPF_EXIT, sizeof(*task));
	task->pid = 4002;
	lost = small_add(small, JITBPF_LOST_SAMPLES, sizeof(*lost));
	lost->count = 3;
	counters = small_add(small, JITBPF_COUNTERS,
			     sizeof(*counters) + JITBPF_COUNTER_MAX * sizeof(__u64));
	counters->values[0] = 9;
}

/* Name a location: two frames, the inner one inlined. */
static inline void small_name(struct small_recording *small, struct location location,
			      const char *name)
{
	struct frame frames[2] = {
		{.line = 7, .symbol_offset = 3, .kind = FRAME_KIND_NATIVE, .flags = FRAME_INLINED},
		{.line = 8, .symbol_offset = 99, .kind = FRAME_KIND_NATIVE},
	};
	uint32_t number;

	small_require(!string_pool_add(small->strings, name, strlen(name), &frames[0].name) &&
		      !string_pool_add(small->strings, "caller", 6, &frames[1].name) &&
		      !string_pool_add(small->strings, "/src/a b.c", 10, &frames[0].file) &&
		      !string_pool_add(small->strings, "libx.so", 7, &frames[1].module) &&
		      !location_table_add(&small->locations, &location, &number) &&
		      !frame_table_set(small->frames, number, frames, 2));
}

static inline void small_add_names(struct small_recording *small,
				   const struct jitbpf_mapping *with_build_id,
				   const struct jitbpf_mapping *without)
{
	struct location unnamed = {.kind = LOCATION_KERNEL, .offset = 1};
	const struct module *a, *b;
	uint32_t number;

	small_require(
		!string_pool_create(&small->strings) &&
		!frame_table_create(small->strings, &small->frames) &&
		!module_table_add(&small->modules, with_build_id, (struct owner_key){0}, &a) &&
		!module_table_add(&small->modules, without, (struct owner_key){0}, &b) &&
		!location_table_add(&small->locations, &unnamed, &number));
	small_name(small, (struct location){.kind = LOCATION_KERNEL, .offset = 0xffffffff81000010},
		   "do_syscall_64");
	small_name(small,
		   (struct location){.kind = LOCATION_NATIVE, .owner = a->number, .offset = 0x1234},
		   "operator new(unsigned long)");
	small_name(small,
		   (struct location){.kind = LOCATION_NATIVE, .owner = b->number, .offset = 0x1234},
		   "\xff; <b>\n\t\"odd\"");
	small_name(small, (struct location){.kind = LOCATION_ANON, .offset = 5}, "not written");
}

static inline void small_recording_init(struct small_recording *small)
{
	struct jitbpf_mapping *with_build_id, *without;

	*small = (struct small_recording){
		.info =
			{
				.start_ns = 1000000,
				.wall_clock_ns = 1700000000000000000,
				.freq_hz = 99,
				.cpus = 2,
				.event = "cpu-clock",
				.command = "java -jar 'a b'.jar",
				.host = "box",
				.kernel = "6.18.0",
			},
	};
	with_build_id = small_add_mapping(small, "/usr/lib/libx.so");
	with_build_id->build_id_bytes = JITBPF_BUILD_ID_MAX;
	memset(with_build_id->build_id, 0xb1, JITBPF_BUILD_ID_MAX);
	without = small_add_mapping(small, "/opt/odd name\n (deleted)");
	small_add_round(small);
	small_add_sample(small, 3, 2, 1, false);
	small_add_jit(small);
	small_add_sample(small, 3, 2, 1, false);
	small_add_sample(small, 3, 2, 1, true);
	small_add_sample(small, 2, 3, 1, false);
	small_add_round(small);
	small_add_round(small); /* an empty round */
	small_add_sample(small, 0, 0, 0, false);
	small_add_sample(small, 0, JITBPF_USER_FRAMES_MAX, 2, true)->user_end = JITBPF_END_DEPTH;
	small_add_sample(small, 3, 2, 1, false)->user_end = JITBPF_END_BAD_FRAME;
	small_add_sample(small, 3, 2, 1, false)->mappings_age_ns =
		1; /* does not fit into a reference */
	small_add_sample(small, 3, 2, 1, false)->event = 1;
	small_add_sample(small, 3, 2, 1, false)->event = JITBPF_EVENTS_MAX - 1;
	small_add_weighted(small, 2, UINT64_MAX, true);
	small_add_weighted(small, 0, 0, false);
	small_add_others(small);
	small_add_round(small);
	small_add_names(small, with_build_id, without);
}

/* ledger is borrowed. */
static inline struct view small_recording_view(const struct small_recording *small,
					       const struct ledger *ledger)
{
	return (struct view){
		.ledger = ledger,
		.info = &small->info,
		.strings = small->strings,
		.locations = &small->locations,
		.frames = small->frames,
	};
}

/* Write the record of a number, from 0 on. */
static inline void small_recording_put(const struct small_recording *small,
				       struct recorder *recorder, size_t number)
{
	const struct jitbpf_record *record = small->records[number];

	small_require(!(record->type == JITBPF_CHUNK_ROUND
				? recorder_end_round(recorder, record->time_ns)
				: recorder_write(recorder, record)));
}

/* Write the file. The caller frees *ret_bytes. */
static inline void small_recording_write(const struct small_recording *small, char **ret_bytes,
					 size_t *ret_size)
{
	const struct ledger ledger = {0};
	struct view view = small_recording_view(small, &ledger);
	FILE *out = open_memstream(ret_bytes, ret_size);
	struct recorder *recorder;

	small_require(out && !recorder_create(out, &small->info, &recorder));
	for (size_t i = 0; i < small->count; i++)
		small_recording_put(small, recorder, i);
	small_require(!recorder_finish(recorder, &view, &small->modules));
	recorder_destroy(recorder);
	fclose(out);
}

static inline void small_recording_deinit(struct small_recording *small)
{
	for (size_t i = 0; i < small->count; i++)
		free(small->records[i]);
	frame_table_destroy(small->frames);
	string_pool_destroy(small->strings);
	location_table_deinit(&small->locations);
	module_table_deinit(&small->modules);
}

#endif
