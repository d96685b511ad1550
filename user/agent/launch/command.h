/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The command that record runs: held until all is attached, then let go. */
#ifndef JITBPF_AGENT_LAUNCH_COMMAND_H
#define JITBPF_AGENT_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

/* What the command finds. */
struct command_environment {
	const char *shim_path;	     /* for engine_env.h; NULL: leave the environment alone */
	struct rlimit open_files;    /* the limit that jitbpf itself was started with */
	void (*on_pipe)(int signal); /* what becomes of SIGPIPE: SIG_DFL or SIG_IGN */
};

struct command {
	pid_t pid;   /* 0: none, or it has been waited for */
	int go_fd;   /* write a byte: run */
	int fail_fd; /* an errno comes where it could not be run */
	int pidfd;   /* readable when it has ended */
	int status;  /* as of waitpid(), once it has ended */
};

/*
 * Fork a process that will run argv in that environment, as the user who called
 * sudo if there is one. It waits for command_go(). Returns 0 or negative errno.
 */
int command_init(struct command *command, char *const argv[],
		 const struct command_environment *environment);

/* Let it run. Returns 0, or negative errno with which it could not be run. */
int command_go(struct command *command);

/* Look whether it has ended; with wait, until it has. True if it has. */
bool command_ended(struct command *command, bool wait);

/* What a shell would say: its exit status, or 128 and the signal. */
int command_exit_status(const struct command *command);

/* Ask it to end if it still runs, wait for it, and release all. */
void command_deinit(struct command *command);

#endif
