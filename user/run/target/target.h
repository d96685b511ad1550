/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The target of `record`: a command, processes with their children, or the whole system, possibly
 * only chosen processes of it.
 */
#ifndef JITBPF_RUN_TARGET_TARGET_H
#define JITBPF_RUN_TARGET_TARGET_H

#include <stdbool.h>

#include "agent/launch/command.h"
#include "agent/launch/process_watch.h"
#include "agent/live/live_source.h"
#include "run/target/choice.h"

struct target_options {
	struct choice_options choose;
	struct choice choice; /* the users, cgroups and processes that `choose` selects */
	bool system_wide;
	char **command; /* NULL if there is none */
};

/* With options set and all else zero, nothing is tracked yet. */
struct target {
	const struct target_options *options;
	struct process_watch watch; /* of the chosen pids */
	struct command command;
	bool has_command;
	bool command_failed; /* exec failed */
};

/* Returns true if only a command, or processes by their pids, and their children are profiled. */
bool target_is_some(const struct target_options *options);

/*
 * Returns one line of text: the command, the chosen processes and the command that says how long,
 * or "" for the whole system.
 * The caller frees it. NULL if memory is short.
 */
char *target_line(const struct target_options *options);

/*
 * Fork the command, make the live source track the processes or the command, or
 * let the command run. Each prints a message on errors. Return 0 or a negative
 * errno.
 */
int target_prepare_command(struct target *target, const struct command_environment *environment);
int target_follow(struct target *target, struct live_source *live);
int target_go(struct target *target);

/* Returns a descriptor that is readable when the command has ended, or -1 without a command. */
int target_fd(const struct target *target);

/* Returns true if the command or the last of the processes has ended. */
bool target_ended(struct target *target);

/*
 * Release the target; a running command is terminated. Returns the exit status:
 * that of the command if it ended by itself and `status`, the status of the
 * recording, is 0.
 */
int target_end(struct target *target, int status);

#endif
