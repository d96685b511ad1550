/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/page/methods_answer.h"

#include <errno.h>
#include <stdlib.h>

#include "profile/time_slices.h"
#include "sink/annotate/code_history.h"
#include "sink/format/page_lives.h"
#include "sink/write/json.h"

struct methods_job {
	struct answer_job job;
	struct view_options options;
	struct life_list list;
};

static int begin(union answer_search *ret, const struct view *view, const union data_wanted *wanted)
{
	const struct methods_wanted *methods = &wanted->methods;

	return life_search_begin(&ret->lives, view,
				 &(struct lives_wanted){
					 .epoch = methods->epoch,
					 .from_ns = methods->from * TIME_SLICES_TICK_NS,
					 .to_ns = methods->to == UINT32_MAX
							  ? UINT64_MAX
							  : methods->to * TIME_SLICES_TICK_NS,
					 .method = methods->method,
				 });
}

static uint32_t event_of(const union data_wanted *wanted)
{
	return wanted->methods.event;
}

static int step(union answer_search *search, const struct view *view, const struct sink *history)
{
	return life_search_step(&search->lives, view, code_history_lives(history),
				ANSWER_STEP_ITEMS);
}

static void end(union answer_search *search)
{
	life_search_deinit(&search->lives);
}

static void free_job(struct answer_job *job_)
{
	struct methods_job *job = (struct methods_job *)job_;

	life_list_deinit(&job->list);
	free(job);
}

static int make_job(union answer_search *search, const struct view *view,
		    const struct sink *history, const union data_wanted *wanted,
		    struct answer_job **ret)
{
	struct methods_job *job = calloc(1, sizeof(*job));
	int err;

	if (!job)
		return -ENOMEM;
	job->options = view->options;
	err = life_search_result(&search->lives, view, code_history_lives(history), &job->list);
	if (err)
		free_job(&job->job);
	else
		*ret = &job->job;
	return err;
}

static int write_answer(struct answer_job *job_, FILE *out)
{
	struct methods_job *job = (struct methods_job *)job_;
	struct json json = json_of(out, false);

	return lives_answer_write(&job->list, &job->options, &json);
}

const struct answer_kind methods_answer = {
	.event = event_of,
	.begin = begin,
	.step = step,
	.make_job = make_job,
	.end = end,
	.write = write_answer,
	.free = free_job,
};
