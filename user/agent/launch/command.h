/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The command that `record` runs: a child that waits until all is attached, and
 * then executes it.
 */
#ifndef JITBPF_AGENT_LAUNCH_COMMAND_H
#define JITBPF_AGENT_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "agent/roles/broker.h"

#include "agent/launch/engine_env.h"
#include "agent/launch/invoking_user.h"

struct command_environment {
	const struct broker *broker; /* to end the command; borrowed until command_deinit() */
	const struct invoking_user *user;
	const char *shim_path; /* for engine_env.h; NULL leaves the environment unchanged */
	struct engine_env_choice choice; /* likewise */
	const char *jvm_agent;		 /* for java_command.h; NULL leaves the command unchanged */
	struct rlimit open_files;	 /* RLIMIT_NOFILE that jitbpf was started with */
	bool output_to_stderr;		 /* its standard output becomes its standard error */
	bool no_terminal;	     /* a standard stream that is a terminal becomes /dev/null */
	void (*on_pipe)(int signal); /* disposition of SIGPIPE: SIG_DFL or SIG_IGN */
};

struct command {
	const struct broker *broker;
	pid_t pid;   /* 0 if there is none, or after it has been waited for */
	int go_fd;   /* writing a byte starts the command */
	int fail_fd; /* delivers an errno if exec failed */
	int pidfd;   /* readable when the command has ended */
	int status;  /* as from waitpid(), after the end */
};

/*
 * Fork a process that will execute argv in that environment, as the invoking
 * user. The process waits for command_go(). Returns 0 or a negative errno.
 */
int command_init(struct command *command, char *const argv[],
		 const struct command_environment *environment);

/* Start the command. Returns 0, or the negative errno of exec. */
int command_go(struct command *command);

/* Returns true if the command has ended. With `wait` set, waits for the end. */
bool command_ended(struct command *command, bool wait);

/* Returns the exit status as a shell reports it: 128 + signal if a signal killed the command. */
int command_exit_status(const struct command *command);

/* Terminate the command if it still runs, wait for it, and free all resources. */
void command_deinit(struct command *command);

#endif
