/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Readers of a live feed have the profile of the pipeline, whatever the cuts: from the
 * first round or from a later one, fast or slow, in this thread or in another.
 */
#include "tests/unit/sink/live/same_view.h"

#include <pthread.h>

#include "agent/workers/live_feed.h"
#include "pipeline/pipeline_state.h"
#include "pipeline/record/recorder.h"
#include "pipeline/record/replay_source.h"
#include "sink/live/delta_format.h"
#include "sink/live/delta_reader.h"
#include "sink/live/live_sink.h"
#include "tests/unit/cases.h"
#include "tests/unit/pipeline/random_run.h"

#define ROUNDS	  45
#define PER_ROUND 60
#define READERS	  5
#define EPOCHS	  3
#define MAX_BYTES (64u << 20)

/* A reader, and the profiles of the epochs that it was told of. */
struct follower {
	struct live_reader *reader;
	struct delta_profile profiles[EPOCHS];
	uint32_t deltas, snapshots; /* applied; begun anew */
};

static struct made_run run;
static struct live_feed *feed;
static struct sink *live;
static struct follower followers[READERS];
static uint32_t published, largest;

static bool publish(void *context, struct shared_bytes *delta, bool snapshot)
{
	published++;
	if (delta->size_bytes > largest)
		largest = (uint32_t)delta->size_bytes;
	return live_feed_publish(context, delta, snapshot);
}

static void follow(struct follower *follower, size_t max_bytes)
{
	*follower = (struct follower){0};
	for (int i = 0; i < EPOCHS; i++)
		delta_profile_init(&follower->profiles[i], &(struct view_options){0}, MAX_BYTES);
	made_require(!live_reader_open(feed, max_bytes, &follower->reader));
}

/* Every delta that a reader is given can be applied. */
static void apply(struct follower *follower, struct shared_bytes *delta)
{
	struct delta_header header;

	memcpy(&header, delta->data, sizeof(header));
	made_require(header.epoch < EPOCHS);
	made_require(!delta_profile_apply(&follower->profiles[header.epoch], delta->data,
					  delta->size_bytes));
	follower->deltas++;
	follower->snapshots += !header.from;
	shared_bytes_put(delta);
}

static void drain(struct follower *follower)
{
	struct shared_bytes *delta;

	while ((delta = live_reader_take(follower->reader, false)))
		apply(follower, delta);
}

/* Returns true if the follower has the view's state. Then it has it exactly. */
static bool has(const struct follower *follower, const struct view *view, uint64_t time_ns)
{
	const struct delta_profile *profile = &follower->profiles[view->epoch];

	if (!profile->state || !profile->complete || profile->time_ns != time_ns)
		return false;
	assert_same_view(&profile->view, view);
	return true;
}

/* --- a symbol service that answers late ------------------------------------------ */

static struct {
	uint64_t tickets[4096];
	uint32_t requested, answered;
} service;

static int request(void *context, uint64_t ticket, const struct location *what,
		   const struct module *module)
{
	assert_true(service.requested < ARRAY_SIZE(service.tickets));
	service.tickets[service.requested++] = ticket;
	return 0;
}

static int collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	uint32_t end = wait ? service.requested : service.requested * 3 / 4;

	for (; service.answered < end; service.answered++) {
		uint64_t ticket = service.tickets[service.answered];
		char name[32];
		struct symbol_frame frames[] = {
			{.name = "inlined", .file = "x.c", .line = 7, .inlined = true},
			{.name = name, .module = "/bin/engine", .symbol_offset = 16},
		};
		uint32_t count = 1 + ticket % 2;
		int err;

		snprintf(name, sizeof(name), "function%u", (uint32_t)ticket);
		err = take(take_context, ticket, frames + 2 - count, count);
		if (err)
			return err;
	}
	return 0;
}

static const struct symbol_service symbols = {.request = request, .collect = collect};

