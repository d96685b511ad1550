/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/symbol_worker.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/scope.h"

#define PROGRESS_MS 100

/* Frames of a location, with strings of their own in the same allocation. */
struct symbol_answer {
	struct symbol_answer *next;
	uint32_t location;
	uint32_t count;
	struct symbol_frame frames[];
};

struct symbol_worker {
	struct symbolizer *symbolizer;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked, answered;
	VEC(struct symbol_request) requests; /* not yet begun, from `begun` on */
	size_t begun;
	struct symbol_answer *answers;
	struct symbol_answer **answers_end;
	bool busy;
	struct naming_progress progress;
	struct symbolizer_counts counts; /* as of the last answer */
	bool stop;
	int error;
};

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

static struct symbol_answer *make_answer(uint32_t location, const struct symbol_frame *frames,
					 uint32_t count)
{
	size_t bytes = sizeof(struct symbol_answer) + count * sizeof(*frames);
	struct symbol_answer *answer;
	char *at;

	for (uint32_t i = 0; i < count; i++)
		bytes += string_bytes(frames[i].name) + string_bytes(frames[i].module) +
			 string_bytes(frames[i].file);
	answer = malloc(bytes);
	if (!answer)
		return NULL;
	answer->next = NULL;
	answer->location = location;
	answer->count = count;
	at = (char *)&answer->frames[count];
	for (uint32_t i = 0; i < count; i++) {
		answer->frames[i] = frames[i];
		answer->frames[i].name = copy_string(&at, frames[i].name);
		answer->frames[i].module = copy_string(&at, frames[i].module);
		answer->frames[i].file = copy_string(&at, frames[i].file);
	}
	return answer;
}

static int answer_request(struct symbol_worker *worker, const struct symbol_request *request,
			  struct symbol_answer **ret)
{
	struct symbol_frame frames[SYMBOL_FRAMES_MAX];
	uint32_t count;
	int err;

	err = symbolizer_location(worker->symbolizer, request->kind, request->offset,
				  request->module, frames, &count);
	if (err)
		return err;
	*ret = make_answer(request->location, frames, count);
	return *ret ? 0 : -ENOMEM;
}

static void *work(void *worker_)
{
	struct symbol_worker *worker = worker_;

	pthread_mutex_lock(&worker->lock);
	while (!worker->stop) {
		struct symbol_answer *answer = NULL;
		struct symbol_request request;
		struct symbolizer_counts counted;
		int err;

		if (worker->begun == worker->requests.size) {
			worker->requests.size = worker->begun = 0;
			pthread_cond_wait(&worker->asked, &worker->lock);
			continue;
		}
		request = worker->requests.data[worker->begun++];
		worker->busy = true;
		pthread_mutex_unlock(&worker->lock);
		err = answer_request(worker, &request, &answer);
		counted = symbolizer_counts(worker->symbolizer);
		pthread_mutex_lock(&worker->lock);
		worker->busy = false;
		worker->counts = counted;
		worker->error = worker->error ?: err;
		if (answer) {
			*worker->answers_end = answer;
			worker->answers_end = &answer->next;
		}
		if (worker->begun == worker->requests.size)
			pthread_cond_signal(&worker->answered);
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

static int request(void *context, uint32_t location, const struct location *what,
		   const struct module *module)
{
	struct symbol_worker *worker = context;
	struct symbol_request added = {
		.location = location,
		.kind = what->kind,
		.offset = what->offset,
		.module = module,
	};
	int err;

	pthread_mutex_lock(&worker->lock);
	err = vec_push(&worker->requests, added);
	pthread_mutex_unlock(&worker->lock);
	return err;
}

/* Until the worker has answered all, or cannot. Tells now and then where it is. */
static void wait_for_answers(struct symbol_worker *worker)
{
	const struct naming_progress *progress = &worker->progress;
	size_t before = worker->busy ? worker->begun - 1 : worker->begun;

	while (!worker->error && (worker->busy || worker->begun < worker->requests.size)) {
		size_t all = worker->requests.size, at = worker->busy ? worker->begun - 1 : 0;
		const struct module *module =
			worker->busy ? worker->requests.data[at].module : NULL;
		struct timespec until;

		if (worker->busy && progress->show) {
			pthread_mutex_unlock(&worker->lock);
			progress->show(progress->context, at - before, all - before,
				       module ? module->path : NULL);
			pthread_mutex_lock(&worker->lock);
			if (!worker->busy && worker->begun == worker->requests.size)
				break;
		}
		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_nsec += PROGRESS_MS * 1000000;
		until.tv_sec += until.tv_nsec / 1000000000;
		until.tv_nsec %= 1000000000;
		pthread_cond_timedwait(&worker->answered, &worker->lock, &until);
	}
}

static int collect(void *context, bool wait, symbol_taker_fn take, void *take_context)
{
	struct symbol_worker *worker = context;
	struct symbol_answer *answer, *next;
	int err;

	pthread_mutex_lock(&worker->lock);
	/* A round's requests wake the worker once. */
	if (worker->begun < worker->requests.size) {
		symbol_requests_sort(&worker->requests.data[worker->begun],
				     worker->requests.size - worker->begun);
		pthread_cond_signal(&worker->asked);
	}
	if (wait)
		wait_for_answers(worker);
	answer = worker->answers;
	worker->answers = NULL;
	worker->answers_end = &worker->answers;
	err = worker->error;
	pthread_mutex_unlock(&worker->lock);
	for (; answer; answer = next) {
		next = answer->next;
		err = err ?: take(take_context, answer->location, answer->frames, answer->count);
		free(answer);
	}
	return err;
}

static struct symbolizer_counts counts(void *context)
{
	struct symbol_worker *worker = context;
	struct symbolizer_counts counted;

	pthread_mutex_lock(&worker->lock);
	counted = worker->counts;
	pthread_mutex_unlock(&worker->lock);
	return counted;
}

int symbol_worker_create(struct symbolizer *symbolizer, struct symbol_worker **ret,
			 struct symbol_service *ret_service)
{
	struct symbol_worker *worker = calloc(1, sizeof(*worker));
	sigset_t all, before;
	int err;

	if (!worker)
		return -ENOMEM;
	worker->symbolizer = symbolizer;
	worker->answers_end = &worker->answers;
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->asked, NULL);
	pthread_cond_init(&worker->answered, NULL);
	sigfillset(&all); /* signals belong to the event loop */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = pthread_create(&worker->thread, NULL, work, worker);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (err) {
		free(worker);
		return -err;
	}
	*ret = worker;
	*ret_service = (struct symbol_service){
		.request = request,
		.collect = collect,
		.counts = counts,
		.context = worker,
	};
	return 0;
}

void symbol_worker_set_progress(struct symbol_worker *worker,
				const struct naming_progress *progress)
{
	worker->progress = *progress;
}

void symbol_worker_destroy(struct symbol_worker *worker)
{
	struct symbol_answer *next;

	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->stop = true;
	pthread_cond_signal(&worker->asked);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	for (struct symbol_answer *answer = worker->answers; answer; answer = next) {
		next = answer->next;
		free(answer);
	}
	vec_deinit(&worker->requests);
	pthread_cond_destroy(&worker->asked);
	pthread_cond_destroy(&worker->answered);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}
