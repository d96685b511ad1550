/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The processes that `record` profiles, by pid, name, user, cgroup or container. */
#ifndef JITBPF_RUN_TARGET_CHOICE_H
#define JITBPF_RUN_TARGET_CHOICE_H

#include <stdbool.h>
#include <stdio.h>

#include "agent/live/live_filter.h"
#include "agent/machine/cgroups.h"
#include "base/lists.h"

struct choice_options {
	string_list processes; /* comma-separated: all pids, or all names */
	string_list users, cgroups, containers;
	bool exclude_self;
};

/* What the options select (cli/choose.h). Empty if zero-initialized. */
struct choice {
	pid_list pids;
	struct live_filter filter; /* borrows from cgroups */
	cgroup_list cgroups;
};

void choice_deinit(struct choice *choice);

/* Returns true if each sample is checked for a name, user or cgroup. */
static inline bool choice_checks_samples(const struct choice *choice)
{
	const struct live_filter *filter = &choice->filter;

	return filter->name_count || filter->user_count || filter->cgroup_count;
}

/*
 * Returns true if processes are chosen by name, user or cgroup only, on the whole machine, and not
 * by pid.
 */
static inline bool choice_is_wide(const struct choice *choice)
{
	return !choice->pids.size && choice_checks_samples(choice);
}

/* Write the choice in words, such as "1, 2 of user www in cgroup /a"; nothing if there is none. */
void choice_write(const struct choice_options *options, const struct choice *choice, FILE *out);

#endif