/* --- runs ------------------------------------------------------------------------ */

static const struct run_info info = {
	.start_ns = 500,
	.wall_clock_ns = 1000000,
	.freq_hz = 999,
	.cpus = 2,
	.event = "cpu-clock",
	.command = "engine",
	.host = "box",
	.kernel = "6.18",
};

static void add_live(struct pipeline *pipeline, size_t delta_bytes)
{
	published = largest = 0;
	memset(followers, 0, sizeof(followers));
	assert_int_equal(live_feed_create(&feed), 0);
	assert_int_equal(live_sink_create(publish, feed, delta_bytes, &live), 0);
	assert_int_equal(pipeline_add_live(pipeline, &sink_live, live), 0);
}

static void begin(struct random_run *random, uint32_t seed, size_t delta_bytes)
{
	memset(&service, 0, sizeof(service));
	made_run_begin_bare(&run, &(struct pipeline_options){.analysis.symbols = &symbols});
	assert_int_equal(pipeline_set_info(run.pipeline, &info), 0);
	add_live(run.pipeline, delta_bytes);
	random_first_records(&run, random, seed);
	random->step_ns = 20000000; /* processes are freed within the run */
}

static void end_live(struct pipeline *pipeline)
{
	for (int i = 0; i < READERS; i++) {
		live_reader_close(followers[i].reader);
		for (int k = 0; followers[i].reader && k < EPOCHS; k++)
			delta_profile_deinit(&followers[i].profiles[k]);
	}
	pipeline_destroy(pipeline);
	live_feed_destroy(feed);
}

static void end(void)
{
	struct pipeline *pipeline = run.pipeline;

	run.pipeline = NULL;
	made_run_end(&run);
	end_live(pipeline);
}

static uint64_t now_ns(void)
{
	return run.pipeline->analysis->round_ns;
}

/* --- tests ----------------------------------------------------------------------- */

CASE(nobody_subscribes)
{
	struct random_run random;

	begin(&random, 1, DELTA_BYTES);
	follow(&followers[0], MAX_BYTES);
	for (int i = 0; i < 5; i++)
		random_round(&run, &random, PER_ROUND);
	assert_false(pipeline_finish(run.pipeline));
	assert_int_equal(published, 0);
	assert_null(live_reader_take(followers[0].reader, false));
	end();
}

/* Epochs end only when the view has all of them. */
static void complete_epochs(void)
{
	struct analysis *a = run.pipeline->analysis;
	const struct view *closed;

	assert_int_equal(analysis_complete_epoch(a, false, &closed), 0);
	if (!closed)
		return;
	drain(&followers[0]);
	assert_true(has(&followers[0], closed, now_ns()));
	analysis_drop_epoch(a);
}

