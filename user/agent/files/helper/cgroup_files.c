/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/cgroup_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

int cgroup_files_read(uint32_t pid, char *buf, size_t room_bytes, size_t *ret_bytes)
{
	char path[64];
	AUTO_CLOSE int fd = -1;
	size_t bytes = 0;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (bytes < room_bytes) {
		ssize_t got = read(fd, buf + bytes, room_bytes - bytes);

		if (got < 0)
			return -errno;
		if (!got)
			break;
		bytes += (size_t)got;
	}
	*ret_bytes = bytes;
	return 0;
}

/* Read "NUMBER:CONTROLLERS:PATH". The names of controllers have no colon. */
static bool decode_line(const char *line, size_t bytes, struct cgroup_files_line *ret)
{
	const char *end = line + bytes, *controllers = memchr(line, ':', bytes), *path;

	controllers = controllers ? controllers + 1 : end;
	path = memchr(controllers, ':', (size_t)(end - controllers));
	if (!path || ++path == end || *path != '/')
		return false;
	*ret = (struct cgroup_files_line){
		.path = path,
		.path_bytes = (size_t)(end - path),
		.is_version_2 = path - line == 3 && *line == '0',
		.is_systemd = path - controllers == 13 && !memcmp(controllers, "name=systemd", 12),
	};
	return true;
}

/* The kernel allows no newline in the name of a cgroup. */
bool cgroup_files_next(const char **text, size_t *bytes, struct cgroup_files_line *ret)
{
	const char *newline;

	while ((newline = memchr(*text, '\n', *bytes))) {
		const char *line = *text;
		size_t line_bytes = (size_t)(newline - line);

		*text += line_bytes + 1;
		*bytes -= line_bytes + 1;
		if (decode_line(line, line_bytes, ret))
			return true;
	}
	return false;
}

int cgroup_files_path(const char *text, size_t bytes, char *ret, size_t room_bytes)
{
	struct cgroup_files_line line;

	while (cgroup_files_next(&text, &bytes, &line)) {
		if (!line.is_version_2)
			continue;
		if (line.path_bytes >= room_bytes)
			return -ENAMETOOLONG;
		memcpy(ret, line.path, line.path_bytes);
		ret[line.path_bytes] = '\0';
		return 0;
	}
	return -ENOENT;
}
