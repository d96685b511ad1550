/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/refresh_lives.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "sink/annotate/code_history.h"

#define STEP_ITEMS 32768 /* locations, nodes or lives of a round */
#define WAIT_S	   2	 /* a search takes some rounds of 50 ms */

struct refresh_lives {
	struct pipeline *pipeline;
	struct sink *history; /* the pipeline's */
	struct life_search search;
	bool searching;
	pthread_mutex_t lock; /* of the rest */
	pthread_cond_t done;
	enum { LIVES_IDLE, LIVES_WANTED, LIVES_DONE } state;
	uint32_t epoch;
	int result;
	struct life_list list;
	bool stop;
};

int refresh_lives_create(struct pipeline *pipeline, struct refresh_lives **ret)
{
	struct refresh_lives *lives = calloc(1, sizeof(*lives));
	pthread_condattr_t clock;
	int err = lives ? code_history_create(CODE_LIVES_LIVE_MAX, &lives->history) : -ENOMEM;

	err = err ?: pipeline_add_live(pipeline, &sink_code_history, lives->history);
	if (err) {
		free(lives);
		return err;
	}
	lives->pipeline = pipeline;
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_mutex_init(&lives->lock, NULL);
	pthread_cond_init(&lives->done, &clock);
	pthread_condattr_destroy(&clock);
	*ret = lives;
	return 0;
}

void refresh_lives_destroy(struct refresh_lives *lives)
{
	if (!lives)
		return;
	life_search_deinit(&lives->search);
	life_list_deinit(&lives->list);
	pthread_cond_destroy(&lives->done);
	pthread_mutex_destroy(&lives->lock);
	free(lives);
}

/* --- the event loop ------------------------------------------------------------------------ */

static void finish(struct refresh_lives *lives, int result, const struct life_list *list)
{
	life_search_deinit(&lives->search);
	lives->searching = false;
	pthread_mutex_lock(&lives->lock);
	lives->state = LIVES_DONE;
	lives->result = result;
	lives->list = *list;
	pthread_cond_signal(&lives->done);
	pthread_mutex_unlock(&lives->lock);
}

/* Returns true if the thread waits, and sets *ret_epoch. */
static bool is_wanted(struct refresh_lives *lives, uint32_t *ret_epoch)
{
	bool wanted;

	pthread_mutex_lock(&lives->lock);
	wanted = lives->state == LIVES_WANTED;
	*ret_epoch = lives->epoch;
	pthread_mutex_unlock(&lives->lock);
	return wanted;
}

void refresh_lives_round(struct refresh_lives *lives)
{
	const struct view *view = pipeline_view(lives->pipeline);
	const struct code_lives *history = code_history_lives(lives->history);
	struct lives_wanted all = {.to_ns = UINT64_MAX};
	struct life_list list = {0};
	int state = 0;

	if (!is_wanted(lives, &all.epoch)) { /* or no more, after WAIT_S */
		life_search_deinit(&lives->search);
		lives->searching = false;
		return;
	}
	if (!lives->searching)
		state = life_search_begin(&lives->search, view, &all);
	lives->searching = true;
	state = state ?: life_search_step(&lives->search, view, history, STEP_ITEMS);
	if (state > 0)
		return;
	state = state ?: life_search_result(&lives->search, view, history, &list);
	if (state)
		life_list_deinit(&list);
	finish(lives, state, &list);
}

void refresh_lives_stop(struct refresh_lives *lives)
{
	pthread_mutex_lock(&lives->lock);
	lives->stop = true;
	pthread_cond_signal(&lives->done);
	pthread_mutex_unlock(&lives->lock);
}

/* --- the thread ---------------------------------------------------------------------------- */

int refresh_lives_get(struct refresh_lives *lives, uint32_t epoch, struct life_list *ret)
{
	struct timespec end;
	int err = 0;

	*ret = (struct life_list){0};
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += WAIT_S;
	pthread_mutex_lock(&lives->lock);
	life_list_deinit(&lives->list); /* of a request that was given up */
	lives->state = LIVES_WANTED;
	lives->epoch = epoch;
	while (lives->state != LIVES_DONE && !lives->stop && !err)
		err = -pthread_cond_timedwait(&lives->done, &lives->lock, &end);
	if (lives->state == LIVES_DONE) {
		err = lives->result;
		*ret = lives->list;
		lives->list = (struct life_list){0};
	} else if (lives->stop) {
		err = -ETIMEDOUT;
	}
	lives->state = LIVES_IDLE;
	pthread_mutex_unlock(&lives->lock);
	return err;
}
