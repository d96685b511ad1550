/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Random runs with deferred stacks, recorded and replayed: the report is equal
 * to the live output, byte for byte, in every format.
 */
#include <stdint.h>

#include "base/hash.h"
#include "decode/recording/recording_reader.h"
#include "pipeline/pipeline_state.h"
#include "pipeline/record/replay_source.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_unwinder.h"

#define SECOND	 1000000000ull
#define LIB	 0x700000 /* address of mapped files */
#define RUNS	 400
#define ROUNDS	 30
#define PIDS	 3		/* MADE_PID and following */
#define JAVA_PID (MADE_PID + 1) /* a virtual machine */
#define SLOTS	 4		/* places for JIT code, each of the size that make_load() uses */

static const struct sink_ops *const formats[] = {
	&sink_script,  &sink_folded, &sink_summary_json, &sink_summary,
	&sink_firefox, &sink_pprof,  &sink_speedscope,	 &sink_html,
};

/* The complete output of a run. */
struct said {
	char *bytes[ARRAY_SIZE(formats)];
	size_t sizes[ARRAY_SIZE(formats)];
	FILE *files[ARRAY_SIZE(formats)];
};

static uint64_t random_state;

static uint64_t random_below(uint64_t limit)
{
	random_state = hash_mix(random_state, 0x9e3779b97f4a7c15ull);
	return random_state % limit;
}

static uint64_t made_samples;

static uint64_t mood; /* changes each round; determines which stacks can be completed in it */

static bool is_ready(uint64_t time_ns)
{
	return hash_mix(time_ns, mood) % 4 == 0;
}

static void listen(struct said *said, struct pipeline *pipeline)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		said->files[i] = open_memstream(&said->bytes[i], &said->sizes[i]);
		made_require(said->files[i]);
		assert_int_equal(pipeline_add_sink(pipeline, formats[i], said->files[i]), 0);
	}
}

static void write_all(struct said *said, struct pipeline *pipeline)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		assert_int_equal(pipeline_write(pipeline, said->files[i]), 0);
}

/* Call it after the pipeline is destroyed, which borrows the files. */
static void said_close(struct said *said)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		fclose(said->files[i]);
}

static void said_deinit(struct said *said)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++)
		free(said->bytes[i]);
}

static void assert_same(const struct said *a, const struct said *b)
{
	for (size_t i = 0; i < ARRAY_SIZE(formats); i++) {
		assert_true(a->sizes[i] > 0);
		assert_int_equal(a->sizes[i], b->sizes[i]);
		assert_memory_equal(a->bytes[i], b->bytes[i], a->sizes[i]);
	}
}

/* --- what happens ------------------------------------------------------------- */

static uint64_t random_address(void)
{
	uint64_t base = random_below(3) ? MADE_CODE : LIB;

	return base + random_below(SLOTS * 0x100);
}

/* Counts of all runs so far. */
static struct jit_counts counted;

static void make_random_sample(struct made_run *run, uint64_t time_ns)
{
	const uint64_t callers[] = {random_address(), random_address(), LIB + random_below(2)};
	uint32_t pid = MADE_PID + (uint32_t)random_below(PIDS);
	struct jitbpf_sample *sample;

	if (random_below(3))
		sample = make_unfinished(run, time_ns, random_address(), callers, random_below(4),
					 0);
	else
		sample = make_sample_of(run, time_ns, MADE_PID, MADE_START, callers,
					1 + (uint16_t)random_below(ARRAY_SIZE(callers)));
	if (random_below(2))
		sample->mappings_age_ns = 1 + (uint32_t)random_below(SECOND / 4);
	made_samples++;
	sample->pid = pid;
	sample->tid = pid + (uint32_t)random_below(2);
	sample->start_ns = random_below(4) ? 0 : pid;
	snprintf(sample->comm, sizeof(sample->comm), "thread-%u", (uint32_t)random_below(3));
}

