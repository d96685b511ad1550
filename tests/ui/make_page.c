/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Writes an output of a synthetic profile, for viewing and for tests in a
 * browser: make_page FORMAT NODES [cgroups] >file. The same arguments give the
 * same bytes. `deltas` writes what a live page gets: the profile, and then ten times the
 * samples of a busy second.
 */
#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/shared_bytes.h"
#include "sink/diff/frame_diff.h"
#include "sink/live/live_sink.h"
#include "tests/unit/sink/made_ledger.h"

struct random {
	uint64_t state;
};

static uint32_t random_below(struct random *random, uint32_t limit)
{
	random->state = random->state * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(random->state >> 33) % limit;
}

enum { METHODS = 9000, NATIVES = 400, KERNELS = 200 };

struct places {
	uint32_t methods[METHODS], natives[NATIVES], kernels[KERNELS];
	uint32_t anon, unknown;
};

static void make_method(struct made_view *m, struct random *random, uint32_t i, uint32_t *ret)
{
	static const char *const classes[] = {
		"Parser", "OrderBook", "Renderer$Tile", "HashMap", "io.netty.channel.Pipeline",
		"Vector3"};
	static const char *const verbs[] = {"parse", "match", "draw", "get", "fireRead", "dot"};
	struct frame frames[4];
	uint32_t count = 1 + (random_below(random, 3) == 0) * (1 + random_below(random, 3));
	char name[96];

	*ret = made_location(m, LOCATION_JIT, i, 16);
	for (uint32_t k = 0; k < count; k++) {
		uint32_t id = k + 1 == count ? i : random_below(random, METHODS);

		snprintf(name, sizeof(name), "%s.%s%u", classes[id % 6], verbs[id / 6 % 6], id);
		frames[k] = made_frame(m, FRAME_KIND_JIT, name, i % 3 ? "" : "engine.so");
		frames[k].flags = k + 1 < count ? FRAME_INLINED : 0;
		frames[k].file = made_string(m, "src/app/Main.java");
		frames[k].line = 1 + random_below(random, 90000);
	}
	assert_int_equal(frame_table_set(m->frames, *ret, frames, count), 0);
}

static void make_places(struct made_view *m, struct random *random, struct places *places)
{
	static const char *const calls[] = {"read", "write", "futex_wait", "page_fault",
					    "tcp_sendmsg"};
	char name[64];

	for (uint32_t i = 0; i < METHODS; i++)
		make_method(m, random, i, &places->methods[i]);
	for (uint32_t i = 0; i < NATIVES; i++) {
		snprintf(name, sizeof(name), i ? "std::__1::function_%u<int, char>(void*)" : "main",
			 i);
		places->natives[i] =
			made_named(m, LOCATION_NATIVE, i, i % 9 == 8 ? "" : name,
				   i % 2 ? "/usr/lib/libc.so.6" : "/opt/engine/bin/engine");
	}
	for (uint32_t i = 0; i < KERNELS; i++) {
		snprintf(name, sizeof(name), "%s_%u", calls[i % 5], i);
		places->kernels[i] = made_named(m, LOCATION_KERNEL, i, name, "[kernel.kallsyms]");
	}
	places->anon = made_location(m, LOCATION_ANON, 0, 1);
	places->unknown = made_location(m, LOCATION_UNKNOWN, 0, 2);
}

/* A stack, leaf last. A few frames are common, so most stacks share a trunk. */
static uint32_t make_stack(struct random *random, const struct places *p, uint32_t stack[])
{
	uint32_t count = 0, natives = 2 + random_below(random, 3);
	uint32_t methods = random_below(random, 28), kernels = random_below(random, 3) ? 0 : 6;

	for (uint32_t i = 0; i < natives; i++)
		stack[count++] = p->natives[i + random_below(random, 1 + i / 2)];
	for (uint32_t i = 0, at = 0; i < methods; i++) {
		at = (at * 7 + 1 + random_below(random, i < 6 ? 2 : 5)) % METHODS;
		stack[count++] = p->methods[at];
	}
	if (!random_below(random, 12))
		stack[count++] = random_below(random, 2) ? p->anon : p->unknown;
	for (uint32_t i = 0, at = 0; i < kernels; i++) {
		at = (at * 3 + 1 + random_below(random, 2)) % KERNELS;
		stack[count++] = p->kernels[at];
	}
	return count;
}

