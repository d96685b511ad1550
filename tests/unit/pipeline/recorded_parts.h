/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A made run that is recorded in parts, in memory, and the replay of these parts, for cmocka tests.
 */
#ifndef JITBPF_TESTS_UNIT_PIPELINE_RECORDED_PARTS_H
#define JITBPF_TESTS_UNIT_PIPELINE_RECORDED_PARTS_H

#include "pipeline/pipeline_state.h"
#include "tests/unit/pipeline/made_replay.h"
#include "tests/unit/pipeline/random_run.h"

#define PARTS 4 /* at most */

static const struct run_info info = {
	.start_ns = 500,
	.wall_clock_ns = 1000000,
	.freq_hz = 99,
	.cpus = 2,
	.event = "cpu-clock",
	.command = "a command",
	.host = "box",
	.kernel = "6.18",
};

/* A recording in memory. */
struct part {
	char *bytes;
	size_t size;
	FILE *file;
	struct recorder *recorder;
};

struct parts {
	struct part all[PARTS];
	size_t count;
};

static inline struct recorder *begin_part(struct parts *parts, const struct run_info *about)
{
	struct part *part = &parts->all[parts->count++];

	part->file = open_memstream(&part->bytes, &part->size);
	made_require(part->file && !recorder_create(part->file, about, &part->recorder));
	return part->recorder;
}

static inline void end_part(struct parts *parts, size_t number, struct pipeline *pipeline,
			    const struct view *view)
{
	struct part *part = &parts->all[number];

	assert_int_equal(recorder_finish(part->recorder, view, pipeline_modules(pipeline)), 0);
	recorder_destroy(part->recorder);
	fclose(part->file);
}

static inline void rotate(struct made_run *run, struct parts *parts)
{
	struct recorder *before = parts->all[parts->count - 1].recorder;
	struct run_info next = *pipeline_view(run->pipeline)->info;

	next.start_ns += next.duration_ns;
	next.duration_ns = 0;
	assert_int_equal(pipeline_rotate(run->pipeline, before, begin_part(parts, &next), &next),
			 0);
}

/* made_round() with the recorder of the last part. */
static inline int recorded_round(struct made_run *run, struct parts *parts, int state,
				 uint64_t time_ns)
{
	run->state = state;
	run->round_ns = time_ns;
	return pipeline_round(run->pipeline, &run->source, parts->all[parts->count - 1].recorder);
}

/* The counts of a ledger that add up over the parts of a run, plus those of others. */
static inline void add_ledger(struct ledger *sum, const struct ledger *ledger)
{
	const struct jit_counts *jit = &ledger->jit;
	uint64_t *to = (uint64_t *)&sum->jit;

	for (size_t i = 0; i < FATE_COUNT; i++)
		sum->samples.fate[i] += ledger->samples.fate[i];
	for (size_t i = 0; i < JITBPF_END_COUNT; i++)
		sum->samples.cut[i] += ledger->samples.cut[i];
	for (size_t i = 0; i < sizeof(*jit) / sizeof(uint64_t); i++)
		to[i] += ((const uint64_t *)jit)[i];
	sum->samples.frame_pointers += ledger->samples.frame_pointers;
	sum->malformed_records += ledger->malformed_records;
	sum->throttled_ns += ledger->throttled_ns;
	sum->throttles += ledger->throttles;
	/* What was loaded before a part is described in it, and counted as such. */
	sum->jit.methods -= jit->late;
	sum->jit.late = sum->jit.code_bytes = sum->jit.merged = 0;
	memset(sum->jit.published, 0, sizeof(sum->jit.published));
}

static inline void begin_run(struct made_run *run, struct parts *parts,
			     const struct pipeline_options *options)
{
	made_run_begin(run, options);
	assert_int_equal(pipeline_set_info(run->pipeline, &info), 0);
	begin_part(parts, &info);
}

/* live: of the epochs, as they were recorded. */
static inline void end_run(struct made_run *run, struct parts *parts, uint64_t time_ns,
			   struct ledger *live)
{
	struct pipeline_epoch epoch;
	size_t complete = 0;

