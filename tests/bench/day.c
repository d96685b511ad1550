/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * day [SECONDS]: a run of that length (default: a day) with 99 samples a second on each of two
 * CPUs, as fast as it can be written. Writes the deltas of each second with their sizes to standard
 * output, as a live page gets them, and for each hour a line to standard error: hour, resident
 * memory in KB, CPU time of a delta in ms, bytes of a delta, slices of time.
 */
#include <endian.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/ledger.h"
#include "sink/live/live_sink.h"
#include "tests/bench/bench.h"

#define HOUR	3600u
#define RATE	(2u * 99u) /* samples of a second */
#define STACKS	4000u
#define DEPTH	16u
#define THREADS 40u
#define SECOND	1000000000ull

#define LARGE_PIECE_BYTES (256 << 10) /* as in `record` */

static struct run_info info = {
	.event = "cpu-clock", .command = "day", .host = "", .kernel = "", .freq_hz = 99, .cpus = 2};
static struct location_table locations;
static struct profile profile;
static struct thread_counts threads;
static struct time_slices slices;
static struct ledger ledger;
static struct view view = {.info = &info,
			   .locations = &locations,
			   .profile = &profile,
			   .threads = &threads,
			   .slices = &slices,
			   .ledger = &ledger,
			   .round = 1};
static uint32_t nodes[STACKS];
static uint64_t bytes;

static bool publish(void *context, struct shared_bytes *delta, bool snapshot)
{
	uint32_t size = htole32((uint32_t)delta->size_bytes);

	if (fwrite(&size, sizeof(size), 1, stdout) != 1 ||
	    fwrite(delta->data, delta->size_bytes, 1, stdout) != 1)
		exit(0); /* the reader has ended */
	bytes += delta->size_bytes;
	shared_bytes_put(delta);
	return false;
}

static uint32_t make_location(uint32_t number)
{
	struct location location = {.kind = LOCATION_JIT, .owner = number, .offset = number};
	struct frame frame = {.kind = FRAME_KIND_JIT, .line = number % 1000};
	struct string_pool *strings = (struct string_pool *)view.strings;
	char name[64];
	int size = snprintf(name, sizeof(name), "Some.Package.Class%u.method", number);
	uint32_t ret;

	require(!string_pool_add(strings, name, (size_t)size, &frame.name));
	require(!location_table_add(&locations, &location, &ret));
	if (!frame_table_is_named(view.frames, ret))
		require(!frame_table_set((struct frame_table *)view.frames, ret, &frame, 1));
	return ret;
}

static void make_stacks(void)
{
	uint32_t stack[DEPTH];

	require(!ledger_add(&ledger, &(struct ledger_process){.pid = 1}, view.round));
	for (uint32_t i = 0; i < STACKS; i++) {
		for (uint32_t level = 0; level < DEPTH; level++)
			stack[level] = make_location(random_below(level < 4 ? 2000 : 4));
		require(!profile_node_of(&profile, 0, 0, stack, DEPTH, &nodes[i]));
	}
}

/* Few stacks have most samples. */
static void take_sample(struct sink *sink, uint64_t since_ns)
{
	uint32_t stack = random_below(1 + random_below(1 + random_below(STACKS))), thread, count;
	struct sampled_thread of = {.pid = 1, .tid = 1 + stack % THREADS};
	struct sink_sample sample = {.node = nodes[stack]};

	ledger.processes.data[0].samples.fate[FATE_RESOLVED]++;
	ledger.samples.fate[FATE_RESOLVED]++;
	profile_count(&profile, sample.node, 1);
	require(!thread_counts_thread(&threads, &of, &thread));
	require(!thread_counts_add(&threads, sample.node, thread, 1, &count));
	require(!time_slices_add(&slices, since_ns, count, 1));
	sample.count = count;
	require(!sink_live.sample(sink, &view, &sample));
}

static double show(struct sink *sink, uint64_t time_ns)
{
	double began = now_ms();
	int again;

	ledger_touch(&ledger, &ledger.processes.data[0], view.round);
	do {
		again = sink_live.round(sink, &view, time_ns);
		require(again >= 0);
		view.round++;
	} while (again);
	return now_ms() - began;
}

int main(int argc, char **argv)
{
	uint32_t seconds = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 24 * HOUR;
	struct frame_table *frames;
	struct string_pool *strings;
	double took = 0;
	struct sink *sink;
	uint32_t end = 0;

	mallopt(M_MMAP_THRESHOLD, LARGE_PIECE_BYTES);
	require(!string_pool_create(&strings) && !frame_table_create(strings, &frames));
	view.strings = strings;
	view.frames = frames;
	require(!live_sink_create(publish, NULL, DELTA_BYTES, &sink));
	make_stacks();
	for (uint32_t second = 0; second < seconds; second++) {
		for (uint32_t i = 0; i < RATE; i++)
			take_sample(sink, second * SECOND + i * (SECOND / RATE));
		info.duration_ns = (second + 1) * SECOND;
		took += show(sink, info.duration_ns);
		if ((second + 1) % HOUR)
			continue;
		fprintf(stderr, "%u %lu %.3f %.0f %zu\n", (second + 1) / HOUR, resident_kb(),
			took / HOUR, (double)bytes / HOUR, slices.slices.size);
		took = 0;
		bytes = 0;
	}
	fwrite(&end, sizeof(end), 1, stdout);
	sink_live.destroy(sink);
	frame_table_destroy(frames);
	string_pool_destroy(strings);
	location_table_deinit(&locations);
	profile_deinit(&profile);
	thread_counts_deinit(&threads);
	time_slices_deinit(&slices);
	ledger_deinit(&ledger);
	return 0;
}
