/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* A thread that gets no signals: the event loop handles them. */
#ifndef JITBPF_AGENT_QUIET_THREAD_H
#define JITBPF_AGENT_QUIET_THREAD_H

#include <pthread.h>

/* Start a thread with all signals blocked. The caller joins it. Returns 0 or a negative errno. */
int quiet_thread_start(pthread_t *ret, void *(*run)(void *context), void *context);

#endif
