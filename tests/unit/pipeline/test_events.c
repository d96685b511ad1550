/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Samples of several events: each event has its own counts, view and fates. */

#include "pipeline/record/recorder.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_replay.h"
#include "tests/unit/pipeline/made_run.h"

#define LIB    0x700000
#define FAULTS 1 /* numbers of events */
#define WAITS  2 /* each sample has a weight of its own */

static const struct run_info info = {
	.event = "cpu-clock",
	.freq_hz = 100,
	.command = "",
	.host = "",
	.kernel = "",
	.more_events = 2,
	.events = {{"page-faults", "faults", 50}, {"waits", "ns", 0}},
};

static void begin(struct made_run *run, const char *event)
{
	const struct view_options view = {.event = event};

	made_run_begin(run, &(struct pipeline_options){.analysis.view = &view});
	assert_int_equal(pipeline_set_info(run->pipeline, &info), 0);
	make_mapping(run, 1, MADE_PID, LIB, "/lib/a");
}

static struct jitbpf_sample *make_event(struct made_run *run, uint64_t time_ns, uint16_t event,
					uint64_t ip)
{
	struct jitbpf_sample *sample = make_sample(run, time_ns, ip);

	sample->event = event;
	return sample;
}

static void make_wait(struct made_run *run, uint64_t time_ns, uint16_t event, uint64_t ip,
		      uint64_t weight)
{
	const uint64_t words[] = {ip, weight};
	struct jitbpf_sample *sample = make_sample_of(run, time_ns, MADE_PID, MADE_START, words, 2);

	sample->event = event;
	sample->user_words = 1;
	sample->h.flags = JITBPF_SAMPLE_WEIGHT;
}

static void make_lost(struct made_run *run, uint64_t time_ns, uint16_t event, uint64_t count)
{
	struct jitbpf_lost_samples *lost =
		make_record(run, JITBPF_LOST_SAMPLES, sizeof(*lost), time_ns);

	lost->pid = MADE_PID;
	lost->start_ns = MADE_START;
	lost->event = event;
	lost->count = count;
}

static void make_taken(struct made_run *run, uint64_t time_ns, uint64_t faults, uint64_t waits)
{
	struct jitbpf_event_counts *counts =
		make_record(run, JITBPF_EVENT_COUNTS, sizeof(*counts), time_ns);

	counts->taken[FAULTS] = faults;
	counts->taken[WAITS] = waits;
}

/* Sums over a view's profile, thread counts and slices are equal. Returns that sum. */
static uint64_t sum_of(const struct view *view)
{
	uint64_t nodes = 0, counts = 0;

	vec_for_each (node, &view->profile->nodes)
		nodes += node->self;
	vec_for_each (count, &view->threads->counts)
		counts += count->samples;
	assert_int_equal(nodes, counts);
	return nodes;
}

/* The fates of a view add up to those of its rows, and to what the kernel has counted. */
static void assert_fates(const struct ledger *ledger)
{
	uint64_t fate[FATE_COUNT] = {0};

	vec_for_each (row, &ledger->processes) {
		for (int i = 0; i < FATE_COUNT; i++)
			fate[i] += row->samples.fate[i];
	}
	for (int i = 0; i < FATE_COUNT; i++)
		assert_int_equal(fate[i], ledger->samples.fate[i]);
	assert_int_equal(ledger_taken(ledger), ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN]);
}

/* 3 samples of CPU time, 5 of faults and 2 of waits, on the same two stacks. */
static void make_samples(struct made_run *run)
{
	for (uint64_t i = 0; i < 3; i++)
		make_event(run, 10 + i, 0, LIB + 8);
	for (uint64_t i = 0; i < 4; i++)
		make_event(run, 20 + i, FAULTS, LIB + 8);
	make_event(run, 30, FAULTS, 0x10); /* unknown code */
	make_wait(run, 40, WAITS, LIB + 8, 1000);
	make_wait(run, 41, WAITS, LIB + 8, 234);
	make_lost(run, 50, 0, 4);
	make_lost(run, 50, FAULTS, 2);
	make_counters(run, 50, 7);
	make_taken(run, 50, 7, 2);
}

static void assert_cpu_time(const struct view *view)
{
	assert_int_equal(sum_of(view), 3);
	assert_int_equal(view->ledger->samples.fate[FATE_RESOLVED], 3);
	assert_int_equal(view->ledger->samples.fate[FATE_LOST], 4);
	assert_fates(view->ledger);
}

