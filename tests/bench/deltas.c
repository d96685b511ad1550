/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * deltas [NODES [PROCESSES]]: deltas of a profile that grows to NODES nodes, each round
 * by a fiftieth. Prints one figure a line: what calls of round() take, in ms of CPU time,
 * and bytes.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/ledger.h"
#include "sink/live/delta_reader.h"
#include "sink/live/live_sink.h"
#include "tests/bench/bench.h"

#define ROUNDS	  50
#define DEPTH	  16 /* frames of a stack that are new; its outer ones are shared */
#define UNCHANGED 200

static struct run_info info = {.event = "cpu-clock", .command = "", .host = "", .kernel = ""};
static struct location_table locations;
static struct profile profile;
static struct thread_counts threads;
static struct ledger ledger;
static struct view view = {.info = &info,
			   .locations = &locations,
			   .profile = &profile,
			   .threads = &threads,
			   .ledger = &ledger};

/* What was published by a call. */
static struct {
	VEC(struct shared_bytes *) deltas;
	size_t bytes;
	bool want;
} published;

static bool publish(void *context, struct shared_bytes *delta, bool snapshot)
{
	bool want = published.want;

	published.want = false;
	published.bytes += delta->size_bytes;
	if (snapshot == !!context)
		require(!vec_push(&published.deltas, shared_bytes_get(delta)));
	shared_bytes_put(delta);
	return want;
}

static uint32_t make_location(uint32_t number)
{
	struct location location = {.kind = LOCATION_JIT, .owner = number / 4, .offset = number};
	struct frame frame = {.kind = FRAME_KIND_JIT, .line = number % 1000, .symbol_offset = 8};
	struct string_pool *strings = (struct string_pool *)view.strings;
	char name[64];
	int bytes = snprintf(name, sizeof(name), "Some.Package.Class%u.method", number / 4);
	uint32_t ret;

	require(!string_pool_add(strings, name, (size_t)bytes, &frame.name));
	require(!location_table_add(&locations, &location, &ret));
	if (ret == locations.locations.size - 1 && !frame_table_is_named(view.frames, ret))
		require(!frame_table_set((struct frame_table *)view.frames, ret, &frame, 1));
	return ret;
}

/* Samples of random stacks of 50,000 methods in 1,000 processes, until there are that many nodes.
 */
static void grow(struct sink *sink, size_t nodes, uint32_t processes)
{
	uint32_t stack[DEPTH];

	while (profile.nodes.size < nodes) {
		struct sink_sample sample = {0};
		uint32_t process = random_below(processes), thread, count;
		struct sampled_thread of = {.pid = process, .tid = process + random_below(3)};

		while (ledger.processes.size <= process)
			require(!ledger_add(&ledger, &(struct ledger_process){.pid = 1},
					    view.round));
		ledger.processes.data[process].samples.fate[FATE_RESOLVED]++;
		ledger_touch(&ledger, &ledger.processes.data[process], view.round);
		for (uint32_t i = 0; i < DEPTH; i++)
			stack[i] = make_location(random_below(i < DEPTH / 2 ? 50000 : 8));
		require(!profile_node_of(&profile, process, 0, stack, DEPTH, &sample.node));
		profile_count(&profile, sample.node, 1);
		require(!thread_counts_thread(&threads, &of, &thread));
		require(!thread_counts_add(&threads, sample.node, thread, 1, &count));
		sample.count = count;
		require(!sink_live.sample(sink, &view, &sample));
	}
}

static struct {
	double longest, total;
	uint32_t calls;
} taken;

/* Call round() until all is sent. */
static void show(struct sink *sink, uint64_t time_ns)
{
	int again;

	do {
		double began = now_ms(), took;

		again = sink_live.round(sink, &view, time_ns++);
		took = now_ms() - began;
		require(again >= 0);
		if (took > taken.longest)
			taken.longest = took;
		taken.total += took;
		taken.calls++;
		view.round++;
	} while (again);
}

static void say(const char *what)
{
	printf("%s_longest_ms %.3f\n%s_total_ms %.1f\n%s_calls %u\n%s_bytes %zu\n", what,
	       taken.longest, what, taken.total, what, taken.calls, what, published.bytes);
	memset(&taken, 0, sizeof(taken));
	published.bytes = 0;
}

/* What the reader needs for all that was published. */
static void apply(void)
{
	struct delta_profile read;
	double began = now_ms();

	delta_profile_init(&read, &(struct view_options){0}, 4ull << 30);
	vec_for_each (delta, &published.deltas) {
		require(!delta_profile_apply(&read, (*delta)->data, (*delta)->size_bytes));
		shared_bytes_put(*delta);
	}
	printf("apply_ms %.1f\nread_nodes %zu\nread_bytes %zu\n", now_ms() - began,
	       read.samples.profile.nodes.size, read.used_bytes);
	require(read.complete && read.samples.profile.nodes.size == profile.nodes.size);
	delta_profile_deinit(&read);
}

int main(int argc, char **argv)
{
	size_t nodes = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	uint32_t processes = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1000;
	struct frame_table *frames;
	struct string_pool *strings;
	struct sink *sink;

	require(!string_pool_create(&strings) && !frame_table_create(strings, &frames));
	view.strings = strings;
	view.frames = frames;
	require(!live_sink_create(publish, NULL, DELTA_BYTES, &sink));
	view.round = 1;
	for (uint32_t i = 1; i <= ROUNDS; i++) {
		grow(sink, nodes * i / ROUNDS, processes);
		show(sink, i * 1000000ull);
	}
	printf("nodes %zu\nlocations %zu\n", profile.nodes.size, locations.locations.size);
	say("grow");
	apply();
	published.deltas.size = 0;
	for (uint32_t i = 0; i < UNCHANGED; i++)
		show(sink, (100 + i) * 1000000ull);
	say("unchanged");
	published.want = true;
	show(sink, 1000000000);
	memset(&taken, 0, sizeof(taken));
	published.bytes = 0;
	show(sink, 1001000000);
	say("snapshot");
	vec_for_each (delta, &published.deltas)
		shared_bytes_put(*delta);
	vec_deinit(&published.deltas);
	sink_live.destroy(sink);
	frame_table_destroy(frames);
	string_pool_destroy(strings);
	location_table_deinit(&locations);
	profile_deinit(&profile);
	thread_counts_deinit(&threads);
	ledger_deinit(&ledger);
	return 0;
}
