/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Live views: what they see, and when. */
#include <stdint.h>

#include "pipeline/analysis/analysis_state.h"
#include "pipeline/pipeline_state.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/made_run.h"

#define MS 1000000ull

/* A live view that counts, and checks the views that it is shown. */
struct watcher {
	int subscribed, rounds, samples, destroyed;
	int result;	/* of round() */
	int times;	/* how often it asks for another call */
	uint64_t taken; /* by the ledger of the last view */
	uint64_t last_ns;
	uint32_t epochs[16]; /* of the views of each round */
};

static void watch_subscribed(struct sink *sink)
{
	((struct watcher *)sink)->subscribed++;
}

static int watch_sample(struct sink *sink, const struct view *view,
			const struct sink_sample *sample)
{
	struct watcher *watcher = (struct watcher *)sink;
	const struct thread_count *count = &view->threads->counts.data[sample->count];

	assert_int_equal(count->node, sample->node);
	assert_int_equal(view->threads->threads.data[count->thread].tid, sample->tid);
	watcher->samples++;
	return 0;
}

static int watch_round(struct sink *sink, const struct view *view, uint64_t time_ns)
{
	struct watcher *watcher = (struct watcher *)sink;
	uint64_t self = 0;

	assert_true(watcher->rounds < (int)ARRAY_SIZE(watcher->epochs));
	watcher->epochs[watcher->rounds++] = view->epoch;
	vec_for_each (node, &view->profile->nodes)
		self += node->self;
	watcher->taken = ledger_taken(view->ledger);
	assert_int_equal(self, watcher->taken);
	watcher->last_ns = time_ns;
	if (watcher->times) {
		watcher->times--;
		return 1;
	}
	return watcher->result;
}

static int watch_create(FILE *out, struct sink **ret)
{
	return -EINVAL;
}

static int watch_finish(struct sink *sink, const struct view *view)
{
	return -EINVAL;
}

static void watch_destroy(struct sink *sink)
{
	((struct watcher *)sink)->destroyed++;
}

static const struct sink_ops watching = {
	.name = "watching",
	.extension = ".watching",
	.create = watch_create,
	.sample = watch_sample,
	.subscribed = watch_subscribed,
	.round = watch_round,
	.finish = watch_finish,
	.destroy = watch_destroy,
};

static struct made_run run;

static void begin(struct watcher *watchers, int count)
{
	made_run_begin_bare(&run, &(struct pipeline_options){0});
	for (int i = 0; i < count; i++)
		assert_int_equal(
			pipeline_add_live(run.pipeline, &watching, (struct sink *)&watchers[i]), 0);
}

static void subscribe(struct watcher *watcher, uint64_t period_ns)
{
	assert_int_equal(pipeline_subscribe(run.pipeline, (struct sink *)watcher, period_ns), 0);
}

/* A round every 50 ms, with a sample in each. */
static void rounds(uint64_t from_ms, uint64_t to_ms)
{
	for (uint64_t ms = from_ms; ms <= to_ms; ms += 50) {
		make_sample(&run, ms * MS, 0x1000);
		made_round(&run, ms * MS);
	}
}

CASE(rounds_come_at_the_period_of_a_subscription)
{
	struct watcher watchers[2] = {0}, *w = watchers;

	begin(watchers, 2);
	rounds(50, 200);
	assert_int_equal(w->rounds + w->samples + w->subscribed, 0);
	subscribe(w, 100 * MS);
	assert_int_equal(w->subscribed, 1);
	rounds(250, 450); /* shown at 250, 350, 450 */
	assert_int_equal(w->rounds, 3);
	assert_int_equal(w->samples, 5);
	assert_int_equal(w->taken, 9);
	assert_int_equal(w->last_ns, 450 * MS);
	subscribe(w, 200 * MS); /* another period is not a new beginning */
	assert_int_equal(w->subscribed, 1);
	pipeline_unsubscribe(run.pipeline, (struct sink *)w);
	rounds(500, 700);
	assert_int_equal(w->rounds, 3);
	assert_int_equal(w->samples, 5);
	subscribe(w, 100 * MS);
	assert_int_equal(w->subscribed, 2);
	rounds(750, 750);
	assert_int_equal(w->rounds, 4);
	assert_int_equal(watchers[1].rounds + watchers[1].samples, 0);
	made_run_end(&run);
	assert_int_equal(w->destroyed, 1);
	assert_int_equal(watchers[1].destroyed, 1);
}