static void check_cuts(uint32_t seed)
{
	static const size_t sizes[] = {300, 12000, DELTA_BYTES};
	size_t delta_bytes = sizes[seed % 3];
	uint32_t complete[READERS] = {0}, subscribed;
	struct random_run random, cuts = {.state = seed + 1};

	begin(&random, seed, delta_bytes);
	subscribed = random_below(&cuts, 6);
	follow(&followers[0], MAX_BYTES);
	follow(&followers[1], 5 * delta_bytes / 2 + 4000); /* does not read every time */
	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (i == subscribed)
			assert_int_equal(pipeline_subscribe(run.pipeline, live,
							    1 + random_below(&cuts, 60000000)),
					 0);
		if (i % 10 == 8 && i / 10 + 2 < READERS)
			follow(&followers[i / 10 + 2], MAX_BYTES);
		if (i == ROUNDS / 3 || i == ROUNDS * 2 / 3) {
			assert_int_equal(analysis_begin_epoch(run.pipeline->analysis, &info), 0);
			/* Its stack was completed late: it belongs to the epoch before. */
			make_sample(&run, random.time_ns - 1, MADE_CODE);
		}
		random_round(&run, &random, PER_ROUND);
		for (uint32_t k = 0; k < READERS && followers[k].reader; k++) {
			if (k == 1 && i < ROUNDS - 5 && random_below(&cuts, 6))
				continue;
			drain(&followers[k]);
			complete[k] += has(&followers[k], pipeline_view(run.pipeline), now_ns());
		}
		complete_epochs();
	}
	assert_false(pipeline_finish(run.pipeline));
	for (uint32_t k = 0; k < READERS; k++) {
		drain(&followers[k]);
		/* Snapshots that were asked for in the last round do not begin any more. */
		if (k != 1)
			assert_true(has(&followers[k], pipeline_view(run.pipeline), now_ns()));
		assert_true(complete[k] || delta_bytes == 300);
	}
	assert_same_outputs(&followers[0].profiles[2].view, pipeline_view(run.pipeline));
	assert_int_equal(live_reader_dropped(followers[0].reader), 0);
	assert_true(live_reader_dropped(followers[1].reader) || delta_bytes > 300);
	assert_true(largest < delta_bytes + 1000);
	for (int i = 0; i < EPOCHS; i++)
		assert_true(followers[0].profiles[i].samples.profile.nodes.size > 10);
	end();
}

/* One thread does all of this: ThreadSanitizer takes long for it, and sees little. */
#ifdef __SANITIZE_THREAD__
#define SEEDS 3
#else
#define SEEDS 12
#endif

CASE(random_cuts)
{
	for (uint32_t seed = 1; seed <= SEEDS; seed++)
		check_cuts(seed);
}

/* A queue that nobody reads stays below its limit; its reader gets a snapshot once it reads again.
 */
CASE(a_slow_reader_begins_anew)
{
	const size_t limit = 40000;
	struct random_run random;

	begin(&random, 7, 12000);
	follow(&followers[0], limit);
	follow(&followers[1], MAX_BYTES);
	assert_int_equal(pipeline_subscribe(run.pipeline, live, 1), 0);
	for (int i = 0; i < ROUNDS; i++)
		random_round(&run, &random, PER_ROUND);
	assert_true(live_reader_dropped(followers[0].reader) > 2);
	for (int i = 0; i < 200 && !has(&followers[0], pipeline_view(run.pipeline), now_ns());
	     i++) {
		drain(&followers[0]);
		made_round(&run, ++random.time_ns);
		drain(&followers[0]);
	}
	assert_true(has(&followers[0], pipeline_view(run.pipeline), now_ns()));
	assert_true(followers[0].snapshots > 0);
	/* The other one was not disturbed. */
	drain(&followers[1]);
	assert_true(has(&followers[1], pipeline_view(run.pipeline), now_ns()));
	assert_int_equal(followers[1].snapshots, 1);
	assert_int_equal(live_reader_dropped(followers[1].reader), 0);
	end();
}

CASE(a_new_subscription_begins_anew)
{
	struct random_run random;

	begin(&random, 6, DELTA_BYTES);
	follow(&followers[0], MAX_BYTES);
	for (uint32_t i = 0; i < 30; i++) {
		if (i % 10 == 0)
			assert_int_equal(pipeline_subscribe(run.pipeline, live, 1), 0);
		else if (i % 10 == 6)
			pipeline_unsubscribe(run.pipeline, live);
		random_round(&run, &random, PER_ROUND);
		drain(&followers[0]);
		assert_int_equal(has(&followers[0], pipeline_view(run.pipeline), now_ns()),
				 i % 10 < 6);
	}
	assert_int_equal(followers[0].snapshots, 3);
	end();
}

