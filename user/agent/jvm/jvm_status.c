/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_status.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns what follows the name of a line, or NULL. */
static const char *find(const char *text, const char *name)
{
	const char *line = strstr(text, name);

	return line ? line + strlen(name) : NULL;
}

/* Read real, effective, saved and file system ID. Returns false if they are missing. */
static bool read_ids(const char *text, const char *name, uint32_t *ret, bool *ret_equal)
{
	const char *line = find(text, name);
	uint32_t ids[4];

	if (!line || sscanf(line, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	*ret = ids[1];
	*ret_equal = ids[0] == ids[1] && ids[1] == ids[2] && ids[2] == ids[3];
	return true;
}

/* One pid for each namespace, the innermost last. */
static uint32_t read_inner_pid(const char *text)
{
	const char *at = find(text, "\nNSpid:");
	uint32_t pid = 0;

	while (at && *at == '\t') {
		char *end;

		pid = (uint32_t)strtoul(at + 1, &end, 10);
		at = end;
	}
	return pid;
}

int jvm_status_parse(const char *text, struct jvm_status *ret)
{
	const char *caught = find(text, "\nSigCgt:\t"), *state = find(text, "\nState:\t");
	struct jvm_status status = {.inner_pid = read_inner_pid(text)};
	bool same_user, same_group;

	if (!caught || !status.inner_pid || !read_ids(text, "\nUid:", &status.uid, &same_user) ||
	    !read_ids(text, "\nGid:", &status.gid, &same_group))
		return -EBADMSG;
	status.one_identity = same_user && same_group;
	status.stopped = state && *state && strchr("TtD", *state);
	status.ended = state && (*state == 'Z' || *state == 'X');
	status.catches_quit = strtoull(caught, NULL, 16) >> (SIGQUIT - 1) & 1;
	*ret = status;
	return 0;
}

uint32_t jvm_root_parse(const char *uid_map)
{
	for (const char *line = uid_map; line; line = find(line, "\n")) {
		uint32_t inner, outer, count;

		if (sscanf(line, "%u %u %u", &inner, &outer, &count) == 3 && !inner && count)
			return outer;
	}
	return JVM_NO_USER;
}
