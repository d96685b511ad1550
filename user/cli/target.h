/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What record profiles: a command, processes with their children, or the whole system. */
#ifndef JITBPF_CLI_TARGET_H
#define JITBPF_CLI_TARGET_H

#include <stdbool.h>

#include "agent/launch/command.h"
#include "agent/kernel/live_source.h"
#include "agent/launch/process_watch.h"
#include "cli/options.h"

struct target_options {
	pid_list pids;
	bool system_wide;
	char **command; /* NULL: none */
};

/* With options set and all else zero it follows nothing yet. */
struct target {
	const struct target_options *options;
	struct process_watch watch; /* of options->pids */
	struct command command;
	bool has_command;
	bool command_failed; /* it could not even be run */
};

/* Is it some processes only, and not all there are? */
bool target_is_some(const struct target_options *options);

/*
 * In one line: the command, or the processes, or "" for the whole system. To be
 * freed; NULL: no memory.
 */
char *target_line(const struct target_options *options);

/*
 * Have the live source follow the processes; the command, which is held until
 * target_go(). Each says itself what is wrong. Return 0 or negative errno.
 */
int target_follow_processes(struct target *target, struct live_source *live);
int target_prepare_command(struct target *target, const struct command_environment *environment,
			   struct live_source *live);
int target_go(struct target *target);

/* Readable when the command has ended; -1: there is none. */
int target_fd(const struct target *target);

/* Has the command ended, or the last of the processes? */
bool target_ended(struct target *target);

/*
 * End all, the command too. Returns the status to exit with: that of the command
 * where it ended by itself and `status`, that of the recording, is 0.
 */
int target_end(struct target *target, int status);

#endif
