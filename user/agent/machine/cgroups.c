/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/machine/cgroups.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/magic.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

#include "agent/files/helper/container_names.h"
#include "base/scope.h"
#include "base/text.h"
#include "decode/text/cgroup_path.h"

#define CGROUPS_MAX    65536 /* directories that are searched, at most */
#define ID_PART_MIN    4
#define MOUNT_LINE_MAX 8192

DEFINE_CLEANUP(FILE *, endmntent);
DEFINE_CLEANUP(FTS *, fts_close);

void cgroup_list_deinit(cgroup_list *list)
{
	vec_for_each (cgroup, list) {
		scope_close(&cgroup->fd);
		free(cgroup->path);
	}
	vec_deinit(list);
}

int cgroups_mount(char **ret)
{
	CLEANUP(endmntentp) FILE *mounts = setmntent("/proc/self/mounts", "re");
	char text[MOUNT_LINE_MAX];
	struct mntent mount;

	if (!mounts)
		return -errno;
	while (getmntent_r(mounts, &mount, text, sizeof(text))) {
		if (strcmp(mount.mnt_type, "cgroup2"))
			continue;
		*ret = strdup(mount.mnt_dir);
		return *ret ? 0 : -ENOMEM;
	}
	return -ENOENT;
}

static int add(const char *mount, const char *path, cgroup_list *list)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct cgroup_found found = {.fd = fd};
	struct statfs system;

	if (fd < 0)
		return errno == ENOTDIR ? -EXDEV : -errno;
	if (fstatfs(fd, &system))
		return -errno;
	if (system.f_type != CGROUP2_SUPER_MAGIC)
		return -EXDEV;
	if (begins_with(path, mount))
		path += strlen(mount);
	found.path = strdup(*path ? path : "/");
	if (!found.path || vec_push(list, found)) {
		free(found.path);
		return -ENOMEM;
	}
	TAKE_FD(fd);
	return 0;
}

/* A search: for a unit by name, or for a container by name or ID. */
struct wanted {
	const char *name;
	const name_list *ids; /* of containers; NULL: a unit is wanted */
};

static bool is_unit(const char *directory, const char *name)
{
	static const char *const endings[] = {"", ".service", ".slice", ".scope"};
	size_t bytes = strlen(name);

	if (strncmp(directory, name, bytes))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++) {
		if (!strcmp(directory + bytes, endings[i]))
			return true;
	}
	return false;
}

static bool is_container(const char *directory, const struct wanted *wanted)
{
	char id[JITBPF_CGROUP_NAME_MAX];

	if (!cgroup_path_container(directory, id))
		return false;
	vec_for_each (known, wanted->ids) {
		if (!strcmp(*known, id))
			return true;
	}
	return !strcmp(id, wanted->name) || (strlen(wanted->name) >= ID_PART_MIN &&
					     strlen(id) == 64 && begins_with(id, wanted->name));
}

/*
 * Add all that are wanted, and none below one of them. delegated: search below units and
 * containers, too.
 */
static int search_tree(const char *mount, const struct wanted *wanted, bool delegated,
		       cgroup_list *list)
{
	char *const from[] = {(char *)mount, NULL};
	CLEANUP(fts_closep) FTS *tree = fts_open(from, FTS_PHYSICAL | FTS_XDEV | FTS_NOCHDIR, NULL);
	uint32_t looked = 0;
	FTSENT *entry;
	int err = 0;

	if (!tree)
		return -errno;
	while (!err && (entry = fts_read(tree))) {
		if (entry->fts_info != FTS_D || entry->fts_level == FTS_ROOTLEVEL)
			continue;
		if (looked++ == CGROUPS_MAX)
			return -E2BIG;
		if (!delegated && cgroup_path_is_delegated(entry->fts_name))
			fts_set(tree, entry, FTS_SKIP);
		if (wanted->ids ? !is_container(entry->fts_name, wanted)
				: !is_unit(entry->fts_name, wanted->name))
			continue;
		err = add(mount, entry->fts_accpath, list);
		err = err == -ENOENT ? 0 : err; /* it was removed */
		fts_set(tree, entry, FTS_SKIP);
	}
	return err;
}

/*
 * The owner of a unit can name what is below it like any unit or container. So these are searched
 * only if the system itself has none of that name.
 */
static int search(const char *mount, const struct wanted *wanted, cgroup_list *list)
{
	size_t before = list->size;
	int err = search_tree(mount, wanted, false, list);

	return err || list->size > before ? err : search_tree(mount, wanted, true, list);
}

int cgroups_find(const char *mount, const char *name, cgroup_list *list)
{
	const struct wanted wanted = {.name = name};
	size_t before = list->size;
	AUTO_FREE char *path = NULL;
	int err, outside = -ENOENT;

	if (*name == '/') {
		outside = add(mount, name, list);
		if (outside != -ENOENT && outside != -EXDEV)
			return outside;
	}
	if (asprintf(&path, "%s/%s", mount, name + strspn(name, "/")) < 0)
		return -ENOMEM;
	err = add(mount, path, list);
	if (err != -ENOENT || strchr(name, '/'))
		return err == -ENOENT ? outside : err;
	err = search(mount, &wanted, list);
	if (err)
		return err;
	return list->size == before ? -ENOENT : list->size > before + 1 ? -EEXIST : 0;
}

int cgroups_find_container(const char *mount, const char *root, const char *name, cgroup_list *list)
{
	CLEANUP(name_list_deinit) name_list ids = {0};
	const struct wanted wanted = {.name = name, .ids = &ids};
	size_t before = list->size;
	int err = container_ids_of_name(root, name, &ids);

	err = err ?: search(mount, &wanted, list);
	if (err)
		return err;
	if (list->size == before)
		return -ENOENT;
	return !ids.size && list->size > before + 1 ? -EEXIST : 0;
}