/* A jitdump file that describes the same code, or moves it. */
static void make_dump_event(struct made_run *run, uint64_t time_ns, uint32_t pid,
			    const struct jitbpf_jit_header *header)
{
	struct code_event event = {
		.origin = {.publisher = JITBPF_PUBLISHER_JITDUMP, .engine = 1, .sequence = 1},
		.pid = pid,
		.tid = pid,
		.time_ns = time_ns,
		.reported_ns = time_ns,
		.kind = random_below(3) ? JITBPF_CODE_LOAD : JITBPF_CODE_MOVE,
		.method_id = header->method_id,
		.address = header->address,
		.old_address = MADE_CODE + random_below(SLOTS) * 0x100,
		.size_bytes = header->code_bytes,
		.name = {.bytes = "dumped", .size_bytes = 6},
		.source = {.bytes = "a.js", .size_bytes = 4},
	};
	size_t size_bytes = code_event_record_bytes(&event);

	code_event_encode(&event, make_record(run, JITBPF_CODE_EVENT, size_bytes, time_ns));
}

static void make_random_event(struct made_run *run, uint64_t time_ns, uint64_t *sequence)
{
	uint32_t pid = MADE_PID + (uint32_t)random_below(PIDS);
	struct jitbpf_jit_header *header;
	char name[16];

	switch (random_below(12)) {
	case 0:
		make_task(run, JITBPF_FORK, time_ns, pid, MADE_PID);
		break;
	case 1:
		make_task(run, JITBPF_EXIT, time_ns, pid, 0);
		break;
	case 2:
		make_comm(run, time_ns, pid, "renamed", random_below(2));
		break;
	case 3:
	case 4:
		make_mapping(run, time_ns, pid, LIB, "/lib/x.so");
		break;
	case 5:
		make_mapping(run, time_ns, pid, MADE_CODE,
			     random_below(3) ? "//anon" : "/lib/y.so");
		break;
	default:
		snprintf(name, sizeof(name), "method-%u", (uint32_t)(*sequence % 1000));
		header = make_jit_of(run, time_ns, pid, 0, *sequence, name);
		header->address += random_below(SLOTS) * 0x100;
		header->event = random_below(5) ? JIT_EVENT_LOAD : JIT_EVENT_UNLOAD;
		if (pid == JAVA_PID)
			header->event = random_below(5) ? JIT_EVENT_JVM_LOAD : JIT_EVENT_JVM_UNLOAD;
		header->method_id = 1 + (uint32_t)random_below(*sequence + 1);
		++*sequence;
		if (!random_below(8))
			make_dump_event(run, time_ns, pid, header);
		if (!random_below(10))
			header->part_count = 0; /* malformed */
		else if (!random_below(10))
			header->part_count = 2; /* its other part is lost */
	}
}

/* Add the records of a drain that began at now_ns, after one that began at before_ns. */
static void make_round(struct made_run *run, uint64_t before_ns, uint64_t now_ns,
		       uint64_t *sequence)
{
	uint64_t length_ns = now_ns - before_ns;

	for (uint64_t i = random_below(12); i--;)
		make_random_sample(run, before_ns + 1 + random_below(length_ns));
	/* A ring that was drained late, and records of the sources drained last. */
	if (!random_below(5))
		make_random_sample(run, before_ns - random_below(SECOND / 4));
	for (uint64_t i = random_below(8); i--;)
		make_random_event(run, before_ns + 1 + random_below(length_ns + SECOND / 100),
				  sequence);
}

static void run_live(struct made_run *run, struct recorder *recorder, bool fails)
{
	uint64_t before_ns = SECOND, now_ns, sequence = 0;

	for (uint64_t i = random_below(ROUNDS) + 1; i--; before_ns = now_ns) {
		now_ns = before_ns + (random_below(12) ? SECOND / 20 : 4 * SECOND);
		mood = random_below(1000);
		made_unwinder.came = (int)random_below(2);
		made_unwinder.untold = (uint32_t)random_below(3);
		make_round(run, before_ns, now_ns, &sequence);
		run->round_ns = now_ns;
		run->state = i ? SOURCE_ROUND : SOURCE_END;
		if (i && !random_below(6))
			run->state = SOURCE_OPEN;
		if (!i && fails)
			run->state = -EIO;
		if (!i && random_below(2)) /* no record should be that late */
			make_random_sample(run, now_ns + SECOND / 50);
		assert_int_equal(pipeline_round(run->pipeline, &run->source, recorder), run->state);
		if (run->state == SOURCE_OPEN)
			now_ns = before_ns;
	}
}