	assert_int_equal(recorded_round(run, parts, SOURCE_END, time_ns), SOURCE_END);
	assert_int_equal(pipeline_recorder_error(run->pipeline), 0);
	assert_int_equal(pipeline_finish(run->pipeline), 0);
	while (pipeline_complete_epoch(run->pipeline, true, &epoch) > 0) {
		assert_ptr_equal(epoch.recorder, parts->all[complete].recorder);
		assert_int_equal(epoch.recorder_error, 0);
		add_ledger(live, epoch.view->ledger);
		end_part(parts, complete++, run->pipeline, epoch.view);
		pipeline_drop_epoch(run->pipeline);
	}
	assert_int_equal(complete + 1, parts->count);
	add_ledger(live, pipeline_view(run->pipeline)->ledger);
	end_part(parts, complete, run->pipeline, pipeline_view(run->pipeline));
}

/* Replay a part; what is seen is added to run->seen. Returns the pipeline, finished. */
static inline struct pipeline *replay_whole(const struct part *part, struct made_run *run)
{
	struct pipeline *pipeline;

	assert_int_equal(pipeline_create(&(struct pipeline_options){0}, &pipeline), 0);
	assert_int_equal(pipeline_add_sink(pipeline, &made_sink, (FILE *)run), 0);
	made_replay(pipeline, part->bytes, part->size);
	assert_int_equal(pipeline_view(pipeline)->ledger->malformed_records, 0);
	return pipeline;
}

/* The same, and add its ledger to sum. */
static inline void replay(const struct part *part, struct made_run *run, struct ledger *sum)
{
	struct pipeline *pipeline = replay_whole(part, run);

	add_ledger(sum, pipeline_view(pipeline)->ledger);
	pipeline_destroy(pipeline);
}

static inline void assert_same(const struct made_seen *whole, const struct made_seen *part)
{
	assert_int_equal(whole->time_ns, part->time_ns);
	assert_int_equal(whole->pid, part->pid);
	assert_int_equal(whole->kind, part->kind);
	assert_int_equal(whole->offset, part->offset);
	assert_string_equal(whole->name, part->name);
	assert_string_equal(whole->comm, part->comm);
	assert_string_equal(whole->thread, part->thread);
	assert_string_equal(whole->cgroup, part->cgroup);
	assert_int_equal(whole->kernel_frames, part->kernel_frames);
	assert_int_equal(whole->user_frames, part->user_frames);
}

static inline void assert_same_ledger(const struct ledger *whole, const struct ledger *parts)
{
	const uint64_t *jit = (const uint64_t *)&whole->jit, *sum = (const uint64_t *)&parts->jit;

	assert_memory_equal(whole->samples.fate, parts->samples.fate, sizeof(whole->samples.fate));
	assert_memory_equal(whole->samples.cut, parts->samples.cut, sizeof(whole->samples.cut));
	for (size_t i = 0; i < sizeof(whole->jit) / sizeof(uint64_t); i++) {
		if (jit[i] != sum[i])
			print_error("count %zu of struct jit_counts\n", i);
		assert_int_equal(jit[i], sum[i]);
	}
	assert_int_equal(whole->samples.frame_pointers, parts->samples.frame_pointers);
	assert_int_equal(whole->malformed_records, parts->malformed_records);
	assert_int_equal(whole->throttles, parts->throttles);
	assert_int_equal(whole->throttled_ns, parts->throttled_ns);
}

/* End a run of one part, and replay it without a limit: both have the same results. */
static inline void assert_replays(struct made_run *run, struct parts *parts, uint64_t end_ns,
				  struct ledger *ret)
{
	struct ledger live = {0}, replayed = live;
	struct made_run again = {0};

	end_run(run, parts, end_ns, &live);
	replay(&parts->all[0], &again, &replayed);
	assert_int_equal(again.seen_count, run->seen_count);
	for (size_t i = 0; i < run->seen_count; i++)
		assert_same(&run->seen[i], &again.seen[i]);
	assert_same_ledger(&live, &replayed);
	*ret = live;
	free(parts->all[0].bytes);
	made_run_end(run);
}

#endif
