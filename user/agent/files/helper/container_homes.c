/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Names of containers that users run without root, from the files in their homes. */
#include "agent/files/helper/container_names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/files/helper/container_files.h"
#include "agent/files/helper/nerdctl_names.h"
#include "base/scope.h"

/* Copy the home of a user from the text of /etc/passwd. Returns false if there is none. */
static bool home_of(const char *text, uint32_t uid, char ret[PATH_MAX])
{
	char id[16];

	snprintf(id, sizeof(id), "%u", uid);
	for (const char *line = text; line && *line; line = strchr(line, '\n')) {
		const char *field[7];
		size_t count = 0, bytes;

		line += *line == '\n';
		for (const char *at = line; at && count < ARRAY_SIZE(field);) {
			size_t size = strcspn(at, ":\n");

			field[count++] = at;
			at = at[size] == ':' ? at + size + 1 : NULL;
		}
		if (count < 6 || strcspn(field[2], ":\n") != strlen(id) ||
		    strncmp(field[2], id, strlen(id)) != 0)
			continue;
		bytes = strcspn(field[5], ":\n");
		if (*field[5] != '/' || bytes >= PATH_MAX)
			return false;
		memcpy(ret, field[5], bytes);
		ret[bytes] = '\0';
		return true;
	}
	return false;
}

/*
 * Returns the text of a regular file of a user, or NULL. The path does not lead out of the home,
 * nor to another file system, which can be the user's own and hang.
 */
static char *read_of_user(int home, const char *path, uint32_t uid)
{
	struct open_how how = {
		.flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS | RESOLVE_NO_XDEV,
	};
	AUTO_CLOSE int fd = (int)syscall(SYS_openat2, home, path, &how, sizeof(how));
	struct stat st;

	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_uid != uid)
		return NULL;
	return container_file_read(fd);
}

static int name_in_home(int home, uint32_t uid, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_FREE char *docker = NULL;
	char path[256];
	int err;

	snprintf(path, sizeof(path), ".local/share/docker/containers/%s/config.v2.json", id);
	docker = read_of_user(home, path, uid);
	err = docker_name(docker, ret);
	for (size_t i = 0; i < PODMAN_FILES && err == -ENOENT; i++) {
		AUTO_FREE char *text = NULL;

		snprintf(path, sizeof(path), ".local/share/containers/storage/%s", podman_files[i]);
		text = read_of_user(home, path, uid);
		err = podman_name(text, id, ret);
	}
	return err == -ENOENT ? nerdctl_name_of_id(home, ".local/share/nerdctl", uid, id, ret)
			      : err;
}

int container_name_of_user(const char *root, uint32_t uid, const char *id,
			   char ret[JITBPF_CGROUP_NAME_MAX])
{
	char path[PATH_MAX], folder[PATH_MAX];
	AUTO_FREE char *passwd = NULL;
	AUTO_CLOSE int home = -1;

	if (!container_id_is(id) || !container_path_set(path, "%s/etc/passwd", root))
		return -ENOENT;
	passwd = container_file_text(path);
	if (!passwd || !home_of(passwd, uid, folder) ||
	    !container_path_set(path, "%s%s", root, folder))
		return -ENOENT;
	home = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return home < 0 ? -ENOENT : name_in_home(home, uid, id, ret);
}