/* A recorded run, replayed, gives readers what they had then. */
CASE(a_replay_shows_the_same)
{
	struct delta_profile *shown = &followers[0].profiles[0];
	struct recorder *recorder;
	struct random_run random;
	struct recording_reader *reader;
	struct recording_error error;
	struct replay_source replayed;
	struct pipeline *pipeline;
	struct source source;
	struct blob blob;
	char *bytes = NULL, *before;
	size_t size, before_bytes;
	FILE *file = open_memstream(&bytes, &size);

	assert_non_null(file);
	assert_int_equal(recorder_create(file, &info, &recorder), 0);
	begin(&random, 3, 1000);
	follow(&followers[0], MAX_BYTES);
	assert_int_equal(pipeline_subscribe(run.pipeline, live, 1), 0);
	for (int i = 0; i <= ROUNDS; i++) {
		random_records(&run, &random, i < ROUNDS ? PER_ROUND : 0);
		run.state = i < ROUNDS ? SOURCE_ROUND : SOURCE_END;
		run.round_ns = ++random.time_ns;
		assert_int_equal(pipeline_round(run.pipeline, &run.source, recorder), run.state);
	}
	assert_false(pipeline_finish(run.pipeline));
	assert_int_equal(recorder_finish(recorder, pipeline_view(run.pipeline),
					 pipeline_modules(run.pipeline)),
			 0);
	recorder_destroy(recorder);
	fclose(file);
	drain(&followers[0]);
	assert_true(has(&followers[0], pipeline_view(run.pipeline), now_ns()));
	before = output_of(&shown->view, &(struct view_options){0}, &sink_html, &before_bytes);
	end();

	blob = blob_of_memory(bytes, size);
	assert_int_equal(pipeline_create(&(struct pipeline_options){0}, &pipeline), 0);
	add_live(pipeline, 500);
	follow(&followers[0], MAX_BYTES);
	assert_int_equal(pipeline_subscribe(pipeline, live, 40000000), 0);
	assert_int_equal(recording_reader_open(&blob, &reader, &error), 0);
	replay_source_init(&replayed, reader, &source);
	while (pipeline_round(pipeline, &source, NULL) > 0)
		;
	assert_false(pipeline_finish(pipeline));
	drain(&followers[0]);
	assert_true(shown->complete);
	assert_same_view(&shown->view, pipeline_view(pipeline));
	{
		AUTO_FREE char *after =
			output_of(&shown->view, &(struct view_options){0}, &sink_html, &size);

		assert_int_equal(size, before_bytes);
		assert_memory_equal(after, before, size);
	}
	recording_reader_close(reader);
	end_live(pipeline);
	free(before);
	free(bytes);
}

static void *read_deltas(void *follower)
{
	struct shared_bytes *delta;

	while ((delta = live_reader_take(((struct follower *)follower)->reader, true)))
		apply(follower, delta);
	return NULL;
}

/* One reader from the beginning, one from the middle, one whose queue is small. */
CASE(readers_are_other_threads)
{
	struct random_run random;
	pthread_t threads[3];

	begin(&random, 4, 12000);
	assert_int_equal(pipeline_subscribe(run.pipeline, live, 1), 0);
	for (uint32_t i = 0; i < ROUNDS; i++) {
		uint32_t opened = i / 15;

		if (i % 15 == 0) {
			follow(&followers[opened], opened == 2 ? 20000 : MAX_BYTES);
			assert_int_equal(pthread_create(&threads[opened], NULL, read_deltas,
							&followers[opened]),
					 0);
		}
		random_round(&run, &random, PER_ROUND);
	}
	for (int i = 0; i < 100; i++)
		made_round(&run, ++random.time_ns);
	assert_false(pipeline_finish(run.pipeline));
	live_feed_end(feed);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	assert_true(has(&followers[0], pipeline_view(run.pipeline), now_ns()));
	assert_true(has(&followers[1], pipeline_view(run.pipeline), now_ns()));
	assert_same_outputs(&followers[1].profiles[0].view, pipeline_view(run.pipeline));
	assert_true(followers[2].deltas + live_reader_dropped(followers[2].reader) > 0);
	end();
}
