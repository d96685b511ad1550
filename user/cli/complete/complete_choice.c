/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Candidates for -u and -G of `record`: the users and cgroups that have processes. */
#include <pwd.h>
#include <stdio.h>
#include <string.h>

#include "agent/files/helper/cgroup_files.h"
#include "agent/kernel/proc/process_scan.h"
#include "base/scope.h"
#include "cli/complete/complete_state.h"
#include "decode/text/cgroup_path.h"

#define CGROUP_TEXT_BYTES 16384

static void add_once(struct completion *completion, const char *value, const char *about)
{
	vec_for_each (candidate, &completion->candidates) {
		if (!strcmp(candidate->value + completion->fixed, value))
			return;
	}
	completion_add(completion, value, about, NULL);
}

/* Call add for each process of the machine. */
static void each_process(struct completion *completion,
			 void (*add)(struct completion *completion, uint32_t pid))
{
	process_pids pids = {0};

	if (!process_scan_list(&pids)) {
		vec_for_each (pid, &pids)
			add(completion, *pid);
	}
	vec_deinit(&pids);
}

/* Add the user with the process's real user ID, which -u means. */
static void add_user(struct completion *completion, uint32_t pid)
{
	AUTO_FCLOSE FILE *status = NULL;
	const struct passwd *user;
	unsigned uid = 0;
	char text[128];

	snprintf(text, sizeof(text), "/proc/%u/status", pid);
	status = fopen(text, "re");
	while (status && fgets(text, sizeof(text), status)) {
		if (sscanf(text, "Uid: %u", &uid) != 1)
			continue;
		user = getpwuid(uid);
		snprintf(text, sizeof(text), "%u", uid);
		add_once(completion, user ? user->pw_name : text, "a user who runs processes");
		return;
	}
}

void completion_add_users(struct completion *completion)
{
	each_process(completion, add_user);
}

/* Add a cgroup and those that it is in, by path; or a unit, by name. */
static void add_cgroup(struct completion *completion, uint32_t pid)
{
	char text[CGROUP_TEXT_BYTES], path[JITBPF_CGROUP_PATH_MAX];
	struct cgroup_path_names names;
	size_t bytes;

	if (cgroup_files_read(pid, text, sizeof(text), &bytes) ||
	    cgroup_files_path(text, bytes, path, sizeof(path)))
		return;
	cgroup_path_names(path, &names);
	if (*names.unit)
		add_once(completion, names.unit, "a unit with processes");
	for (char *end = strrchr(path, '/'); end && path[1]; end = strrchr(path, '/')) {
		add_once(completion, path, "a cgroup with processes");
		*end = '\0';
		if (end == path)
			break;
	}
}

void completion_add_cgroups(struct completion *completion)
{
	each_process(completion, add_cgroup);
}
