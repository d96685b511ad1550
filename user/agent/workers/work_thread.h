/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A worker thread with a queue of requests and a list of results in order of
 * completion. It does what the event loop must not wait for. One thread, the
 * owner, calls all functions; only make() runs on the worker thread.
 */
#ifndef JITBPF_AGENT_WORKERS_WORK_THREAD_H
#define JITBPF_AGENT_WORKERS_WORK_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define WORK_REQUEST_BYTES_MAX 192

/* A result, to be embedded as the first member of a larger struct. */
struct work_result {
	struct work_result *next;
};

struct work_kind {
	size_t request_bytes;
	/* Called on the worker thread when it starts. May be NULL. */
	void (*begin)(void *context);
	/* Handle a request, on the worker thread. Returns 0 with *ret set, or a negative errno. */
	int (*make)(void *context, const void *request, struct work_result **ret);
	/* Sort the requests that have not been started. */
	void (*sort)(void *context, void *requests, size_t count);
	/* Free what a request owns, if make() was not called for it. May be NULL. */
	void (*drop_request)(void *request);
	/*
	 * Called on the worker thread, under its lock, when a result can be taken. May be NULL.
	 */
	void (*made)(void *context, const struct work_result *result);
	/* Free a result that was not taken. */
	void (*drop)(struct work_result *result);
	void *context;
};

/* Zero-initialized: not started. */
struct work_thread {
	struct work_kind kind;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked, done;
	VEC(uint8_t) requests;	   /* requests[begun..] are pending; so is the one before if busy */
	size_t begun, told, count; /* requests up to `told` are visible to the thread, and sorted */
	size_t forgotten;	   /* requests that are done and not in `requests` any more */
	struct work_result *results, **results_end;
	bool started, busy, stop;
	int error;
};

struct work_progress {
	size_t done, all;
	/* The current request, or NULL. Valid until the owner calls another function. */
	const void *request;
};

/* kind is copied. Returns 0, or a negative errno with *ret unchanged. */
int work_thread_start(struct work_thread *ret, const struct work_kind *kind);

/* Stop after the current request; drop pending requests and results. */
void work_thread_stop(struct work_thread *thread);

/* Queue a request. work_thread_go() passes queued requests to the thread. Returns 0 or -ENOMEM. */
int work_thread_add(struct work_thread *thread, const void *request);
void work_thread_go(struct work_thread *thread);

/*
 * Copy up to max of the requests that come after the current one, for make() on the worker thread.
 * They still belong to the queue, which later requests may change. Returns their number.
 */
size_t work_thread_next(struct work_thread *thread, void *ret, size_t max);

/* Wait up to wait_ns for all requests. Returns true if all are done or the thread has failed. */
bool work_thread_wait(struct work_thread *thread, uint64_t wait_ns);

/* Progress since the queue was last empty. */
struct work_progress work_thread_progress(struct work_thread *thread);

/*
 * Set *ret to the list of results since the last call, owned by the caller.
 * Returns 0 or the first error.
 */
int work_thread_take(struct work_thread *thread, struct work_result **ret);

#endif