static void make_samples(struct made_view *m, struct random *random, const struct places *places,
			 size_t nodes)
{
	static const char *const comms[] = {"engine", "worker \xe2\x9a\x99", "kswapd0"};
	uint32_t stack[64], leaf_first[64];

	while (m->profile.nodes.size < nodes) {
		uint32_t process = random_below(random, 8) ? 0 : 1 + random_below(random, 2);
		uint32_t count = make_stack(random, places, stack);

		for (uint32_t i = 0; i < count; i++)
			leaf_first[i] = stack[count - 1 - i];
		made_stack(m, process, comms[process], 1 + random_below(random, 9), count,
			   leaf_first);
	}
}

static void make_nasty(struct made_view *m)
{
	static char endless[100001];

	memset(endless, 'x', sizeof(endless) - 1);
	made_stack(m, 9, "nasty <b>names</b>", 60,
		   STACK(made_named(m, LOCATION_NATIVE, 0xffff, endless, "/bin/long")));
	made_process(m, 999, endless, 60, 0, 0, 0);
	for (uint32_t i = 0; i < MADE_NASTY_COUNT; i++) {
		const char *name = made_nasty_names[i];

		made_stack(m, 9, "nasty <b>names</b>", 60,
			   STACK(made_named(m, LOCATION_NATIVE, 0x10000 + i, name, name)));
		made_process(m, 1000 + i, name, 60, 0, 0, 0);
	}
}

/* A ledger that matches the profile. */
static void make_ledger(struct made_view *m)
{
	uint64_t taken = 0;

	vec_for_each (node, &m->profile.nodes)
		taken += node->self;
	made_full_ledger(m);
	taken -= ledger_taken(&m->ledger) - m->ledger.samples.fate[FATE_LOST];
	m->ledger.samples.fate[FATE_RESOLVED] += taken;
	m->ledger.processes.data[m->ledger.processes.size - 2].samples.fate[FATE_RESOLVED] += taken;
}

/* Pass the samples one by one; each process's samples are from three of its threads in turn. */
static int give_samples(struct made_view *m, const struct sink_ops *ops, struct sink *sink)
{
	static const uint64_t no_ips[128];
	const struct profile_node *nodes = m->profile.nodes.data;
	uint64_t given = 0;

	for (uint32_t i = 0; i < m->profile.nodes.size; i++) {
		uint32_t root = i, frames = 0;

		for (; nodes[root].parent != PROFILE_NODE_NONE; root = nodes[root].parent)
			frames++;
		for (uint64_t k = 0; k < nodes[i].self; k++, given++) {
			uint32_t pid = 1000 + 10 * nodes[root].location, tid = pid + given % 3;
			const struct sink_sample sample = {
				.time_ns = m->info.start_ns + given * 12345678,
				.pid = pid,
				.tid = tid,
				.comm = tid == pid ? profile_comm(&m->profile, root)
						   : made_string(m, "helper"),
				.node = i,
				.addresses = no_ips,
				.user_frames = frames,
			};

			made_count(m, &sample);
			if (ops->sample && ops->sample(sink, &m->view, &sample))
				return -ENOMEM;
		}
	}
	return 0;
}

/* Names and locations do not depend on the seed; only the samples do. */
static void make_profile(struct made_view *m, struct places *places, uint64_t seed, size_t nodes)
{
	struct random random = {.state = 42};

	made_init(m);
	m->info.command = "engine --script='</title><img src=x onerror=alert(1)>' \"orders.js\"";
	if (!nodes)
		return;
	make_places(m, &random, places);
	make_nasty(m);
	random.state = seed;
	make_samples(m, &random, places, nodes);
	make_ledger(m);
}

/*
 * Threads are in turn in a container, a unit, another cgroup, the root, a container that no process
 * of the ledger is in, and an unknown cgroup. The second row of threads is the first thread again,
 * which has got another name, and has moved.
 */
static void give_cgroups(struct made_view *m)
{
	static const char *const cgroups[][2] = {
		{"shop <b>db</b>", "docker-1.scope"},
		{"", "cron.service"},
		{"", "/build/7"},
		{"", "/"},
		{"ended", ""},
		{"", ""},
	};

	for (size_t i = 0; i < m->threads.threads.size; i++) {
		struct sampled_thread *thread = &m->threads.threads.data[i];

		thread->container = made_string(m, cgroups[i % ARRAY_SIZE(cgroups)][0]);
		thread->unit = made_string(m, cgroups[i % ARRAY_SIZE(cgroups)][1]);
	}
	m->threads.threads.data[1].tid = m->threads.threads.data[0].tid;
	for (size_t i = 0; i < 2; i++) {
		m->ledger.processes.data[i + 1].container = made_string(m, cgroups[i][0]);
		m->ledger.processes.data[i + 1].unit = made_string(m, cgroups[i][1]);
	}
}

