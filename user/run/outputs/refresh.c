/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/refresh.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "agent/quiet_thread.h"
#include "agent/workers/live_feed.h"
#include "base/scope.h"
#include "profile/ledger.h"
#include "run/messages/say.h"
#include "run/outputs/refresh_lives.h"
#include "sink/live/delta_reader.h"
#include "sink/live/live_sink.h"

#define QUEUE_BYTES   (64u << 20) /* deltas that come while the outputs are written */
#define PROFILE_BYTES (1ull << 30)

struct refresh {
	struct pipeline *pipeline;
	struct live_feed *feed;
	struct sink *sink; /* the pipeline's */
	struct live_reader *reader;
	VEC(const struct output *) outputs;
	struct delta_profile profile;
	const char *event;	     /* that outputs show; NULL: CPU time */
	struct refresh_lives *lives; /* NULL: no output is a page */
	struct life_list list;	     /* the last one */
	pthread_t thread;
	bool started;
	atomic_bool stop;
};

/* Returns the view of the event that outputs show. */
static struct view shown_view(const struct refresh *refresh)
{
	const struct view *shown = &refresh->profile.view;

	for (uint32_t i = 1; refresh->event && i <= refresh->profile.info.more_events; i++) {
		if (!strcmp(refresh->event, refresh->profile.info.events[i - 1].name))
			shown = refresh->profile.by_event[i];
	}
	return *shown;
}

/* If the event loop is too busy, the pages show the lives of the last search. */
static void get_lives(struct refresh *refresh, struct view *view)
{
	struct life_list list;

	if (refresh->lives && !refresh_lives_get(refresh->lives, view->epoch, &list)) {
		life_list_deinit(&refresh->list);
		refresh->list = list;
	}
	view->lives = refresh->list.strings ? &refresh->list : NULL;
}

/* An output that fails is refreshed no more. */
static void write_outputs(struct refresh *refresh)
{
	struct view view = shown_view(refresh);
	size_t kept = 0;

	if (!ledger_taken(view.ledger))
		return;
	get_lives(refresh, &view);
	vec_for_each (output, &refresh->outputs) {
		if (refresh->stop || !output_refresh(*output, &view))
			refresh->outputs.data[kept++] = *output;
	}
	refresh->outputs.size = kept;
}

/* Apply the deltas that are there. Returns 0, or an error that ends the refreshing. */
static int apply(struct refresh *refresh, struct shared_bytes *delta)
{
	int err = 0;

	while (delta) {
		err = err ?: delta_profile_apply(&refresh->profile, delta->data, delta->size_bytes);
		shared_bytes_put(delta);
		delta = err ? NULL : live_reader_take(refresh->reader, false);
	}
	return err;
}

static void *keep_fresh(void *refresh_)
{
	struct refresh *refresh = refresh_;
	struct shared_bytes *delta;
	int err = 0;

	while (!err && (delta = live_reader_take(refresh->reader, true))) {
		err = apply(refresh, delta);
		if (!err && refresh->profile.complete && !refresh->stop)
			write_outputs(refresh);
	}
	if (err)
		say("jitbpf: --refresh ends: %s; the outputs are written at the end\n",
		    strerror(-err));
	return NULL;
}

static int start_thread(struct refresh *refresh)
{
	int err = quiet_thread_start(&refresh->thread, keep_fresh, refresh);

	refresh->started = !err;
	return err;
}

/* Only pages show lives. */
static int start_lives(struct refresh *refresh)
{
	bool pages = false;

	vec_for_each (output, &refresh->outputs)
		pages = pages || (*output)->sink == &sink_html;
	return pages ? refresh_lives_create(refresh->pipeline, &refresh->lives) : 0;
}

int refresh_start(const struct outputs *outputs, const struct view_options *view,
		  uint64_t period_ns, struct pipeline *pipeline, struct refresh **ret)
{
	struct refresh *refresh = calloc(1, sizeof(*refresh));
	int err;

	if (!refresh)
		return -ENOMEM;
	*ret = refresh; /* the caller destroys it in any case, after the pipeline */
	refresh->pipeline = pipeline;
	refresh->event = view->event;
	delta_profile_init(&refresh->profile, view, PROFILE_BYTES);
	vec_for_each (output, &outputs->files) {
		if (output_can_refresh(output) && vec_push(&refresh->outputs, output))
			return -ENOMEM;
	}
	err = start_lives(refresh);
	err = err ?: live_feed_create(&refresh->feed);
	err = err ?: live_reader_open(refresh->feed, QUEUE_BYTES, &refresh->reader);
	err = err
		      ?: live_sink_create(live_feed_publish, refresh->feed, DELTA_BYTES,
					  &refresh->sink);
	err = err ?: pipeline_add_live(pipeline, &sink_live, refresh->sink);
	err = err ?: pipeline_subscribe(pipeline, refresh->sink, period_ns);
	return err ?: start_thread(refresh);
}

void refresh_round(struct refresh *refresh)
{
	if (refresh && refresh->started && refresh->lives)
		refresh_lives_round(refresh->lives);
}

void refresh_stop(struct refresh *refresh, bool quiet)
{
	uint64_t dropped;

	if (!refresh || !refresh->started)
		return;
	pipeline_unsubscribe(refresh->pipeline, refresh->sink);
	refresh->stop = true;
	if (refresh->lives)
		refresh_lives_stop(refresh->lives);
	live_feed_end(refresh->feed);
	pthread_join(refresh->thread, NULL);
	refresh->started = false;
	dropped = live_reader_dropped(refresh->reader);
	if (dropped && !quiet)
		say("jitbpf: --refresh fell behind %llu times: use a longer period\n",
		    (unsigned long long)dropped);
}

void refresh_destroy(struct refresh *refresh)
{
	if (!refresh)
		return;
	live_reader_close(refresh->reader);
	live_feed_destroy(refresh->feed);
	refresh_lives_destroy(refresh->lives);
	life_list_deinit(&refresh->list);
	delta_profile_deinit(&refresh->profile);
	vec_deinit(&refresh->outputs);
	free(refresh);
}
