/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/target/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/kernel/proc/process_scan.h"
#include "run/messages/say.h"
#include "sink/sink.h"

static int complain(int err, const char *what)
{
	say("jitbpf: %s: %s\n", what, strerror(-err));
	return err;
}

bool target_is_some(const struct target_options *options)
{
	return !options->system_wide && !choice_is_wide(&options->choice) &&
	       (options->command || options->choice.pids.size);
}

char *target_line(const struct target_options *options)
{
	char *line = NULL;
	size_t size;
	bool is_chosen = options->choice.pids.size || choice_is_wide(&options->choice);
	FILE *text = open_memstream(&line, &size);

	if (!text)
		return NULL;
	if (is_chosen) {
		fputs(RUN_OF_PROCESSES, text);
		choice_write(&options->choose, &options->choice, text);
		if (options->command)
			fputs(", during ", text);
	}
	for (char **arg = options->command; arg && *arg; arg++)
		fprintf(text, "%s%s", arg == options->command ? "" : " ", *arg);
	if (fclose(text)) {
		free(line);
		return NULL;
	}
	return line;
}

static int follow(struct target *target, uint32_t pid, struct live_source *live)
{
	uint32_t leader = process_scan_leader(pid);
	int err;

	if (!leader)
		say("jitbpf: process %u does not exist\n", pid);
	else if (leader != pid)
		say("jitbpf: %u is a thread of process %u: use that pid\n", pid, leader);
	if (leader != pid)
		return -ESRCH;
	err = process_watch_add(&target->watch, pid);
	err = err ?: live_source_track(live, pid);
	return err ? complain(err, "tracking a process") : 0;
}

int target_follow(struct target *target, struct live_source *live)
{
	int err = 0;

	vec_for_each (pid, &target->options->choice.pids)
		err = err ?: follow(target, *pid, live);
	/* Beside chosen processes, a command only says how long to record. */
	if (err || !target->has_command || target->options->choice.pids.size)
		return err;
	err = live_source_track(live, (uint32_t)target->command.pid);
	return err ? complain(err, "tracking the command") : 0;
}

int target_prepare_command(struct target *target, const struct command_environment *environment)
{
	int err;

	if (!target->options->command)
		return 0;
	err = command_init(&target->command, target->options->command, environment);
	if (err)
		return complain(err, "starting the command");
	target->has_command = true;
	return 0;
}

int target_go(struct target *target)
{
	int err = target->has_command ? command_go(&target->command) : 0;
	const char *name;

	if (!err)
		return 0;
	target->command_failed = true;
	name = target->options->command[0];
	if (err == -ENOENT && !name[strspn(name, "0123456789")])
		say("jitbpf: no program '%s': a process is chosen with -p %s\n", name, name);
	else
		complain(err, name);
	return err;
}

int target_fd(const struct target *target)
{
	return target->has_command ? target->command.pidfd : -1;
}

bool target_ended(struct target *target)
{
	return (target->has_command && command_ended(&target->command, false)) ||
	       process_watch_ended(&target->watch);
}

int target_end(struct target *target, int status)
{
	if (target->has_command) {
		if (target->command_failed)
			command_ended(&target->command, true);
		if ((!status || target->command_failed) && !target->command.pid)
			status = command_exit_status(&target->command);
		command_deinit(&target->command);
	}
	process_watch_deinit(&target->watch);
	return status;
}
