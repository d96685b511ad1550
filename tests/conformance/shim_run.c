/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/shim_run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/clock.h"
#include "tests/conformance/payload.h"
#include "tests/conformance/random_events.h"
#include "tests/conformance/shim_source.h"
#include "tests/conformance/shim_truth.h"

#define CODE_BYTES     0x1000
#define EVENTS	       160
#define QUERIES	       3 /* after each event */
#define EVENTS_A_ROUND 12
#define EVENTS_BETWEEN 3 /* limit of events during a drain */

struct run {
	const struct shim *shim;
	const struct shim_run_options *options;
	struct random_events *events;
	struct payload_sender sender;
	struct shim_source source;
	struct shim_truth truth;
	size_t sent, came_at; /* numbers of events: sent, and sent before the attach */
	bool sampling;
};

/* Load the shim with a journal of the size that is wanted. */
static void open_bounded(struct shim *shim, uint64_t journal_bytes)
{
	struct rlimit limit, smaller;

	if (!journal_bytes)
		setenv("JITBPF_JOURNAL_MB", "0", 1);
	getrlimit(RLIMIT_FSIZE, &limit);
	smaller = limit;
	smaller.rlim_cur = journal_bytes ?: limit.rlim_cur;
	setrlimit(RLIMIT_FSIZE, &smaller);
	shim_open(shim);
	setrlimit(RLIMIT_FSIZE, &limit);
	shim_listen(shim);
}

/* Returns a time that is used once. */
static uint64_t moment_ns(void)
{
	uint64_t before = clock_now_ns(), now;

	while ((now = clock_now_ns()) == before)
		;
	return now;
}

static int sample(struct run *run)
{
	struct shim_query query = {.event = run->sent, .time_ns = moment_ns()};
	uint64_t words[SHIM_PLACES];

	for (size_t i = 0; i < SHIM_PLACES; i++) {
		uint64_t unit = 1 + dice_roll(&run->events->dice, MODEL_UNITS);

		query.known[i] = random_events_text(run->events, unit, query.text[i]);
		random_events_names(run->events, unit, query.names[i]);
		/* The first address is a pc, the others are return addresses. */
		words[i] = run->sender.base + RANDOM_EVENTS_BASE + unit + (i > 0);
	}
	moment_ns();
	return shim_truth_add(&run->truth, &query)
		       ?: shim_source_sample(&run->source, query.time_ns, words, SHIM_PLACES);
}

static int send_events(void *context, size_t count)
{
	struct run *run = context;
	int err = 0;

	for (; count-- && run->sent < EVENTS && !err; run->sent++) {
		payload_send(&run->sender, random_events_next(run->events));
		for (int i = 0; run->sampling && i < QUERIES && !err; i++)
			err = sample(run);
	}
	return err;
}

static int send_meanwhile(void *context)
{
	struct run *run = context;

	return send_events(run, dice_roll(&run->events->dice, EVENTS_BETWEEN + 1));
}

/* Attach the profiler, while the engine sends events. */
static int come(struct run *run)
{
	int err = send_events(run, run->came_at);

	shim_source_come(&run->source, moment_ns(), run->sent > 0);
	if (run->options->path == SHIM_LATE && !run->options->reads_at_once)
		err = err ?: send_meanwhile(run);
	*run->shim->site.semaphore = 1;
	run->sampling = true;
	return err;
}

static int run_all(struct run *run)
{
	int state = SOURCE_ROUND, err = come(run);

	while (!err && run->options->reads_at_once && !run->source.ready) {
		state = shim_source_round(&run->source);
		err = state < 0 ? state : 0;
	}
	while (!err && (run->sent < EVENTS || state != SOURCE_END)) {
		err = send_events(run, dice_roll(&run->events->dice, EVENTS_A_ROUND));
		run->source.stopped = run->sent == EVENTS;
		state = err ?: shim_source_round(&run->source);
		err = state < 0 ? state : 0;
	}
	return err;
}

static int prepare(struct run *run)
{
	struct jit_client client = {
		.notify = (void *)run->shim->notify,
		.initialize = run->shim->initialize,
	};
	jit_second_fn second = jit_client_second(&client);
	void *code = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | PROT_EXEC,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int err = second && code != MAP_FAILED ? 0 : -ENOENT;

	*run->shim->site.semaphore = 0;
	if (run->options->path == SHIM_LATE)
		run->came_at = 1 + dice_roll(&run->events->dice, EVENTS / 2);
	err = err ?: payload_sender_init(&run->sender, &client, second, (uintptr_t)code);
	return err
		       ?: shim_source_init(&run->source,
					   &(struct shim_source_options){
						   .dice = {run->options->seed},
						   .loses = run->options->path == SHIM_LOSSY,
						   .truth = &run->truth,
						   .meanwhile = send_meanwhile,
						   .meanwhile_context = run,
					   });
}

int shim_run(const struct shim_run_options *options, struct shim_run_counts *ret)
{
	struct shim shim;
	struct run run = {
		.shim = &shim,
		.options = options,
		.events = random_events_create(options->seed),
	};
	int err = run.events ? 0 : -ENOMEM;

	open_bounded(&shim, options->journal_bytes);
	err = err ?: prepare(&run);
	err = err ?: run_all(&run);
	err = err ?: shim_source_finish(&run.source, ret);
	if (!err && run.truth.wrong)
		err = -EPROTO;
	if (err)
		fprintf(stderr,
			"path %d, seed %llu, journal %llu (%llu compactions, %llu left out): %s\n",
			options->path, (unsigned long long)options->seed,
			(unsigned long long)options->journal_bytes,
			(unsigned long long)ret->compactions, (unsigned long long)ret->left_out,
			run.truth.wrong ? run.truth.says : strerror(-err));
	ret->right = run.truth.right;
	ret->named = run.truth.named;
	ret->unknown = run.truth.unknown;
	ret->partial = run.truth.partial;
	shim_truth_deinit(&run.truth);
	shim_source_deinit(&run.source);
	payload_sender_deinit(&run.sender);
	random_events_destroy(run.events);
	return err ? -1 : 0;
}
