/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/workers/work_thread.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"
#include "agent/quiet_thread.h"

#define KEPT_BYTES (64u << 10) /* memory of an empty queue that stays allocated */

static void *request_at(const struct work_thread *thread, size_t number)
{
	return thread->requests.data + number * thread->kind.request_bytes;
}

static bool has_ended(const struct work_thread *thread)
{
	return thread->error || (!thread->busy && thread->begun == thread->count);
}

/* Handle the next request. It is copied, since the queue may be reallocated meanwhile. */
static void do_next(struct work_thread *thread, void *request)
{
	struct work_result *result = NULL;
	int err;

	memcpy(request, request_at(thread, thread->begun++), thread->kind.request_bytes);
	thread->busy = true;
	pthread_mutex_unlock(&thread->lock);
	err = thread->kind.make(thread->kind.context, request, &result);
	pthread_mutex_lock(&thread->lock);
	thread->busy = false;
	thread->error = thread->error ?: err;
	if (result) {
		*thread->results_end = result;
		thread->results_end = &result->next;
		if (thread->kind.made)
			thread->kind.made(thread->kind.context, result);
	}
	if (has_ended(thread))
		pthread_cond_signal(&thread->done);
}

static void forget_all(struct work_thread *thread)
{
	thread->count = thread->told = thread->begun = thread->forgotten = 0;
	if (thread->requests.capacity > KEPT_BYTES)
		vec_deinit(&thread->requests);
}

static void *work(void *thread_)
{
	struct work_thread *thread = thread_;
	_Alignas(max_align_t) uint8_t request[WORK_REQUEST_BYTES_MAX];

	if (thread->kind.begin)
		thread->kind.begin(thread->kind.context);
	pthread_mutex_lock(&thread->lock);
	while (!thread->stop) {
		if (thread->begun < thread->told) {
			do_next(thread, request);
			continue;
		}
		if (thread->begun == thread->count)
			forget_all(thread);
		pthread_cond_wait(&thread->asked, &thread->lock);
	}
	pthread_mutex_unlock(&thread->lock);
	return NULL;
}

static void init_condition(pthread_cond_t *condition)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(condition, &attributes);
	pthread_condattr_destroy(&attributes);
}

static void release(struct work_thread *thread)
{
	vec_deinit(&thread->requests);
	pthread_cond_destroy(&thread->asked);
	pthread_cond_destroy(&thread->done);
	pthread_mutex_destroy(&thread->lock);
	thread->started = false;
}

int work_thread_start(struct work_thread *ret, const struct work_kind *kind)
{
	int err;

	if (kind->request_bytes > WORK_REQUEST_BYTES_MAX)
		return -EINVAL;
	*ret = (struct work_thread){.kind = *kind};
	ret->results_end = &ret->results;
	pthread_mutex_init(&ret->lock, NULL);
	init_condition(&ret->asked);
	init_condition(&ret->done);
	err = quiet_thread_start(&ret->thread, work, ret);
	if (err)
		release(ret);
	ret->started = !err;
	return err;
}

void work_thread_stop(struct work_thread *thread)
{
	struct work_result *next;

	if (!thread->started)
		return;
	pthread_mutex_lock(&thread->lock);
	thread->stop = true;
	pthread_cond_signal(&thread->asked);
	pthread_mutex_unlock(&thread->lock);
	pthread_join(thread->thread, NULL);
	for (size_t i = thread->begun; thread->kind.drop_request && i < thread->count; i++)
		thread->kind.drop_request(request_at(thread, i));
	for (struct work_result *result = thread->results; result; result = next) {
		next = result->next;
		thread->kind.drop(result);
	}
	release(thread);
}

/*
 * Make room for one more request. If most of the requests are done, these are forgotten: under
 * load, the queue may never be empty. Returns 0 or -ENOMEM.
 */
static int make_room(struct work_thread *thread)
{
	size_t bytes = thread->kind.request_bytes, done = thread->begun - thread->busy;

	if ((thread->count + 1) * bytes > thread->requests.capacity && done > thread->count / 2) {
		memmove(request_at(thread, 0), request_at(thread, done),
			(thread->count - done) * bytes);
		thread->forgotten += done;
		thread->begun -= done;
		thread->told -= done;
		thread->count -= done;
	}
	return vec_reserve(&thread->requests, (thread->count + 1) * bytes);
}

int work_thread_add(struct work_thread *thread, const void *request)
{
	size_t bytes = thread->kind.request_bytes;
	int err;

	pthread_mutex_lock(&thread->lock);
	err = make_room(thread);
	if (!err)
		memcpy(request_at(thread, thread->count++), request, bytes);
	pthread_mutex_unlock(&thread->lock);
	return err;
}

void work_thread_go(struct work_thread *thread)
{
	pthread_mutex_lock(&thread->lock);
	if (thread->begun < thread->count) {
		thread->kind.sort(thread->kind.context, request_at(thread, thread->begun),
				  thread->count - thread->begun);
		thread->told = thread->count;
		pthread_cond_signal(&thread->asked);
	}
	pthread_mutex_unlock(&thread->lock);
}

size_t work_thread_next(struct work_thread *thread, void *ret, size_t max)
{
	size_t count;

	pthread_mutex_lock(&thread->lock);
	count = thread->told - thread->begun;
	if (count > max)
		count = max;
	if (count)
		memcpy(ret, request_at(thread, thread->begun), count * thread->kind.request_bytes);
	pthread_mutex_unlock(&thread->lock);
	return count;
}

bool work_thread_wait(struct work_thread *thread, uint64_t wait_ns)
{
	uint64_t until_ns = clock_now_ns() + wait_ns;
	struct timespec until = {
		.tv_sec = (time_t)(until_ns / 1000000000),
		.tv_nsec = (long)(until_ns % 1000000000),
	};
	bool ended;

	pthread_mutex_lock(&thread->lock);
	while (!has_ended(thread) &&
	       pthread_cond_timedwait(&thread->done, &thread->lock, &until) != ETIMEDOUT)
		;
	ended = has_ended(thread);
	pthread_mutex_unlock(&thread->lock);
	return ended;
}

struct work_progress work_thread_progress(struct work_thread *thread)
{
	struct work_progress progress;

	pthread_mutex_lock(&thread->lock);
	progress = (struct work_progress){
		.done = thread->forgotten + thread->begun - thread->busy,
		.all = thread->forgotten + thread->count,
		.request = thread->busy ? request_at(thread, thread->begun - 1) : NULL,
	};
	pthread_mutex_unlock(&thread->lock);
	return progress;
}

int work_thread_take(struct work_thread *thread, struct work_result **ret)
{
	int err;

	pthread_mutex_lock(&thread->lock);
	*ret = thread->results;
	thread->results = NULL;
	thread->results_end = &thread->results;
	err = thread->error;
	pthread_mutex_unlock(&thread->lock);
	return err;
}