CASE(test_each_event_has_its_counts)
{
	struct made_run run;
	const struct view *view;

	begin(&run, "page-faults");
	make_samples(&run);
	made_finish(&run, 100);
	assert_cpu_time(pipeline_view(run.pipeline));
	view = pipeline_shown_view(run.pipeline);
	assert_int_equal(view->event, FAULTS);
	assert_string_equal(view->info->event, "page-faults");
	assert_string_equal(view->info->unit, "faults");
	assert_int_equal(view->info->period, 50);
	assert_int_equal(view->info->freq_hz, 0);
	assert_int_equal(sum_of(view), 5);
	assert_int_equal(view->ledger->samples.fate[FATE_RESOLVED], 4);
	assert_int_equal(view->ledger->samples.fate[FATE_CODE_UNKNOWN], 1);
	assert_int_equal(view->ledger->samples.fate[FATE_LOST], 2);
	assert_fates(view->ledger);
	/* The sink has the samples of that event only. */
	assert_int_equal(run.seen_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_in_range(run.seen[i].time_ns, 20, 30);
	assert_int_equal(view->ledger->malformed_records, 0);
	made_run_end(&run);
}

CASE(test_totals)
{
	struct made_run run;
	const struct view *view;

	begin(&run, NULL);
	make_samples(&run);
	made_finish(&run, 100);
	view = pipeline_shown_view(run.pipeline);
	assert_cpu_time(view);
	assert_ptr_equal(view, pipeline_view(run.pipeline));
	assert_int_equal(run.seen_count, 3);
	assert_int_equal(view->event_count, 3);
	assert_string_equal(view->events[0].name, "cpu-time");
	assert_int_equal(view->events[0].samples, 7);
	assert_int_equal(view->events[0].weight, 7 * 10000000);
	assert_int_equal(view->events[FAULTS].samples, 7);
	assert_int_equal(view->events[FAULTS].lost, 2);
	assert_int_equal(view->events[FAULTS].counted, 7);
	assert_int_equal(view->events[FAULTS].weight, 7 * 50);
	assert_int_equal(view->events[WAITS].samples, 2);
	assert_int_equal(view->events[WAITS].weight, 1234);
	made_run_end(&run);
}

/* The weights are in all sums of that event, and in no other. */
CASE(test_weights)
{
	struct made_run run;
	const struct view *view;

	begin(&run, "waits");
	make_samples(&run);
	made_finish(&run, 100);
	view = pipeline_shown_view(run.pipeline);
	assert_int_equal(sum_of(view), 1234);
	assert_int_equal(ledger_taken(view->ledger), 2);
	assert_fates(view->ledger);
	made_run_end(&run);
}

/* Refused and counted: unknown events, weights where there is a period, and the other way round. */
CASE(test_refused)
{
	struct made_run run;
	const struct ledger *ledger;

	begin(&run, NULL);
	make_event(&run, 10, 0, LIB + 8);
	make_event(&run, 11, 3, LIB + 8);
	make_event(&run, 12, JITBPF_EVENTS_MAX - 1, LIB + 8);
	make_event(&run, 13, JITBPF_EVENTS_MAX, LIB + 8);
	make_event(&run, 14, UINT16_MAX, LIB + 8);
	make_wait(&run, 15, 0, LIB + 8, 5);
	make_wait(&run, 16, FAULTS, LIB + 8, 5);
	make_event(&run, 17, WAITS, LIB + 8);
	make_lost(&run, 18, 3, 1);
	make_lost(&run, 18, UINT16_MAX, 1);
	make_counters(&run, 50, 1);
	ledger = made_finish(&run, 100);
	assert_int_equal(ledger->malformed_records, 9);
	assert_int_equal(ledger->samples.fate[FATE_RESOLVED], 1);
	assert_int_equal(run.seen_count, 1);
	assert_fates(ledger);
	made_run_end(&run);
}

CASE(test_weights_that_overflow)
{
	struct made_run run;
	const struct view *view;

	begin(&run, "waits");
	make_wait(&run, 10, WAITS, LIB + 8, UINT64_MAX - 5);
	make_wait(&run, 11, WAITS, LIB + 8, 6); /* refused */
	make_wait(&run, 12, WAITS, LIB + 8, 5);
	make_wait(&run, 13, WAITS, 0x10, 1); /* refused */
	made_finish(&run, 100);
	view = pipeline_shown_view(run.pipeline);
	assert_true(sum_of(view) == UINT64_MAX);
	assert_true(view->events[WAITS].weight == UINT64_MAX);
	assert_int_equal(ledger_taken(view->ledger), 2);
	assert_int_equal(view->ledger->malformed_records, 2);
	made_run_end(&run);
}

/* --- recordings ----------------------------------------------------------------------- */

/* Record a run; a replay shows the same. The caller frees *ret_bytes. */
static void record(const struct run_info *about, char **ret_bytes, size_t *ret_size)
{
	struct made_run run;
	struct recorder *recorder;
	FILE *out = open_memstream(ret_bytes, ret_size);

	begin(&run, NULL);
	make_samples(&run);
	assert_int_equal(recorder_create(out, about, &recorder), 0);
	run.state = SOURCE_END;
	run.round_ns = 100;
	assert_int_equal(pipeline_round(run.pipeline, &run.source, recorder), SOURCE_END);
	assert_int_equal(pipeline_finish(run.pipeline), 0);
	assert_int_equal(recorder_finish(recorder, pipeline_view(run.pipeline),
					 pipeline_modules(run.pipeline)),
			 0);
	recorder_destroy(recorder);
	fclose(out);
	made_run_end(&run);
}

CASE(test_replay)
{
	const struct view_options option = {.event = "page-faults"};
	struct pipeline *pipeline;
	const struct view *view;
	char *bytes;
	size_t size;

	record(&info, &bytes, &size);
	assert_int_equal(
		pipeline_create(&(struct pipeline_options){.analysis.view = &option}, &pipeline),
		0);
	made_replay(pipeline, bytes, size);
	assert_true(pipeline_has_event(pipeline, "page-faults"));
	assert_true(pipeline_has_event(pipeline, "cpu-time"));
	assert_true(pipeline_has_event(pipeline, "cpu-clock"));
	assert_false(pipeline_has_event(pipeline, "context-switches"));
	assert_cpu_time(pipeline_view(pipeline));
	view = pipeline_shown_view(pipeline);
	assert_int_equal(sum_of(view), 5);
	assert_int_equal(ledger_taken(view->ledger), 7);
	assert_fates(view->ledger);
	assert_int_equal(view->events[WAITS].weight, 1234);
	pipeline_destroy(pipeline);
	free(bytes);
}

/* The recording does not describe its events, so their samples are refused. */
CASE(test_replay_without_events)
{
	struct run_info one = info;
	struct pipeline *pipeline;
	char *bytes;
	size_t size;

	one.more_events = 0;
	record(&one, &bytes, &size);
	assert_int_equal(pipeline_create(&(struct pipeline_options){0}, &pipeline), 0);
	made_replay(pipeline, bytes, size);
	assert_cpu_time(pipeline_view(pipeline));
	assert_int_equal(pipeline_view(pipeline)->ledger->malformed_records, 5 + 2 + 1);
	pipeline_destroy(pipeline);
	free(bytes);
}

/* An INFO chunk with `count` events behind its texts. */
static void take_info(struct made_run *run, uint32_t count, const char *period)
{
	size_t size_bytes = sizeof(struct jitbpf_info_chunk) + 4 + count * 8ul;
	struct jitbpf_info_chunk *chunk = make_record(run, JITBPF_CHUNK_INFO, size_bytes, 1);

	for (uint32_t i = 0; i < count; i++) {
		char *at = chunk->text + 4 + i * 8ul;

		at[0] = (char)('a' + i % 26); /* "a", "s", and up to 3 digits */
		at[2] = 's';
		memcpy(at + 4, period, strlen(period));
		memset(at + 4 + strlen(period), 0, 4 - strlen(period));
	}
	assert_int_equal(pipeline_set_info(run->pipeline, &info), 0);
	run->source.finished = true;
}

static uint64_t malformed_of_info(uint32_t count, const char *period, uint32_t *ret_events)
{
	struct made_run run;
	uint64_t malformed;

	made_run_begin(&run, &(struct pipeline_options){0});
	run.source.finished = true;
	take_info(&run, count, period);
	malformed = made_finish(&run, 100)->malformed_records;
	*ret_events = pipeline_view(run.pipeline)->info->more_events;
	made_run_end(&run);
	return malformed;
}

CASE(test_events_of_a_hostile_recording)
{
	uint32_t events;

	assert_int_equal(malformed_of_info(JITBPF_EVENTS_MAX - 1, "100", &events), 0);
	assert_int_equal(events, JITBPF_EVENTS_MAX - 1);
	assert_int_equal(malformed_of_info(JITBPF_EVENTS_MAX, "100", &events), 1);
	assert_int_equal(events, JITBPF_EVENTS_MAX - 1);
	assert_int_equal(malformed_of_info(65536, "100", &events), 1);
	assert_int_equal(events, JITBPF_EVENTS_MAX - 1);
	assert_int_equal(malformed_of_info(1, "-1x", &events), 1);
	assert_int_equal(events, 0);
}