static int write_output(const struct sink_ops *ops, struct places *places, size_t nodes,
			bool cgroups)
{
	struct made_view m;
	struct sink *sink;
	int err;

	make_profile(&m, places, 42, nodes);
	err = ops->create(stdout, &sink);
	if (!err) {
		err = give_samples(&m, ops, sink);
		if (cgroups)
			give_cgroups(&m);
		err = err ?: ops->finish(sink, &m.view);
		ops->destroy(sink);
	}
	made_deinit(&m);
	return err;
}

static int write_difference(struct places *places, size_t nodes)
{
	struct made_view before, after;
	struct frame_diff *diff;
	int err;

	make_profile(&before, places, 42, nodes);
	make_profile(&after, places, 7, nodes + nodes / 2);
	err = frame_diff_create(&before.view, &after.view, false, &diff);
	if (!err) {
		err = frame_diff_write_html(stdout, diff, &before.view, &after.view);
		frame_diff_destroy(diff);
	}
	made_deinit(&before);
	made_deinit(&after);
	return err;
}

enum { SECONDS = 10, SAMPLES_PER_SECOND = 2000 };

static bool write_delta(void *context, struct shared_bytes *delta, bool snapshot)
{
	uint32_t size = htole32((uint32_t)delta->size_bytes);

	fwrite(&size, sizeof(size), 1, stdout);
	fwrite(delta->data, 1, delta->size_bytes, stdout);
	shared_bytes_put(delta);
	return false;
}

static void give_second(struct made_view *m, struct random *random, const struct places *places,
			struct sink *sink)
{
	uint32_t stack[64], leaf_first[64];

	for (int i = 0; i < SAMPLES_PER_SECOND; i++) {
		struct sink_sample sample = {.pid = 1000, .tid = 1000 + random_below(random, 3)};
		uint32_t count = make_stack(random, places, stack), thread;
		struct sampled_thread of = {sample.pid, sample.tid, made_string(m, "engine")};

		for (uint32_t k = 0; k < count; k++)
			leaf_first[k] = stack[count - 1 - k];
		sample.node = made_stack(m, 0, "engine", 1, count, leaf_first);
		assert_int_equal(thread_counts_thread(&m->threads, &of, &thread), 0);
		assert_int_equal(
			thread_counts_add(&m->threads, sample.node, thread, 1, &sample.count), 0);
		assert_int_equal(sink_live.sample(sink, &m->view, &sample), 0);
		m->ledger.samples.fate[FATE_RESOLVED]++;
	}
}

static int write_deltas(struct places *places, size_t nodes)
{
	struct random random = {.state = 4711};
	struct made_view m;
	struct sink *sink;
	uint64_t time_ns = 1;
	int err = live_sink_create(write_delta, NULL, DELTA_BYTES, &sink);

	if (err)
		return err;
	make_profile(&m, places, 42, nodes);
	err = give_samples(&m, &sink_live, sink);
	for (int i = 0; !err && i <= SECONDS; i++) {
		if (i)
			give_second(&m, &random, places, sink);
		while ((err = sink_live.round(sink, &m.view, time_ns++)) > 0)
			m.view.round++;
		m.view.round++;
	}
	sink_live.destroy(sink);
	made_deinit(&m);
	return err;
}

int main(int argc, char **argv)
{
	AUTO_FREE struct places *places = calloc(1, sizeof(*places));
	bool cgroups = argc == 4 && !strcmp(argv[3], "cgroups");
	const char *format = argc == 3 || cgroups ? argv[1] : "";
	const struct sink_ops *ops = sink_by_name(format);
	size_t nodes = argc >= 3 ? strtoul(argv[2], NULL, 10) : 0; /* 0: no samples */
	int err;

	if (ops && places) {
		err = write_output(ops, places, nodes, cgroups);
	} else if (!strcmp(format, "diff") && places) {
		err = write_difference(places, nodes);
	} else if (!strcmp(format, "deltas") && places) {
		err = write_deltas(places, nodes);
	} else {
		fprintf(stderr, "usage: make_page FORMAT|diff|deltas NODES [cgroups]\n");
		return 2;
	}
	return err || fflush(stdout) ? 1 : 0;
}
