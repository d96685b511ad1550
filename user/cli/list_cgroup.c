/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/list_cgroup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/cgroup_files.h"
#include "agent/files/helper/container_names.h"
#include "decode/text/cgroup_path.h"

#define TEXT_BYTES    16384
#define ID_CHARACTERS 64

/* Only the user who runs a container without root reads the files in that user's home. */
static int name_of(const char *path, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	uint32_t user;
	int err = -ENOENT;

	if (!cgroup_path_user(path, &user)) /* who can give a cgroup the ID of any container */
		return container_name_of_id("", id, ret);
	return user == geteuid() ? container_name_of_user("", user, id, ret) : err;
}

/* Set *ret from a path. No effect if the path has neither a container nor a unit. */
static bool take_path(const char *path, struct list_cgroup *ret)
{
	struct cgroup_path_names names;
	struct list_cgroup found = {""};

	if (!strcmp(path, "/"))
		return false;
	cgroup_path_names(path, &names);
	if (strlen(names.container) != ID_CHARACTERS ||
	    name_of(path, names.container, found.container)) {
		strcpy(found.container, names.container);
		if (strlen(names.container) == ID_CHARACTERS)
			found.container[CGROUP_PATH_SHORT_ID] = '\0';
	}
	strcpy(found.unit, names.unit);
	if (!*found.container && !*found.unit)
		strcpy(found.path, path);
	*ret = found;
	return true;
}

/* Hierarchies of version 1: "NUMBER:CONTROLLERS:PATH". */
static void take_version_1(const char *text, size_t bytes, struct list_cgroup *ret)
{
	char path[JITBPF_CGROUP_PATH_MAX];
	struct cgroup_files_line line;

	while (cgroup_files_next(&text, &bytes, &line)) {
		struct list_cgroup found = {""};

		if (line.path_bytes >= sizeof(path))
			continue;
		memcpy(path, line.path, line.path_bytes);
		path[line.path_bytes] = '\0';
		if (!take_path(path, &found))
			continue;
		if (*found.container) {
			*ret = found;
			return;
		}
		if (line.is_systemd)
			*ret = found;
	}
}

void list_cgroup_read(uint32_t pid, struct list_cgroup *ret)
{
	char text[TEXT_BYTES], path[JITBPF_CGROUP_PATH_MAX];
	size_t bytes;

	memset(ret, 0, sizeof(*ret));
	if (cgroup_files_read(pid, text, sizeof(text), &bytes))
		return;
	if (!cgroup_files_path(text, bytes, path, sizeof(path)) && take_path(path, ret))
		return;
	take_version_1(text, bytes, ret);
}

const char *list_cgroup_text(const struct list_cgroup *cgroup)
{
	return *cgroup->container ? cgroup->container : *cgroup->unit ? cgroup->unit : cgroup->path;
}
