/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/launch/ssh_session.h"

#include <stdio.h>
#include <unistd.h>

#include "base/scope.h"
#include "base/text.h"

#define ANCESTORS_MAX 100
#define VARIABLES_MAX 10000
#define VARIABLE      "SSH_CONNECTION="

/* Returns 0 if there is none. */
static pid_t parent_of(pid_t pid)
{
	AUTO_FCLOSE FILE *file = NULL;
	char path[64], line[256];
	int parent;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "PPid: %d", &parent) == 1)
			return parent;
	return 0;
}

static bool has_variable(pid_t pid)
{
	AUTO_FCLOSE FILE *file = NULL;
	AUTO_FREE char *line = NULL;
	size_t room = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", pid);
	file = fopen(path, "re");
	for (int i = 0; file && i < VARIABLES_MAX && getdelim(&line, &room, '\0', file) > 0; i++)
		if (begins_with(line, VARIABLE))
			return true;
	return false;
}

bool ssh_session_is(void)
{
	pid_t pid = getpid();

	for (int i = 0; i < ANCESTORS_MAX && pid > 0; i++, pid = parent_of(pid))
		if (has_variable(pid))
			return true;
	return false;
}
