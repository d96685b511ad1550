/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/stop_signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
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

/* The thread that waits for the next signal. */
static struct {
	pthread_mutex_t lock;
	int fd; /* the thread's */
	bool started;
	void (*say)(void *context); /* NULL: nothing to say any more */
	void *context;
} next_signal = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

static void consume(int fd)
{
	struct signalfd_siginfo heard;

	while (read(fd, &heard, sizeof(heard)) == sizeof(heard))
		;
}

static _Noreturn void die_by(int number)
{
	sigset_t one;

	signal(number, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, number);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	kill(getpid(), number);
	_exit(128 + number);
}

static void *wait_for_signal(void *nothing)
{
	struct pollfd waiting = {.fd = next_signal.fd, .events = POLLIN};
	struct signalfd_siginfo heard;

	while (poll(&waiting, 1, -1) < 0 ||
	       read(next_signal.fd, &heard, sizeof(heard)) != sizeof(heard))
		;
	pthread_mutex_lock(&next_signal.lock); /* for ever: this process ends */
	if (next_signal.say)
		next_signal.say(next_signal.context);
	die_by((int)heard.ssi_signo);
	return nothing;
}

void stop_signals_kill_next(struct stop_signals *signals, void (*say)(void *context), void *context)
{
	pthread_t thread;

	if (signals->fd < 0)
		return;
	consume(signals->fd);
	next_signal.say = say;
	next_signal.context = context;
	next_signal.fd = signals->fd;
	if (pthread_create(&thread, NULL, wait_for_signal, NULL)) {
		next_signal.say = NULL;
		stop_signals_release(signals);
		return;
	}
	pthread_detach(thread);
	signals->fd = -1;
	next_signal.started = true;
}

void stop_signals_release(struct stop_signals *signals)
{
	sigset_t none;

	if (next_signal.started) {
		pthread_mutex_lock(&next_signal.lock);
		next_signal.say = NULL;
		pthread_mutex_unlock(&next_signal.lock);
	}
	if (signals->fd < 0)
		return;
	consume(signals->fd);
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