CASE(a_view_may_ask_for_the_next_round)
{
	struct watcher w = {.times = 3};

	begin(&w, 1);
	subscribe(&w, 1000 * MS);
	rounds(50, 500); /* at 50, then 100, 150, 200 */
	assert_int_equal(w.rounds, 4);
	assert_int_equal(w.last_ns, 200 * MS);
	made_run_end(&run);
}

/* The end is shown in any case, until no view asks for more. */
CASE(the_end_is_shown)
{
	struct watcher w = {0};

	begin(&w, 1);
	subscribe(&w, 10000 * MS);
	rounds(50, 200);
	assert_int_equal(w.rounds, 1);
	w.times = 2;
	make_sample(&run, 210 * MS, 0x1000);
	made_finish(&run, 220 * MS);
	assert_int_equal(w.rounds, 1 + 3);
	assert_int_equal(w.taken, 5);
	made_run_end(&run);
}

CASE(a_view_that_fails_ends_alone)
{
	struct watcher watchers[2] = {{.result = -ENOMEM}};

	begin(watchers, 2);
	subscribe(&watchers[0], 50 * MS);
	subscribe(&watchers[1], 50 * MS);
	rounds(50, 200);
	assert_int_equal(watchers[0].rounds, 1);
	assert_int_equal(watchers[0].destroyed, 1);
	assert_int_equal(watchers[1].rounds, 4);
	assert_int_equal(pipeline_subscribe(run.pipeline, (struct sink *)watchers, MS), -ENOENT);
	made_run_end(&run);
	assert_int_equal(watchers[0].destroyed, 1);
}

/* A closing epoch is shown before the current one, with the samples that still came to it. */
CASE(views_of_all_open_epochs_are_shown)
{
	const struct run_info info = {
		.start_ns = 100 * MS, .event = "", .command = "", .host = "", .kernel = ""};
	struct watcher w = {0};

	begin(&w, 1);
	subscribe(&w, 50 * MS);
	rounds(50, 100);
	assert_int_equal(analysis_begin_epoch(run.pipeline->analysis, &info), 0);
	make_sample(&run, 90 * MS, 0x1000); /* deferred */
	rounds(150, 200);
	assert_int_equal(w.samples, 5);
	assert_int_equal(w.rounds, 6);
	for (int i = 0; i < 6; i++)
		assert_int_equal(w.epochs[i], i == 3 || i == 5);
	assert_int_equal(w.taken, 2);
	made_run_end(&run);
}

/* A process that renames itself for ever takes no memory for ever, and has its latest name. */
CASE(names_are_bounded)
{
	struct analysis *a;
	uint64_t time_ns = 10 * 1000 * MS;
	char name[16] = "";

	made_run_begin(&run, &(struct pipeline_options){0});
	a = run.pipeline->analysis;
	make_sample(&run, time_ns, 0x1000);
	for (unsigned i = 0; i < 200000; i++) {
		snprintf(name, sizeof(name), "name%u", i);
		make_comm(&run, ++time_ns, MADE_PID, name, false);
		if (i % 200 == 199)
			made_round(&run, time_ns += 60 * MS);
	}
	assert_true(string_pool_size(a->strings) <= 4 * ANALYSIS_NAMES_MIN);
	assert_true(string_pool_size(a->epoch->strings) <= EPOCH_NAMES_MAX + 100);
	make_sample(&run, ++time_ns, 0x1000);
	made_round(&run, ++time_ns);
	assert_string_equal(run.seen[run.seen_count - 1].comm, name);
	made_run_end(&run);
}
