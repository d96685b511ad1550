/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/container_names.h"

#include <dirent.h>
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

#include "agent/files/helper/nerdctl_names.h"
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

/* In Podman's storage: all containers, and those of --rm. */
static const char *const podman_files[] = {
	"overlay-containers/containers.json",
	"overlay-containers/volatile-containers.json",
	"vfs-containers/containers.json",
	"vfs-containers/volatile-containers.json",
};

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

static char *read_all(int fd)
{
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

/* Returns the text of a file for free(), or NULL: it is no file, or too large. */
static char *read_text(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	return read_all(fd);
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

/* In the object of a container, the ID comes before the names. word: the name with its quotes. */
static int podman_ids_in(const char *text, const char *word, name_list *list)
{
	static const char id_key[] = "\"id\":\"", names_key[] = "\"names\":[";
	const char *at = text;
	int err = 0;

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

static int podman_ids(const char *root, const char *name, name_list *list)
{
	AUTO_FREE char *word = NULL;
	int err = asprintf(&word, "\"%s\"", name) < 0 ? -ENOMEM : 0;

	for (size_t i = 0; i < ARRAY_SIZE(podman_files) && !err; i++) {
		AUTO_FREE char *path = NULL, *text = NULL;

		if (asprintf(&path, "%s/var/lib/containers/storage/%s", root, podman_files[i]) < 0)
			return -ENOMEM;
		text = read_text(path);
		err = podman_ids_in(text, word, list);
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

/* --- nerdctl ------------------------------------------------------------------------------- */

/* Returns a descriptor of the folder, or a negative errno. */
static int nerdctl_folder(const char *root)
{
	AUTO_FREE char *path = NULL;
	int folder;

	if (asprintf(&path, "%s/var/lib/nerdctl", root) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	folder = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return folder < 0 ? -ENOENT : folder;
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

	if (folder < 0)
		return folder == -ENOENT ? 0 : folder;
	nerdctl_names_read(folder, ".", NERDCTL_ANY_USER, note_nerdctl_id, &search);
	return search.err;
}

static int nerdctl_name(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_CLOSE int folder = nerdctl_folder(root);

	return folder < 0 ? folder : nerdctl_name_of_id(folder, ".", NERDCTL_ANY_USER, id, ret);
}

int container_ids_of_name(const char *root, const char *name, name_list *list)
{
	if (!*name || strpbrk(name, "\"\\/") || strlen(name) >= JITBPF_CGROUP_NAME_MAX)
		return 0;
	return docker_ids(root, name, list)
		       ?: podman_ids(root, name, list)
				  ?: kubernetes_ids(root, name, list)
					     ?: nerdctl_ids(root, name, list);
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

static int docker_name_in(const char *text, char ret[JITBPF_CGROUP_NAME_MAX])
{
	static const char key[] = "\"Name\":\"/";
	const char *at = text ? strstr(text, key) : NULL;

	return at ? copy_name(at + strlen(key), "\"", ret) : -ENOENT;
}

static int podman_name_in(const char *text, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	static const char id_key[] = "\"id\":\"", names_key[] = "\"names\":[\"";

	for (const char *at = text; at && (at = strstr(at, id_key));) {
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

static int docker_name(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_FREE char *path = NULL, *text = NULL;

	if (asprintf(&path, "%s/var/lib/docker/containers/%s/config.v2.json", root, id) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	text = read_text(path);
	return docker_name_in(text, ret);
}

static int podman_name(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	int err = -ENOENT;

	for (size_t i = 0; i < ARRAY_SIZE(podman_files) && err == -ENOENT; i++) {
		AUTO_FREE char *path = NULL, *text = NULL;

		if (asprintf(&path, "%s/var/lib/containers/storage/%s", root, podman_files[i]) <
		    0) {
			path = NULL;
			return -ENOMEM;
		}
		text = read_text(path);
		err = podman_name_in(text, id, ret);
	}
	return err;
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

/* --- containers of a user ------------------------------------------------------------------ */

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
	return read_all(fd);
}

static int name_in_home(int home, uint32_t uid, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_FREE char *docker = NULL;
	char path[256];
	int err;

	snprintf(path, sizeof(path), ".local/share/docker/containers/%s/config.v2.json", id);
	docker = read_of_user(home, path, uid);
	err = docker_name_in(docker, ret);
	for (size_t i = 0; i < ARRAY_SIZE(podman_files) && err == -ENOENT; i++) {
		AUTO_FREE char *text = NULL;

		snprintf(path, sizeof(path), ".local/share/containers/storage/%s", podman_files[i]);
		text = read_of_user(home, path, uid);
		err = podman_name_in(text, id, ret);
	}
	return err == -ENOENT ? nerdctl_name_of_id(home, ".local/share/nerdctl", uid, id, ret)
			      : err;
}

int container_name_of_user(const char *root, uint32_t uid, const char *id,
			   char ret[JITBPF_CGROUP_NAME_MAX])
{
	AUTO_FREE char *passwd = NULL, *path = NULL;
	AUTO_CLOSE int home = -1;
	char folder[PATH_MAX];

	if (strlen(id) != ID_CHARACTERS || !is_id(id))
		return -ENOENT;
	if (asprintf(&path, "%s/etc/passwd", root) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	passwd = read_text(path);
	if (!passwd || !home_of(passwd, uid, folder))
		return -ENOENT;
	free(TAKE_PTR(path));
	if (asprintf(&path, "%s%s", root, folder) < 0) {
		path = NULL;
		return -ENOMEM;
	}
	home = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return home < 0 ? -ENOENT : name_in_home(home, uid, id, ret);
}

int container_name_of_id(const char *root, const char *id, char ret[JITBPF_CGROUP_NAME_MAX])
{
	int err;

	if (strlen(id) != ID_CHARACTERS || !is_id(id))
		return -ENOENT;
	err = docker_name(root, id, ret);
	err = err == -ENOENT ? podman_name(root, id, ret) : err;
	err = err == -ENOENT ? kubernetes_name(root, id, ret) : err;
	return err == -ENOENT ? nerdctl_name(root, id, ret) : err;
}
