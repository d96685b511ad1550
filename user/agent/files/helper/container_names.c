/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/container_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agent/files/helper/container_files.h"
#include "agent/files/helper/nerdctl_names.h"
#include "base/scope.h"

DEFINE_CLEANUP(DIR *, closedir);

void name_list_deinit(name_list *list)
{
	vec_for_each (name, list)
		free(*name);
	vec_deinit(list);
}

static int add(name_list *list, const char *id)
{
	AUTO_FREE char *copy = strndup(id, CONTAINER_ID_CHARACTERS);

	if (!copy || vec_push(list, copy))
		return -ENOMEM;
	TAKE_PTR(copy);
	return 0;
}

/* Returns a folder of the machine, or NULL. */
static DIR *open_folder(const char *root, const char *folder)
{
	char path[PATH_MAX];

	return container_path_set(path, "%s%s", root, folder) ? opendir(path) : NULL;
}

/* Returns the text of Docker's file of a container for free(), or NULL. */
static char *docker_text(const char *root, const char *id)
{
	char path[PATH_MAX];

	if (!container_path_set(path, "%s/var/lib/docker/containers/%s/config.v2.json", root, id))
		return NULL;
	return container_file_text(path);
}

/* The same for one of podman_files. */
static char *podman_text(const char *root, const char *file)
{
	char path[PATH_MAX];

	if (!container_path_set(path, "%s/var/lib/containers/storage/%s", root, file))
		return NULL;
	return container_file_text(path);
}

/* Returns a descriptor of nerdctl's folder, or a negative errno. */
static int nerdctl_folder(const char *root)
{
	char path[PATH_MAX];
	int folder = -1;

	if (container_path_set(path, "%s/var/lib/nerdctl", root))
		folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -ENOENT : folder;
}

/* --- IDs of names ------------------------------------------------------------------------ */

static int docker_ids(const char *root, const char *name, name_list *list)
{
	CLEANUP(closedirp) DIR *containers = open_folder(root, "/var/lib/docker/containers");
	char found[JITBPF_CGROUP_NAME_MAX];
	struct dirent *entry;
	int err = 0;

	while (!err && containers && (entry = readdir(containers))) {
		AUTO_FREE char *text = NULL;

		if (!container_id_is(entry->d_name))
			continue;
		text = docker_text(root, entry->d_name);
		if (!docker_name(text, found) && !strcmp(found, name))
			err = add(list, entry->d_name);
	}
	return err;
}

static int podman_ids(const char *root, const char *name, name_list *list)
{
	char quoted[JITBPF_CGROUP_NAME_MAX + 2];
	struct podman_container container;
	int err = 0;

	snprintf(quoted, sizeof(quoted), "\"%s\"", name);
	for (size_t i = 0; i < PODMAN_FILES; i++) {
		AUTO_FREE char *text = podman_text(root, podman_files[i]);
		const char *at = text;

		while (!err && podman_next(&at, &container)) {
			if (container.names && container_id_begins(container.id) &&
			    memmem(container.names, (size_t)(container.end - container.names),
				   quoted, strlen(quoted)))
				err = add(list, container.id);
		}
	}
	return err;
}

static bool is_same(const char *text, size_t bytes, const char *name)
{
	return strlen(name) == bytes && !memcmp(text, name, bytes);
}

static int kubernetes_ids(const char *root, const char *name, name_list *list)
{
	CLEANUP(closedirp) DIR *logs = open_folder(root, "/var/log/containers");
	struct kubernetes_log log;
	struct dirent *entry;
	int err = 0;

	while (!err && logs && (entry = readdir(logs))) {
		if (kubernetes_log_parse(entry->d_name, &log) &&
		    (is_same(log.pod, log.pod_bytes, name) ||
		     is_same(log.container, log.container_bytes, name)))
			err = add(list, log.id);
	}
	return err;
}

struct nerdctl_search {
	const char *name;
	name_list *list;
	int err;
};

static bool note_nerdctl_id(void *search_, const char *name, const char *id)
{
	struct nerdctl_search *search = search_;

	if (!strcmp(name, search->name))
		search->err = add(search->list, id);
	return !search->err;
}

static int nerdctl_ids(const char *root, const char *name, name_list *list)
{
	struct nerdctl_search search = {.name = name, .list = list};
	AUTO_CLOSE int folder = nerdctl_folder(root);

	if (folder >= 0)
		nerdctl_names_read(folder, ".", NERDCTL_ANY_USER, note_nerdctl_id, &search);
	return search.err;
}

int container_ids_of_name(const char *root, const char *name, name_list *list)
{
	int err;

	if (!*name || strpbrk(name, "\"\\/") || strlen(name) >= JITBPF_CGROUP_NAME_MAX)
		return 0;
	err = docker_ids(root, name, list);
	err = err ?: podman_ids(root, name, list);
	err = err ?: kubernetes_ids(root, name, list);
	return err ?: nerdctl_ids(root, name, list);
}

/* --- names of IDs ------------------------------------------------------------------------ */

static int docker_name_of(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_FREE char *text = docker_text(root, id);

	return docker_name(text, ret);
}

static int podman_name_of(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	int err = -ENOENT;

	for (size_t i = 0; i < PODMAN_FILES && err == -ENOENT; i++) {
		AUTO_FREE char *text = podman_text(root, podman_files[i]);

		err = podman_name(text, id, ret);
	}
	return err;
}

/* The name is POD/CONTAINER. */
static int kubernetes_name_of(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	CLEANUP(closedirp) DIR *logs = open_folder(root, "/var/log/containers");
	struct kubernetes_log log;
	struct dirent *entry;

	while (logs && (entry = readdir(logs))) {
		int size;

		if (!kubernetes_log_parse(entry->d_name, &log) ||
		    strncmp(log.id, id, CONTAINER_ID_CHARACTERS) != 0)
			continue;
		size = snprintf(ret, JITBPF_CGROUP_NAME_MAX, "%.*s/%.*s", (int)log.pod_bytes,
				log.pod, (int)log.container_bytes, log.container);
		return size < JITBPF_CGROUP_NAME_MAX ? 0 : -ENOENT;
	}
	return -ENOENT;
}

static int nerdctl_name_of(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_CLOSE int folder = nerdctl_folder(root);

	return folder < 0 ? folder : nerdctl_name_of_id(folder, ".", NERDCTL_ANY_USER, id, ret);
}

int container_name_of_id(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	int err;

	if (!container_id_is(id))
		return -ENOENT;
	err = docker_name_of(root, id, ret);
	err = err == -ENOENT ? podman_name_of(root, id, ret) : err;
	err = err == -ENOENT ? kubernetes_name_of(root, id, ret) : err;
	return err == -ENOENT ? nerdctl_name_of(root, id, ret) : err;
}
