/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define LOOK_MS 200 /* from one look at a child that does not answer to the next */
#define END_MS	10

void child_continue(pid_t pid)
{
	siginfo_t stopped = {0};

	/* WNOWAIT: another thread may wait for the same child. */
	if (!waitid(P_PID, (id_t)pid, &stopped, WSTOPPED | WNOHANG | WNOWAIT) && stopped.si_pid)
		kill(pid, SIGCONT);
}

void child_wait_for_message(pid_t pid, int socket)
{
	struct pollfd readable = {.fd = socket, .events = POLLIN};
	int ready;

	/* With RLIMIT_NOFILE 0, poll() fails: the receiver waits then. */
	while (!(ready = poll(&readable, 1, LOOK_MS)) || (ready < 0 && errno == EINTR))
		child_continue(pid);
}

bool child_wait_for_end(pid_t pid, int limit_ms)
{
	for (int ms = 0; ms < limit_ms; ms += END_MS) {
		if (waitpid(pid, NULL, WNOHANG))
			return true;
		child_continue(pid);
		poll(NULL, 0, END_MS);
	}
	return false;
}
