/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/launch/engine_env.h"
#include "agent/launch/java_command.h"
#include "agent/launch/signaller.h"
#include "base/scope.h"

static int become(const struct invoking_user *user)
{
	int err = invoking_user_become(user);

	if (err || !user->by_sudo)
		return err;
	if (setenv("HOME", user->home, 1) || setenv("USER", user->name, 1) ||
	    setenv("LOGNAME", user->name, 1))
		return -ENOMEM;
	return 0;
}

/* The terminal shows something else: its keys and its screen are not the command's. */
static void leave_terminal(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = 0; fd <= STDERR_FILENO && nothing >= 0; fd++) {
		if (isatty(fd))
			dup2(nothing, fd);
	}
}

static void __attribute__((noreturn))
run(int go_fd, int fail_fd, char *const argv[], const struct command_environment *environment)
{
	char **with_agent = NULL;
	sigset_t none;
	char go;
	int err;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	signal(SIGPIPE, environment->on_pipe);
	if (read(go_fd, &go, 1) != 1)
		_exit(127); /* jitbpf failed before command_go() */
	if (environment->shim_path)
		engine_env_apply(environment->shim_path, &environment->choice);
	setrlimit(RLIMIT_NOFILE, &environment->open_files);
	if (environment->output_to_stderr)
		dup2(STDERR_FILENO, STDOUT_FILENO);
	if (environment->no_terminal)
		leave_terminal();
	err = become(environment->user);
	if (!err) {
		if (environment->shim_path && access(environment->shim_path, R_OK))
			dprintf(STDERR_FILENO,
				"jitbpf: the command cannot read %s: its JIT code will have no "
				"names (install it where everybody can)\n",
				environment->shim_path);
		if (environment->jvm_agent &&
		    !java_command_make(argv, environment->jvm_agent, &with_agent) && with_agent)
			argv = with_agent;
		execvp(argv[0], argv);
		err = -errno;
	}
	/*
	 * Exit status as of a shell: 127 if the command does not exist, 126 if
	 * it cannot be executed.
	 */
	if (write(fail_fd, &err, sizeof(err)) != sizeof(err))
		_exit(126);
	_exit(err == -ENOENT ? 127 : 126);
}

int command_init(struct command *command, char *const argv[],
		 const struct command_environment *environment)
{
	int go[2], fail[2];
	pid_t pid;

	if (pipe2(go, O_CLOEXEC))
		return -errno;
	if (pipe2(fail, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return -errno;
	}
	pid = fork();
	if (!pid) {
		close(go[1]);
		run(go[0], fail[1], argv, environment);
	}
	close(go[0]);
	close(fail[1]);
	if (pid < 0) {
		int err = -errno;

		close(go[1]);
		close(fail[0]);
		return err;
	}
	*command = (struct command){
		.broker = environment->broker,
		.pid = pid,
		.go_fd = go[1],
		.fail_fd = fail[0],
		.pidfd = (int)syscall(SYS_pidfd_open, pid, 0),
	};
	return 0;
}

int command_go(struct command *command)
{
	int err = 0;

	if (write(command->go_fd, "g", 1) != 1)
		return -errno;
	/* A successful exec closes the other end, so that read() returns 0. */
	if (read(command->fail_fd, &err, sizeof(err)) != sizeof(err))
		return 0;
	return err;
}

bool command_ended(struct command *command, bool wait)
{
	pid_t got;

	if (!command->pid)
		return true;
	do
		got = waitpid(command->pid, &command->status, wait ? 0 : WNOHANG);
	while (got < 0 && errno == EINTR);
	if (got == command->pid)
		command->pid = 0;
	return !command->pid;
}

int command_exit_status(const struct command *command)
{
	return WIFSIGNALED(command->status) ? 128 + WTERMSIG(command->status)
					    : WEXITSTATUS(command->status);
}

void command_deinit(struct command *command)
{
	if (command->pid) {
		if (kill(command->pid, SIGTERM) && errno == EPERM)
			signaller_send(command->broker, command->pidfd, SIGTERM);
		close(command->go_fd); /* the child may still wait for the byte */
		command->go_fd = -1;
		command_ended(command, true);
	}
	scope_close(&command->go_fd);
	scope_close(&command->fail_fd);
	scope_close(&command->pidfd);
}
