/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * live_day RECORDING OUTPUT SPEED: a recording again and again, as one long run at SPEED times its
 * speed, through the pipeline, a recorder that writes OUTPUT, and the live page with its server.
 * The first time, all its records come, but for ends of processes; later, only its samples.
 *
 * Each line of standard input is a second of the run to go on to; the answer is a line: resident
 * memory in KB, CPU time in ms so far, samples so far, bytes of OUTPUT, slices of time. At the end
 * of the input, the run ends, and the last line has the samples of the ledger.
 */
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/server/live_server.h"
#include "base/vec.h"
#include "cli/options/memory_option.h"
#include "cli/replay.h"
#include "decode/recording/recording_reader.h"
#include "pipeline/record/recorder.h"
#include "profile/ledger.h"
#include "run/page/live_page.h"
#include "tests/bench/bench.h"

#define SECOND		  1000000000ull
#define LARGE_PIECE_BYTES (256 << 10) /* as in `record` */
#define GAP_NS		  50000000ull /* between two times */
#define IDLE_MS		  10
#define PAGE_EVERY	  16 /* rounds: at this speed, one is shorter than a look at the server */

/* The recording, kept in memory, and where its run is. */
static struct {
	VEC(uint64_t) words;
	VEC(size_t) starts; /* of records, in words */
	size_t next;
	uint32_t turn;
	uint64_t first_ns, length_ns;
	struct pipeline *pipeline;
	FILE *out;
	struct recorder *recorder; /* NULL before INFO, the first record */
	uint64_t time_ns, samples;
} run;

static struct jitbpf_record *record_at(size_t number)
{
	return (struct jitbpf_record *)&run.words.data[run.starts.data[number]];
}

static void keep(const struct jitbpf_record *record)
{
	size_t words = (record->size_bytes + 7) / 8, at = run.words.size;

	require(!vec_push(&run.starts, at));
	require(!vec_reserve(&run.words, at + words));
	memcpy(&run.words.data[at], record, record->size_bytes);
	run.words.size += words;
}

static void read_recording(const struct blob *blob)
{
	struct recording_error error;
	struct recording_reader *reader;
	const struct jitbpf_record *record;
	uint64_t last_ns = 0;

	require(!recording_reader_open(blob, &reader, &error));
	while (recording_reader_next(reader, &record, &error) > 0) {
		if (record->type == JITBPF_EXIT)
			continue;
		keep(record);
		if (record->type != JITBPF_CHUNK_ROUND)
			continue;
		run.first_ns = run.first_ns ?: record->time_ns;
		last_ns = record->time_ns;
	}
	recording_reader_close(reader);
	require(last_ns > run.first_ns);
	run.time_ns = run.first_ns;
	run.length_ns = last_ns - run.first_ns + GAP_NS;
}

/* Deliver up to the end of a round. */
static int drain(void *context, record_taker_fn take, void *take_context, uint64_t *ret_time_ns)
{
	for (;; run.next++) {
		struct jitbpf_record *record;
		uint64_t time_ns;

		if (run.next == run.starts.size) {
			run.next = 0;
			run.turn++;
		}
		record = record_at(run.next);
		time_ns = record->time_ns;
		if (record->type == JITBPF_CHUNK_ROUND) {
			run.next++;
			*ret_time_ns = run.time_ns = time_ns + run.turn * run.length_ns;
			require(!recorder_end_round(run.recorder, run.time_ns));
			return SOURCE_ROUND;
		}
		if (run.turn && record->type != JITBPF_SAMPLE)
			continue;
		run.samples += record->type == JITBPF_SAMPLE;
		record->time_ns += run.turn * run.length_ns;
		require(!take(take_context, record));
		if (record->type < JITBPF_CHUNK_INFO)
			require(!recorder_write(run.recorder, record));
		else if (record->type == JITBPF_CHUNK_INFO)
			require(!recorder_create(run.out, pipeline_view(run.pipeline)->info,
						 &run.recorder));
		record->time_ns = time_ns;
	}
}

static double cpu_ms(void)
{
	return (double)clock_read_ns(CLOCK_PROCESS_CPUTIME_ID) / 1e6;
}

static const struct written_recording no_recording = {.fd = -1}; /* for browsers to save */

/* Go on to a time of the run, not faster than it may be. */
static void go_on(struct live_page *page, const struct source *source, uint64_t until_ns,
		  uint32_t speed)
{
	uint64_t begin_ns = clock_now_ns(), from_ns = run.time_ns;

	for (uint32_t round = 0; run.time_ns < until_ns; round++) {
		uint64_t due_ns, now_ns;

		require(pipeline_round(run.pipeline, source, NULL) == SOURCE_ROUND);
		if (round % PAGE_EVERY == 0)
			live_page_round(page, &no_recording);
		due_ns = begin_ns + (run.time_ns - from_ns) / speed;
		now_ns = clock_now_ns();
		if (due_ns > now_ns + SECOND / 1000)
			usleep((useconds_t)((due_ns - now_ns) / 1000));
	}
	live_page_round(page, &no_recording);
}

/* Returns false at the end of the input. Until there is a line, the page gets what it requests. */
static bool next_line(struct live_page *page, char *ret, int size)
{
	struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};

	while (!poll(&input, 1, IDLE_MS))
		live_page_round(page, &no_recording);
	return fgets(ret, size, stdin);
}

static void run_all(struct live_page *page, const struct source *source, uint32_t speed)
{
	const struct view *view = pipeline_view(run.pipeline);
	char line[64];

	while (next_line(page, line, sizeof(line))) {
		uint64_t until_ns = run.first_ns + strtoull(line, NULL, 10) * SECOND;

		go_on(page, source, until_ns, speed);
		printf("%lu %.0f %llu %llu %zu\n", resident_kb(), cpu_ms(),
		       (unsigned long long)run.samples,
		       (unsigned long long)recorder_bytes(run.recorder), view->slices->slices.size);
		fflush(stdout);
	}
	require(!pipeline_finish(run.pipeline));
	live_page_end(page, false);
	require(!recorder_finish(run.recorder, view, pipeline_modules(run.pipeline)));
	printf("%llu\n", (unsigned long long)ledger_taken(view->ledger));
}

int main(int argc, char **argv)
{
	static const role_fn roles[ROLE_COUNT] = {[ROLE_SERVER] = live_server_run};
	const struct code_line_rules no_rules = {0};
	const struct view_options view = {0};
	const struct source source = {.drain = drain, .finished = true};
	struct replay replay;
	struct live_page *page;
	struct broker broker;

	require(argc == 4);
	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
	setvbuf(stdin, NULL, _IONBF, 0);
	require(!live_server_load() && !broker_start(roles, &broker));
	require(!live_page_listen(0, &page));
	require(!replay_open(&replay, argv[1], NULL, &view, &no_rules, false, NULL, 256u << 20));
	read_recording(&replay.blob);
	run.pipeline = replay.pipeline;
	run.out = fopen(argv[2], "we");
	require(run.out);
	require(!live_page_start(page, &(struct live_page_run){.broker = &broker,
							       .pipeline = run.pipeline,
							       .view = &view}));
	run_all(page, &source, (uint32_t)strtoul(argv[3], NULL, 10));
	recorder_destroy(run.recorder);
	fclose(run.out);
	replay_close(&replay);
	live_page_destroy(page);
	broker_stop(&broker);
	vec_deinit(&run.words);
	vec_deinit(&run.starts);
	return 0;
}
