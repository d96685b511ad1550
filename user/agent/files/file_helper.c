/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_helper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/files/fd_message.h"
#include "agent/files/file_service.h"
#include "base/scope.h"

#define SOCKET_FD 3

/* A process that may outlive us must not hold our terminal, pipes or outputs. */
static void drop_descriptors(int socket)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd < SOCKET_FD && nothing >= 0; fd++)
		dup2(nothing, fd);
	if (socket != SOCKET_FD)
		dup2(socket, SOCKET_FD);
	close_range(SOCKET_FD + 1, ~0u, 0);
	if (chdir("/"))
		_exit(1);
}

static _Noreturn void help(int socket)
{
	prctl(PR_SET_NAME, "jitbpf-files");
	signal(SIGTERM, SIG_DFL);
	drop_descriptors(socket);
	file_service_run(SOCKET_FD);
	_exit(0);
}

/* Fork a helper for each socket that is received, until jitbpf exits. */
static _Noreturn void start_helpers(void)
{
	unsigned started = 0;
	char byte;
	int socket;

	while (fd_message_receive(SOCKET_FD, &byte, sizeof(byte), &socket) > 0) {
		if (socket < 0)
			continue;
		if (started++ < FILE_HELPERS_MAX && !fork())
			help(socket);
		close(socket);
	}
	/* Let helpers exit before this process, so that their exit is waited for. */
	kill(0, SIGTERM);
	alarm(1);
	while (wait(NULL) >= 0 || errno != ECHILD)
		;
	_exit(0);
}

int file_helpers_start(struct file_helpers *ret)
{
	int sockets[2], err = fd_message_pair(sockets);
	AUTO_CLOSE int ours = err ? -1 : sockets[0];
	AUTO_CLOSE int theirs = err ? -1 : sockets[1];
	pid_t pid = err ? -1 : fork();
	sigset_t none;

	if (err)
		return err;
	if (pid < 0)
		return -errno;
	if (!pid) {
		/*
		 * A process group of its own, to be killed as a whole, and not
		 * by a terminal's Ctrl-C.
		 */
		if (setpgid(0, 0))
			_exit(1);
		signal(SIGTERM, SIG_IGN);
		signal(SIGCHLD, SIG_IGN);
		/* alarm() must kill us even if our parent ignored SIGALRM */
		signal(SIGALRM, SIG_DFL);
		sigemptyset(&none);
		sigprocmask(SIG_SETMASK, &none, NULL);
		drop_descriptors(theirs);
		start_helpers();
	}
	*ret = (struct file_helpers){.socket = TAKE_FD(ours), .pid = pid};
	return 0;
}

int file_helpers_connect(const struct file_helpers *helpers)
{
	int sockets[2], err = fd_message_pair(sockets);
	char byte = 0;

	if (err)
		return err;
	err = fd_message_send(helpers->socket, &byte, sizeof(byte), sockets[1]);
	close(sockets[1]);
	if (!err)
		return sockets[0];
	close(sockets[0]);
	return err;
}

void file_helpers_stop(struct file_helpers *helpers)
{
	if (helpers->socket < 0)
		return;
	close(helpers->socket);
	helpers->socket = -1;
	waitpid(helpers->pid, NULL, 0); /* does not block: the starter accesses no files */
}
