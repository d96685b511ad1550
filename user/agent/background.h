/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A call that runs on a thread of its own until its result is needed: for calls that wait in the
 * kernel during the start. The thread must have ended before privileges are dropped, since each
 * thread has privileges of its own.
 */
#ifndef JITBPF_AGENT_BACKGROUND_H
#define JITBPF_AGENT_BACKGROUND_H

#include <pthread.h>
#include <stdbool.h>

/* Zero-initialized: not started. */
struct background {
	int (*call)(void *context);
	void *context;
	pthread_t thread;
	bool started;
	int result;
};

/* Start the call. If no thread can be created, this function makes the call itself. */
void background_start(struct background *background, int (*call)(void *context), void *context);

/* Wait for the call. Returns its result, also in later calls; 0 if none was started. */
int background_join(struct background *background);

#endif
