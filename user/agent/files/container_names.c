/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/container_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/text.h"
#include "uapi/record.h"

#define ID_CHARACTERS  64
#define FILE_BYTES_MAX (4u << 20)

DEFINE_CLEANUP(DIR *, closedir);

void name_list_deinit(name_list *list)
{
	vec_for_each (name, list)
		free(*name);
	vec_deinit(list);
}

static bool is_id(const char *text)
{
	return strspn(text, "0123456789abcdef") >= ID_CHARACTERS;
}

static int add(name_list *list, const char *id)
{
	AUTO_FREE char *copy = strndup(id, ID_CHARACTERS);

	if (!copy || vec_push(list, copy))
		return -ENOMEM;
	TAKE_PTR(copy);
	return 0;
}

/* --- files of runtimes ----------------------------------------------------------------- */

/* Returns the text of a file for free(), or NULL: it is no file, or too large. */
static char *read_text(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	AUTO_FREE char *text = fd < 0 ? NULL : malloc(FILE_BYTES_MAX);
	size_t size = 0;

	while (text && size < FILE_BYTES_MAX) {
		ssize_t got = read(fd, text + size, FILE_BYTES_MAX - size);

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

/* Docker has a file for each container, written by Go without spaces. */
static int docker_ids(const char *root, const char *name, name_list *list)
{
	AUTO_FREE char *folder = NULL, *words = NULL;
	CLEANUP(closedirp) DIR *containers = NULL;
	struct dirent *entry;
	int err = 0;

	if (asprintf(&folder, "%s/var/lib/docker/containers", root) < 0 ||
	    asprintf(&words, "\"Name\":\"/%s\"", name) < 0)
		return -ENOMEM;
	containers = opendir(folder);
	while (!err && containers && (entry = readdir(containers))) {
		AUTO_FREE char *path = NULL, *text = NULL;

		if (strlen(entry->d_name) != ID_CHARACTERS || !is_id(entry->d_name))
			continue;
		if (asprintf(&path, "%s/%s/config.v2.json", folder, entry->d_name) < 0)
			return -ENOMEM;
		text = read_text(path);
		if (text && strstr(text, words))
			err = add(list, entry->d_name);
	}
	return err;
}

/* Podman has one file; in the object of a container, the ID comes before the names. */
static int podman_ids(const char *root, const char *name, name_list *list)
{
	static const char id_key[] = "\"id\":\"", names_key[] = "\"names\":[";
	AUTO_FREE char *path = NULL, *text = NULL, *word = NULL;
	char *at;
	int err = 0;

	if (asprintf(&path, "%s/var/lib/containers/storage/overlay-containers/containers.json",
		     root) < 0 ||
	    asprintf(&word, "\"%s\"", name) < 0)
		return -ENOMEM;
	text = read_text(path);
	at = text;
	while (!err && at && (at = strstr(at, id_key))) {
		const char *id = at + strlen(id_key), *next = strstr(id, id_key);
		const char *names = strstr(id, names_key), *end = names ? strchr(names, ']') : NULL;
		const char *found = names ? strstr(names, word) : NULL;

		if (is_id(id) && found && end && found < end && (!next || end < next))
			err = add(list, id);
		at += strlen(id_key);
	}
	return err;
}

/* The kubelet links logs as POD_NAMESPACE_CONTAINER-ID.log. */
static int kubernetes_ids(const char *root, const char *name, name_list *list)
{
	AUTO_FREE char *folder = NULL;
	CLEANUP(closedirp) DIR *logs = NULL;
	size_t name_bytes = strlen(name);
	struct dirent *entry;
	int err = 0;

	if (asprintf(&folder, "%s/var/log/containers", root) < 0)
		return -ENOMEM;
	logs = opendir(folder);
	while (!err && logs && (entry = readdir(logs))) {
		const char *file = entry->d_name, *space = strchr(file, '_'),
			   *container = space ? strchr(space + 1, '_') : NULL,
			   *id = strrchr(file, '-');

		if (!container || !id || id < container || !is_id(id + 1) ||
		    strcmp(id + 1 + ID_CHARACTERS, ".log"))
			continue;
		container++;
		if (((size_t)(space - file) == name_bytes && !memcmp(file, name, name_bytes)) ||
		    ((size_t)(id - container) == name_bytes &&
		     !memcmp(container, name, name_bytes)))
			err = add(list, id + 1);
	}
	return err;
}

int container_ids_of_name(const char *root, const char *name, name_list *list)
{
	if (!*name || strpbrk(name, "\"\\/") || strlen(name) >= JITBPF_CGROUP_NAME_MAX)
		return 0;
	return docker_ids(root, name, list) ?: podman_ids(root, name, list)
					       ?: kubernetes_ids(root, name, list);
}

/* --- names of IDs ------------------------------------------------------------------------ */

/* Copy a name up to one of the characters in `end`. Returns 0, or -ENOENT if it is no name. */
static int copy_name(const char *from, const char *end, char ret[JITBPF_CGROUP_NAME_MAX])
{
	size_t bytes = strcspn(from, end);

	if (!bytes || bytes >= JITBPF_CGROUP_NAME_MAX || !from[bytes] || memchr(from, '\\', bytes))
		return -ENOENT;
	memcpy(ret, from, bytes);
	ret[bytes] = '\0';
	return 0;
}

static int docker_name(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	static const char key[] = "\"Name\":\"/";
	AUTO_FREE char *path = NULL, *text = NULL;
	const char *at;

	if (asprintf(&path, "%s/var/lib/docker/containers/%s/config.v2.json", root, id) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	text = read_text(path);
	at = text ? strstr(text, key) : NULL;
	return at ? copy_name(at + strlen(key), "\"", ret) : -ENOENT;
}

static int podman_name(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	static const char id_key[] = "\"id\":\"", names_key[] = "\"names\":[\"";
	AUTO_FREE char *path = NULL, *text = NULL;
	const char *at;

	if (asprintf(&path, "%s/var/lib/containers/storage/overlay-containers/containers.json",
		     root) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	text = read_text(path);
	for (at = text; at && (at = strstr(at, id_key));) {
		const char *next, *names;

		at += strlen(id_key);
		if (strncmp(at, id, ID_CHARACTERS) != 0)
			continue;
		next = strstr(at, id_key);
		names = strstr(at, names_key);
		return names && (!next || names < next)
			       ? copy_name(names + strlen(names_key), "\"", ret)
			       : -ENOENT;
	}
	return -ENOENT;
}

/* POD_NAMESPACE_CONTAINER-ID.log becomes POD/CONTAINER. */
static int kubernetes_name(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_FREE char *folder = NULL;
	CLEANUP(closedirp) DIR *logs = NULL;
	struct dirent *entry;

	if (asprintf(&folder, "%s/var/log/containers", root) < 0) {
		folder = NULL;
		return -ENOMEM;
	}
	logs = opendir(folder);
	while (logs && (entry = readdir(logs))) {
		const char *file = entry->d_name, *space = strchr(file, '_'),
			   *container = space ? strchr(space + 1, '_') : NULL,
			   *end = strrchr(file, '-');
		int size;

		if (!container || !end || end < container || !is_id(end + 1) ||
		    strncmp(end + 1, id, ID_CHARACTERS) != 0)
			continue;
		container++;
		size = snprintf(ret, JITBPF_CGROUP_NAME_MAX, "%.*s/%.*s", (int)(space - file), file,
				(int)(end - container), container);
		return size < JITBPF_CGROUP_NAME_MAX ? 0 : -ENOENT;
	}
	return -ENOENT;
}

int container_name_of_id(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	int err;

	if (strlen(id) != ID_CHARACTERS || !is_id(id))
		return -ENOENT;
	err = docker_name(root, id, ret);
	err = err == -ENOENT ? podman_name(root, id, ret) : err;
	return err == -ENOENT ? kubernetes_name(root, id, ret) : err;
}
