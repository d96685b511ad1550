/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/cgroup_files.h"

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

/* The kernel allows no newline in the name of a cgroup. */
int cgroup_files_path(const char *text, size_t bytes, char *ret, size_t room_bytes)
{
	static const char begin[] = "0::/";
	const char *end = text + bytes;

	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t line_bytes = (size_t)((newline ?: end) - text);

		if (newline && line_bytes >= strlen(begin) && !memcmp(text, begin, strlen(begin))) {
			text += strlen(begin) - 1;
			line_bytes -= strlen(begin) - 1;
			if (line_bytes >= room_bytes)
				return -ENAMETOOLONG;
			memcpy(ret, text, line_bytes);
			ret[line_bytes] = '\0';
			return 0;
		}
		text += line_bytes + 1;
	}
	return -ENOENT;
}
