/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/symbol_worker.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/workers/work_thread.h"
#include "base/scope.h"

#define PROGRESS_NS   100000000
#define NAMED_AT_ONCE 64

/* Frames of a location, in one allocation with their strings. */
struct symbol_answer {
	struct work_result result;
	struct symbolizer_counts counts; /* as of this answer */
	uint64_t ticket;
	const struct module *module; /* held for the request; wait_for_answers() may show it */
	uint32_t count;		     /* 0: the ticket was forgotten */
	struct symbol_frame frames[];
};

struct symbol_worker {
	struct symbol_namer namer;
	struct work_thread thread;
	struct naming_progress progress;
	struct symbolizer_counts counts; /* as of the last answer that was taken */
	_Atomic uint64_t wanted_from;	 /* answers to lower tickets are not needed any more */
	bool gathering;			 /* there are requests that the thread does not see yet */
	uint64_t gathered_ns;		 /* when requests were passed to the thread last */
	pthread_mutex_t lock;		 /* of the next two */
	VEC(struct symbol_request) postponed;
	bool waiting;	   /* all answers are waited for: nothing is postponed */
	uint64_t again_ns; /* when postponed requests were repeated last */
};

_Static_assert(sizeof(struct symbol_request) <= WORK_REQUEST_BYTES_MAX, "a request of a worker");

static size_t string_bytes(const char *s)
{
	return s ? strlen(s) + 1 : 0;
}

static const char *copy_string(char **at, const char *s)
{
	size_t size_bytes = string_bytes(s);
	char *copy = *at;

	if (!s)
		return NULL;
	memcpy(copy, s, size_bytes);
	*at += size_bytes;
	return copy;
}

static struct symbol_answer *make_answer(uint64_t ticket, const struct symbol_frame *frames,
					 uint32_t count)
{
	size_t bytes = sizeof(struct symbol_answer) + count * sizeof(*frames);
	struct symbol_answer *answer;
	char *at;

	for (uint32_t i = 0; i < count; i++)
		bytes += string_bytes(frames[i].name) + string_bytes(frames[i].module) +
			 string_bytes(frames[i].file) + string_bytes(frames[i].decl_file);
	answer = malloc(bytes);
	if (!answer)
		return NULL;
	answer->result.next = NULL;
	answer->ticket = ticket;
	answer->count = count;
	at = (char *)&answer->frames[count];
	for (uint32_t i = 0; i < count; i++) {
		answer->frames[i] = frames[i];
		answer->frames[i].name = copy_string(&at, frames[i].name);
		answer->frames[i].module = copy_string(&at, frames[i].module);
		answer->frames[i].file = copy_string(&at, frames[i].file);
		answer->frames[i].decl_file = copy_string(&at, frames[i].decl_file);
	}
	return answer;
}

/* Keep a request for later. Returns false if it must be answered now. */
static bool postpone(struct symbol_worker *worker, const struct symbol_request *request)
{
	bool postponed;

	pthread_mutex_lock(&worker->lock);
	postponed = !worker->waiting && !vec_push(&worker->postponed, *request);
	pthread_mutex_unlock(&worker->lock);
	return postponed;
}

/* Repeat the postponed requests. waiting: postpone no more, until it is called again. */
static int repeat_postponed(struct symbol_worker *worker, bool waiting)
{
	__typeof__(worker->postponed) requests;
	int err = 0;

	pthread_mutex_lock(&worker->lock);
	requests = worker->postponed;
	worker->postponed = (__typeof__(requests)){0};
	worker->waiting = waiting;
	pthread_mutex_unlock(&worker->lock);
	worker->gathering |= requests.size > 0;
	vec_for_each (request, &requests) {
		err = err ?: work_thread_add(&worker->thread, request);
		if (err)
			module_release(request->module);
	}
	vec_deinit(&requests);
	return err;
}

static int answer_request(void *worker_, const void *request_, struct work_result **ret)
{
	struct symbol_request requests[NAMED_AT_ONCE];
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	const struct symbol_request *request = request_;
	struct symbol_worker *worker = worker_;
	struct symbol_answer *answer;
	uint32_t count = 0;
	size_t next;
	int err = 0;

	if (request->ticket >= worker->wanted_from) {
		requests[0] = *request;
		next = work_thread_next(&worker->thread, &requests[1], NAMED_AT_ONCE - 1);
		err = worker->namer.name(worker->namer.context, requests, 1 + next, frames, &count);
		if (err == -EAGAIN && postpone(worker, request)) {
			*ret = NULL;
			return 0;
		}
		err = err == -EAGAIN ? 0 : err;
	}
	answer = err ? NULL : make_answer(request->ticket, frames, count);
	if (!answer) {
		module_release(request->module);
		return err ?: -ENOMEM;
	}
	answer->module = request->module;
	answer->counts = worker->namer.counts(worker->namer.context);
	*ret = &answer->result;
	return 0;
}

