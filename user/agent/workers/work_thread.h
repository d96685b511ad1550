/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A thread that works off requests: what the event loop must not wait for. Requests go in,
 * what was made of them comes out, one by one in the order in which it was done. But for
 * what is said of make, everything is called by one thread, the owner.
 */
#ifndef JITBPF_AGENT_WORKERS_WORK_THREAD_H
#define JITBPF_AGENT_WORKERS_WORK_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

#define WORK_REQUEST_BYTES_MAX 128

/* What was made: the first member of something larger. */
struct work_result {
	struct work_result *next;
};

struct work_kind {
	size_t request_bytes;
	/* On the thread: make what is asked for. Returns 0 with *ret, or negative errno. */
	int (*make)(void *context, const void *request, struct work_result **ret);
	/* Put requests that have not been begun into the order to do them in. */
	void (*sort)(void *context, void *requests, size_t count);
	/* Release a result that nobody took. */
	void (*drop)(struct work_result *result);
	void *context;
};

/* Zero-initialized is one that was never started. */
struct work_thread {
	struct work_kind kind;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t asked, done;
	VEC(uint8_t) requests;	   /* not done from number `begun` on, and the one before if busy */
	size_t begun, told, count; /* one after the other: what it was told of is in order */
	struct work_result *results, **results_end;
	bool started, busy, stop;
	int error;
};

struct work_progress {
	size_t done, all;
	const void *request; /* at hand, or NULL; until the owner's next call but this */
};

/* kind is copied. Returns 0, or negative errno with *ret as it was. */
int work_thread_start(struct work_thread *ret, const struct work_kind *kind);

/* Stops after the request at hand; drops what is left. */
void work_thread_stop(struct work_thread *thread);

/* Ask, of which work_thread_go() tells the thread. Returns 0 or -ENOMEM. */
int work_thread_add(struct work_thread *thread, const void *request);
void work_thread_go(struct work_thread *thread);

/* Wait until all is done, or cannot be, at most wait_ns. Returns whether it is. */
bool work_thread_wait(struct work_thread *thread, uint64_t wait_ns);

/* Since all that had been asked for was done last. */
struct work_progress work_thread_progress(struct work_thread *thread);

/* *ret: all results since the last call, the caller's now. Returns 0 or the first error of all. */
int work_thread_take(struct work_thread *thread, struct work_result **ret);

#endif
