/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/quiet_thread.h"

#include <signal.h>

int quiet_thread_start(pthread_t *ret, void *(*run)(void *context), void *context)
{
	sigset_t all, before;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	err = -pthread_create(ret, NULL, run, context);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return err;
}
