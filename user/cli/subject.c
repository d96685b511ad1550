/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/subject.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/process_scan.h"

static int complain(int err, const char *what)
{
	fprintf(stderr, "jitbpf: %s: %s\n", what, strerror(-err));
	return err;
}

bool subject_is_some(const struct subject_options *options)
{
	return !options->system_wide && (options->command || options->pids.size);
}

char *subject_line(const struct subject_options *options)
{
	char *line = NULL;
	size_t size;
	FILE *text = open_memstream(&line, &size);

	if (!text)
		return NULL;
	for (char **arg = options->command; arg && *arg; arg++)
		fprintf(text, "%s%s", arg == options->command ? "" : " ", *arg);
	vec_for_each (pid, &options->pids)
		fprintf(text, "%s%u", pid == options->pids.data ? "process " : ", ", *pid);
	if (fclose(text)) {
		free(line);
		return NULL;
	}
	return line;
}

static int follow(struct subject *subject, uint32_t pid, struct live_source *live)
{
	uint32_t leader = process_scan_leader(pid);
	int err;

	if (!leader)
		fprintf(stderr, "jitbpf: there is no process %u\n", pid);
	else if (leader != pid)
		fprintf(stderr, "jitbpf: %u is a thread of process %u: give that one\n", pid,
			leader);
	if (leader != pid)
		return -ESRCH;
	err = process_watch_add(&subject->watch, pid);
	err = err ?: live_source_track(live, pid);
	return err ? complain(err, "following a process") : 0;
}

int subject_follow_processes(struct subject *subject, struct live_source *live)
{
	int err = 0;

	vec_for_each (pid, &subject->options->pids)
		err = err ?: follow(subject, *pid, live);
	return err;
}

int subject_prepare_command(struct subject *subject, const struct command_environment *environment,
			    struct live_source *live)
{
	int err;

	if (!subject->options->command)
		return 0;
	err = command_init(&subject->command, subject->options->command, environment);
	if (err)
		return complain(err, "starting the command");
	subject->has_command = true;
	err = live_source_track(live, (uint32_t)subject->command.pid);
	return err ? complain(err, "following the command") : 0;
}

int subject_go(struct subject *subject)
{
	int err = subject->has_command ? command_go(&subject->command) : 0;

	if (!err)
		return 0;
	subject->command_failed = true;
	return complain(err, subject->options->command[0]);
}

int subject_fd(const struct subject *subject)
{
	return subject->has_command ? subject->command.pidfd : -1;
}

bool subject_ended(struct subject *subject)
{
	return (subject->has_command && command_ended(&subject->command, false)) ||
	       process_watch_ended(&subject->watch);
}

int subject_end(struct subject *subject, int status)
{
	if (subject->has_command) {
		if (subject->command_failed)
			command_ended(&subject->command, true);
		if ((!status || subject->command_failed) && !subject->command.pid)
			status = command_exit_status(&subject->command);
		command_deinit(&subject->command);
	}
	process_watch_deinit(&subject->watch);
	return status;
}
