/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/stop_signals.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static bool is_ignored(int number)
{
	struct sigaction action;

	return !sigaction(number, NULL, &action) && action.sa_handler == SIG_IGN;
}

int stop_signals_init(struct stop_signals *signals)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	/* A blocked signal is delivered to the signalfd even if it is ignored. */
	if (!is_ignored(SIGHUP))
		sigaddset(&set, SIGHUP);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		return -errno;
	sigprocmask(SIG_BLOCK, &set, NULL);
	signals->fd = fd;
	signals->before_pipe = signal(SIGPIPE, SIG_IGN);
	return 0;
}

void stop_signals_release(struct stop_signals *signals)
{
	struct signalfd_siginfo heard;
	sigset_t none;

	if (signals->fd < 0)
		return;
	while (read(signals->fd, &heard, sizeof(heard)) == sizeof(heard))
		;
	close(signals->fd);
	signals->fd = -1;
	/*
	 * Background jobs of a shell ignore SIGINT, but the first one was
	 * handled here nevertheless.
	 */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}
