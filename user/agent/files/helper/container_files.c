/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/container_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

const char *const podman_files[PODMAN_FILES] = {
	"overlay-containers/containers.json",
	"overlay-containers/volatile-containers.json",
	"vfs-containers/containers.json",
	"vfs-containers/volatile-containers.json",
};

bool container_id_begins(const char *text)
{
	return strspn(text, "0123456789abcdef") >= CONTAINER_ID_CHARACTERS;
}

bool container_id_is(const char *text)
{
	return strlen(text) == CONTAINER_ID_CHARACTERS && container_id_begins(text);
}

bool container_path_set(char ret[PATH_MAX], const char *format, ...)
{
	va_list values;
	int bytes;

	va_start(values, format);
	bytes = vsnprintf(ret, PATH_MAX, format, values);
	va_end(values);
	return bytes >= 0 && bytes < PATH_MAX;
}

char *container_file_read(int fd)
{
	AUTO_FREE char *text = fd < 0 ? NULL : malloc(CONTAINER_FILE_BYTES_MAX);
	size_t size = 0;

	while (text && size < CONTAINER_FILE_BYTES_MAX) {
		ssize_t got = read(fd, text + size, CONTAINER_FILE_BYTES_MAX - size);

		if (got < 0)
			return NULL;
		if (!got) {
			text[size] = '\0';
			return TAKE_PTR(text);
		}
		size += (size_t)got;
	}
	return NULL;
}

char *container_file_text(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	return container_file_read(fd);
}

/* Copy a name up to its quote. Returns 0, or -ENOENT if it is no name. */
static int copy_name(const char *from, char ret[JITBPF_CGROUP_NAME_MAX])
{
	size_t bytes = strcspn(from, "\"");

	if (!bytes || bytes >= JITBPF_CGROUP_NAME_MAX || !from[bytes] || memchr(from, '\\', bytes))
		return -ENOENT;
	memcpy(ret, from, bytes);
	ret[bytes] = '\0';
	return 0;
}

int docker_name(const char *text, char ret[JITBPF_CGROUP_NAME_MAX])
{
	static const char key[] = "\"Name\":\"/";
	const char *at = text ? strstr(text, key) : NULL;

	return at ? copy_name(at + strlen(key), ret) : -ENOENT;
}

bool podman_next(const char **at, struct podman_container *ret)
{
	static const char id_key[] = "\"id\":\"", names_key[] = "\"names\":[";
	const char *found = *at ? strstr(*at, id_key) : NULL, *next;

	if (!found)
		return false;
	*ret = (struct podman_container){.id = found + strlen(id_key)};
	*at = ret->id;
	/* In the object of a container, the ID comes before the names. */
	next = strstr(ret->id, id_key) ?: strchr(ret->id, '\0');
	found = memmem(ret->id, (size_t)(next - ret->id), names_key, strlen(names_key));
	ret->end = found ? memchr(found, ']', (size_t)(next - found)) : NULL;
	if (ret->end)
		ret->names = found + strlen(names_key);
	return true;
}

int podman_name(const char *text, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	struct podman_container container;

	while (podman_next(&text, &container)) {
		if (!strncmp(container.id, id, CONTAINER_ID_CHARACTERS))
			return container.names && *container.names == '"'
				       ? copy_name(container.names + 1, ret)
				       : -ENOENT;
	}
	return -ENOENT;
}

bool kubernetes_log_parse(const char *file, struct kubernetes_log *ret)
{
	const char *space = strchr(file, '_'), *container = space ? strchr(space + 1, '_') : NULL;
	const char *end = strrchr(file, '-');

	if (!container || !end || end < container || !container_id_begins(end + 1) ||
	    strcmp(end + 1 + CONTAINER_ID_CHARACTERS, ".log"))
		return false;
	*ret = (struct kubernetes_log){
		.pod = file,
		.container = container + 1,
		.id = end + 1,
		.pod_bytes = (size_t)(space - file),
		.container_bytes = (size_t)(end - container - 1),
	};
	return true;
}