/* --- and how it is told ------------------------------------------------------- */

static void record(struct said *said, char **recording, size_t *size, bool fails)
{
	const struct run_info info = {.start_ns = SECOND / 2,
				      .wall_clock_ns = 5,
				      .freq_hz = 99,
				      .cpus = 2,
				      .event = "cycles",
				      .command = "a command",
				      .host = "box",
				      .kernel = "6.18"};
	FILE *file = open_memstream(recording, size);
	const struct jit_counts *jit;
	struct recorder *recorder;
	struct made_run run;

	made_samples = 0;
	made_run_begin(&run, &made_unwinding);
	made_unwinder = (struct unwinder){.is_ready = is_ready, .guesses = random_below(2)};
	listen(said, run.pipeline);
	assert_int_equal(pipeline_set_info(run.pipeline, &info), 0);
	assert_int_equal(recorder_create(file, &info, &recorder), 0);
	run_live(&run, recorder, fails);
	assert_int_equal(pipeline_recorder_error(run.pipeline), 0);
	assert_int_equal(pipeline_finish(run.pipeline), 0);
	assert_int_equal(ledger_taken(pipeline_view(run.pipeline)->ledger), made_samples);
	jit = &pipeline_view(run.pipeline)->ledger->jit;
	counted.malformed += jit->malformed;
	counted.incomplete += jit->incomplete;
	counted.merged += jit->merged;
	counted.moves += jit->moves;
	assert_int_equal(recorder_finish(recorder, pipeline_view(run.pipeline),
					 pipeline_modules(run.pipeline)),
			 0);
	write_all(said, run.pipeline);
	recorder_destroy(recorder);
	made_run_end(&run);
	said_close(said);
	fclose(file);
}

static void replay(struct said *said, const char *recording, size_t size)
{
	struct blob blob = blob_of_memory(recording, size);
	struct recording_error error;
	struct recording_reader *reader;
	struct replay_source played;
	struct pipeline *pipeline;
	struct source source;
	int source_state;

	assert_int_equal(pipeline_create(&(struct pipeline_options){0}, &pipeline), 0);
	listen(said, pipeline);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&played, reader, &source);
	while ((source_state = pipeline_round(pipeline, &source, NULL)) > 0)
		;
	assert_int_equal(source_state, SOURCE_END);
	assert_int_equal(pipeline_view(pipeline)->ledger->malformed_records, 0);
	assert_int_equal(pipeline_finish(pipeline), 0);
	write_all(said, pipeline);
	recording_reader_close(reader);
	pipeline_destroy(pipeline);
	said_close(said);
}

static void run_and_compare(bool fails)
{
	uint64_t late = 0, finished = 0, held = 0;

	for (uint64_t seed = 1; seed <= RUNS; seed++) {
		struct said live = {0}, replayed = {0};
		char *recording = NULL;
		size_t size;

		random_state = seed;
		record(&live, &recording, &size, fails);
		late += made_unwinder.last;
		finished += made_unwinder.counts.finished;
		held += made_unwinder.told_of;
		replay(&replayed, recording, size);
		assert_same(&live, &replayed);
		said_deinit(&live);
		said_deinit(&replayed);
		free(recording);
	}
	/* All cases occurred, and often. */
	assert_true(counted.malformed > RUNS && counted.incomplete > RUNS &&
		    counted.merged > RUNS / 2 && counted.moves > RUNS / 10);
	assert_true(late > 10 * RUNS && finished > 2 * late && held > RUNS);
}

CASE(test_said_live_is_said_again)
{
	run_and_compare(false);
}

CASE(test_source_that_fails)
{
	run_and_compare(true);
}
