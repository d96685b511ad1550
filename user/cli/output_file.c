/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "cli/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"
#include "base/text.h"

#define TEMPORARY_NAMES 100 /* limit of names that are tried */

/* Returns true for paths that name open files, which must not be replaced. */
static bool names_open_file(const char *path)
{
	return begins_with(path, "/proc/") || begins_with(path, "/dev/fd/") ||
	       begins_with(path, "/dev/std");
}

/* Returns true if the file can be replaced by another one. */
static bool is_replaceable(const char *path)
{
	struct statx st;

	if (statx(AT_FDCWD, path, 0, STATX_TYPE, &st))
		/* A new file is fine, but not through a dangling link. */
		return errno == ENOENT &&
		       statx(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, STATX_TYPE, &st);
	return S_ISREG(st.stx_mode) && !(st.stx_attributes & STATX_ATTR_MOUNT_ROOT) &&
	       !names_open_file(path) && !faccessat(AT_FDCWD, path, W_OK, AT_EACCESS);
}

/*
 * Returns the path with links resolved; its last component need not exist.
 * Returns NULL if the directory does not exist.
 */
static char *resolve(const char *path)
{
	AUTO_FREE char *whole = realpath(path, NULL), *folder = NULL, *resolved = NULL;
	const char *name = path_file(path);
	char *target;

	if (whole || !*name)
		return TAKE_PTR(whole);
	folder = name > path ? strndup(path, (size_t)(name - path)) : strdup(".");
	resolved = folder ? realpath(folder, NULL) : NULL;
	if (!resolved || asprintf(&target, "%s/%s", resolved, name) < 0)
		return NULL;
	return target;
}

/*
 * Give the file the first temporary name for which take() succeeds: it returns 0, or negative
 * errno, -EEXIST if the name is in use. Returns 0 or negative errno.
 */
static int take_temporary_name(struct output_file *file,
			       int (*take)(struct output_file *file, const char *name))
{
	int err = -EEXIST;

	for (int i = 0; err == -EEXIST && i < TEMPORARY_NAMES; i++) {
		char *name;

		if (asprintf(&name, "%s.tmp-%d-%d", file->target, getpid(), i) < 0)
			return -ENOMEM;
		err = take(file, name);
		if (err)
			free(name);
		else
			file->temporary = name;
	}
	return err;
}

/* For file systems without O_TMPFILE. */
static int create_named(struct output_file *file, const char *name)
{
	file->fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	return file->fd < 0 ? -errno : 0;
}

/* Create the file without a name if possible: it disappears if the process is killed. */
static int create(struct output_file *file)
{
	AUTO_FREE char *folder = strndup(file->target, path_folder_bytes(file->target));

	if (!folder)
		return -ENOMEM;
	file->fd = open(*folder ? folder : "/", O_WRONLY | O_TMPFILE | O_CLOEXEC, 0666);
	return file->fd >= 0 ? 0 : take_temporary_name(file, create_named);
}

/* A file that root writes on behalf of a sudo user belongs to that user. */
static void give_to_invoking_user(int fd)
{
	const char *uid = getenv("SUDO_UID"), *gid = getenv("SUDO_GID");

	if (geteuid() || !uid || !gid)
		return;
	if (fchown(fd, (uid_t)strtoul(uid, NULL, 10), (gid_t)strtoul(gid, NULL, 10)))
		return; /* it stays root's, which does no harm */
}

/* The new file gets the owner and the permissions of the file that it replaces. */
static void inherit(const struct output_file *file)
{
	struct stat st;

	if (stat(file->target, &st))
		return;
	if (fchown(file->fd, st.st_uid, st.st_gid))
		/* without the group, group permissions would apply to the wrong group */
		st.st_mode &= 0700;
	fchmod(file->fd, st.st_mode & 0777);
}

int output_file_open(const char *path, struct output_file *ret)
{
	struct output_file file = {.fd = -1};
	struct stat st;

	if (is_replaceable(path))
		file.target = resolve(path);
	if (file.target && !create(&file)) {
		inherit(&file);
	} else {
		free(file.target);
		file.target = NULL;
		file.fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
		if (file.fd < 0)
			return -errno;
		file.stale = !fstat(file.fd, &st) && S_ISREG(st.st_mode);
	}
	if (file.target || file.stale)
		give_to_invoking_user(file.fd);
	*ret = file;
	return 0;
}

bool output_file_same(const struct output_file *a, const struct output_file *b)
{
	struct stat in_a, in_b;

	if (a->target || b->target)
		return a->target && b->target && !strcmp(a->target, b->target);
	return a->stale && b->stale && !fstat(a->fd, &in_a) && !fstat(b->fd, &in_b) &&
	       in_a.st_dev == in_b.st_dev && in_a.st_ino == in_b.st_ino;
}

int output_file_begin(struct output_file *file)
{
	if (file->stale && ftruncate(file->fd, 0))
		return -errno;
	file->stale = false;
	return 0;
}

/* For a file without a name: rename() needs one. */
static int link_named(struct output_file *file, const char *name)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, self, AT_FDCWD, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int output_file_publish(struct output_file *file)
{
	int err;

	if (!file->target)
		return output_file_begin(file);
	err = file->temporary ? 0 : take_temporary_name(file, link_named);
	if (!err && rename(file->temporary, file->target))
		err = -errno;
	if (err)
		return err;
	free(file->temporary);
	free(file->target);
	file->temporary = file->target = NULL;
	return 0;
}

void output_file_deinit(struct output_file *file)
{
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	free(file->target);
	file->temporary = file->target = NULL;
}