static void sort_requests(void *context, void *requests, size_t count)
{
	symbol_requests_sort(requests, count);
}

static void drop_request(void *request)
{
	module_release(((const struct symbol_request *)request)->module);
}

static void drop_answer(struct work_result *result)
{
	struct symbol_answer *answer = (struct symbol_answer *)result;

	module_release(answer->module);
	free(answer);
}

static int request(void *context, uint64_t ticket, const struct location *what,
		   const struct module *module)
{
	struct symbol_worker *worker = context;
	struct symbol_request request = {
		.ticket = ticket,
		.kind = what->kind,
		.offset = what->offset,
		.module = module_hold(module),
	};
	int err = work_thread_add(&worker->thread, &request);

	if (err)
		drop_request(&request);
	worker->gathering = true;
	return err;
}

/* Wait until all requests are answered or the thread fails, and report progress. */
static void wait_for_answers(struct symbol_worker *worker)
{
	size_t before = work_thread_progress(&worker->thread).done;

	do {
		struct work_progress at = work_thread_progress(&worker->thread);
		const struct symbol_request *request = at.request;

		if (request && worker->progress.show)
			worker->progress.show(worker->progress.context, at.done - before,
					      at.all - before,
					      request->module ? request->module->path : NULL);
	} while (!work_thread_wait(&worker->thread, PROGRESS_NS));
}

static int collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	struct symbol_worker *worker = context;
	struct work_result *result, *next;
	uint64_t now_ns = clock_now_ns();
	int err = 0, failed;

	if (wait || now_ns - worker->again_ns >= SYMBOL_AGAIN_NS) {
		err = repeat_postponed(worker, wait);
		worker->again_ns = now_ns;
	}
	if (worker->gathering && (wait || now_ns - worker->gathered_ns >= SYMBOL_GATHER_NS)) {
		work_thread_go(&worker->thread);
		worker->gathering = false;
		worker->gathered_ns = now_ns;
	}
	if (wait) {
		wait_for_answers(worker);
		failed = repeat_postponed(worker, false); /* there are none */
		err = err ?: failed;
	}
	failed = work_thread_take(&worker->thread, &result);
	err = err ?: failed;
	for (; result; result = next) {
		const struct symbol_answer *answer = (const struct symbol_answer *)result;

		next = result->next;
		worker->counts = answer->counts;
		if (!err && answer->count)
			err = take(take_context, answer->ticket, answer->frames, answer->count);
		drop_answer(result);
	}
	return err;
}

static void forget(void *context, uint64_t ticket)
{
	struct symbol_worker *worker = context;

	worker->wanted_from = ticket;
}

static struct symbolizer_counts counts(void *context)
{
	const struct symbol_worker *worker = context;

	return worker->counts;
}

int symbol_worker_create(const struct symbol_namer *namer, struct symbol_worker **ret,
			 struct symbol_service *ret_service)
{
	AUTO_FREE struct symbol_worker *worker = calloc(1, sizeof(*worker));
	int err;

	if (!worker)
		return -ENOMEM;
	worker->namer = *namer;
	pthread_mutex_init(&worker->lock, NULL);
	err = work_thread_start(&worker->thread,
				&(struct work_kind){
					.request_bytes = sizeof(struct symbol_request),
					.make = answer_request,
					.sort = sort_requests,
					.drop_request = drop_request,
					.drop = drop_answer,
					.context = worker,
				});
	if (err)
		return err;
	*ret_service = (struct symbol_service){
		.request = request,
		.collect = collect,
		.forget = forget,
		.counts = counts,
		.context = worker,
	};
	*ret = TAKE_PTR(worker);
	return 0;
}

void symbol_worker_set_progress(struct symbol_worker *worker,
				const struct naming_progress *progress)
{
	worker->progress = *progress;
}

void symbol_worker_destroy(struct symbol_worker *worker)
{
	if (!worker)
		return;
	work_thread_stop(&worker->thread);
	vec_for_each (request, &worker->postponed)
		module_release(request->module);
	vec_deinit(&worker->postponed);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}
