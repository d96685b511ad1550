/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/target/choice.h"

void choice_deinit(struct choice *choice)
{
	vec_deinit(&choice->pids);
	cgroup_list_deinit(&choice->cgroups);
}

static void write_list(const string_list *list, const char *before, FILE *out)
{
	vec_for_each (item, list)
		fprintf(out, "%s%s", item == list->data ? before : ", ", *item);
}

void choice_write(const struct choice_options *options, const struct choice *choice, FILE *out)
{
	write_list(&options->processes, "", out);
	write_list(&options->users, options->processes.size ? " of user " : "of user ", out);
	vec_for_each (cgroup, &choice->cgroups)
		fprintf(out, "%s%s",
			cgroup != choice->cgroups.data			 ? ", "
			: options->processes.size || options->users.size ? " in cgroup "
									 : "in cgroup ",
			cgroup->path);
}
