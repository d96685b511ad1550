/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What record profiles: a command, processes with their children, or the whole system. */
#ifndef JITBPF_CLI_SUBJECT_H
#define JITBPF_CLI_SUBJECT_H

#include <stdbool.h>

#include "agent/command.h"
#include "agent/live_source.h"
#include "agent/process_watch.h"
#include "cli/options.h"

struct subject_options {
	pid_list pids;
	bool system_wide;
	char **command; /* NULL: none */
};

/* With options set and all else zero it follows nothing yet. */
struct subject {
	const struct subject_options *options;
	struct process_watch watch; /* of options->pids */
	struct command command;
	bool has_command;
	bool command_failed; /* it could not even be run */
};

/* Is it some processes only, and not all there are? */
bool subject_is_some(const struct subject_options *options);

/*
 * In one line: the command, or the processes, or "" for the whole system. To be
 * freed; NULL: no memory.
 */
char *subject_line(const struct subject_options *options);

/*
 * Have the live source follow the processes; the command, which is held until
 * subject_go(). Each says itself what is wrong. Return 0 or negative errno.
 */
int subject_follow_processes(struct subject *subject, struct live_source *live);
int subject_prepare_command(struct subject *subject, const struct command_environment *environment,
			    struct live_source *live);
int subject_go(struct subject *subject);

/* Readable when the command has ended; -1: there is none. */
int subject_fd(const struct subject *subject);

/* Has the command ended, or the last of the processes? */
bool subject_ended(struct subject *subject);

/*
 * End all, the command too. Returns the status to exit with: that of the command
 * where it ended by itself and `status`, that of the recording, is 0.
 */
int subject_end(struct subject *subject, int status);

#endif
