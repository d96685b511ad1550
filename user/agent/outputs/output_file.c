/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/outputs/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"

#define TEMPORARY_NAMES 100 /* limit of names that are tried */
#define MODE		0600
#define FIFO_STEP_MS	20

/* --- files that are replaced ------------------------------------------------------- */

/* In a sticky folder of somebody else, only the owner of a file can replace it. */
static bool is_protected(const struct output_path *path, const struct stat *st)
{
	struct stat folder;

	return geteuid() && !fstat(path->folder_fd, &folder) && folder.st_mode & S_ISVTX &&
	       folder.st_uid != geteuid() && st->st_uid != geteuid();
}

/* Returns true if the file can be replaced by another one, or if there is none. */
static bool is_replaceable(const struct output_path *path)
{
	struct statx extended;
	struct stat st;

	if (path->file_fd < 0)
		return true;
	if (fstat(path->file_fd, &st) || !S_ISREG(st.st_mode) || is_protected(path, &st))
		return false;
	if (statx(path->file_fd, "", AT_EMPTY_PATH, STATX_TYPE, &extended) ||
	    extended.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return false;
	return !faccessat(path->folder_fd, path->name, W_OK, AT_EACCESS | AT_SYMLINK_NOFOLLOW);
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

		/* Leave room for the rest of the name, whatever the length of the final one. */
		if (asprintf(&name, "%.*s.tmp-%d-%d", NAME_MAX - 32, file->name, getpid(), i) < 0)
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
	file->fd = openat(file->folder_fd, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
	return file->fd < 0 ? -errno : 0;
}

/* For a file without a name: rename() needs one. */
static int link_named(struct output_file *file, const char *name)
{
	char self[32];

	snprintf(self, sizeof(self), "/proc/self/fd/%d", file->fd);
	return linkat(AT_FDCWD, self, file->folder_fd, name, AT_SYMLINK_FOLLOW) ? -errno : 0;
}

int output_file_create(int folder_fd, const char *name, struct output_file *ret)
{
	struct output_file file = {
		.fd = -1,
		.folder_fd = fcntl(folder_fd, F_DUPFD_CLOEXEC, 0),
		.name = strdup(name),
	};
	struct stat st;
	int err = 0;

	if (file.folder_fd < 0 || fstat(folder_fd, &st))
		err = -errno;
	else if (!file.name)
		err = -ENOMEM;
	if (!err) {
		/* Without a name if possible: the file disappears if the process is killed. */
		file.fd = openat(folder_fd, ".", O_RDWR | O_TMPFILE | O_CLOEXEC, MODE);
		if (file.fd < 0)
			err = take_temporary_name(&file, create_named);
	}
	if (err) {
		output_file_deinit(&file);
		return err;
	}
	snprintf(file.place, sizeof(file.place), "%llx:%llx/%s", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino, name);
	*ret = file;
	return 0;
}

/* --- files that are written in place ------------------------------------------------- */

/* Another user's FIFO would give all that is written to that user, and so would a link. */
static int check_in_place(const struct stat *st)
{
	if (!output_path_trusts(st->st_uid) || (S_ISREG(st->st_mode) && st->st_nlink > 1))
		return -EPERM;
	return 0;
}

/*
 * Try to open a FIFO for writing again and again until it has a reader: a blocked open() would
 * outlive jitbpf.
 */
static int open_fifo(const char *self, int hangup_fd)
{
	struct pollfd hangup = {.fd = hangup_fd, .events = POLLRDHUP};
	int fd;

	while ((fd = open(self, O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0) {
		if (errno != ENXIO)
			return -errno;
		if (poll(&hangup, 1, FIFO_STEP_MS) > 0)
			return -ECANCELED;
	}
	if (fcntl(fd, F_SETFL, O_WRONLY)) {
		close(fd);
		return -EIO;
	}
	return fd;
}

static int open_in_place(int file_fd, int hangup_fd, struct output_file *ret)
{
	struct output_file file = {.fd = -1, .folder_fd = -1};
	char self[32];
	struct stat st;
	int err;

	if (fstat(file_fd, &st))
		return -errno;
	err = check_in_place(&st);
	if (err)
		return err;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", file_fd);
	if (S_ISFIFO(st.st_mode)) {
		file.fd = err = open_fifo(self, hangup_fd);
		if (err < 0)
			return err;
	} else {
		file.fd = open(self, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		if (file.fd < 0)
			return -errno;
	}
	if (S_ISREG(st.st_mode)) {
		file.stale = true;
		if (st.st_uid == geteuid() && fchmod(file.fd, MODE)) {
			close(file.fd);
			return -EPERM;
		}
		snprintf(file.place, sizeof(file.place), "%llx:%llx", (unsigned long long)st.st_dev,
			 (unsigned long long)st.st_ino);
	}
	*ret = file;
	return 0;
}

/* --- all ----------------------------------------------------------------------------- */

int output_file_open(const char *path, int hangup_fd, struct output_file *ret)
{
	CLEANUP(output_path_deinit) struct output_path found = {.folder_fd = -1, .file_fd = -1};
	int err = output_path_find(path, &found);

	if (err)
		return err;
	if (is_replaceable(&found)) {
		err = output_file_create(found.folder_fd, found.name, ret);
		if (!err || found.file_fd < 0)
			return err;
	}
	return open_in_place(found.file_fd, hangup_fd, ret);
}

int output_file_begin(int fd, bool *stale)
{
	if (*stale && ftruncate(fd, 0))
		return -errno;
	*stale = false;
	return 0;
}

/* Give the existing file a temporary name, too, and then its last one. */
static int link_old(const struct output_file *file, const char *old)
{
	char temporary[NAME_MAX + 1];

	snprintf(temporary, sizeof(temporary), "%.*s.tmp-%d-old", NAME_MAX - 32, file->name,
		 getpid());
	if (linkat(file->folder_fd, file->name, file->folder_fd, temporary, 0))
		return -errno;
	if (!renameat(file->folder_fd, temporary, file->folder_fd, old)) {
		unlinkat(file->folder_fd, temporary, 0); /* still there if both were one file */
		return 0;
	}
	unlinkat(file->folder_fd, temporary, 0);
	return -errno;
}

/*
 * Keep the existing file as NAME.old. It has its own name meanwhile, too, unless the file system
 * has no links, or it is another user's file, to which none may be made.
 */
static int keep_old(struct output_file *file)
{
	AUTO_FREE char *old = NULL;
	struct stat st;

	if (fstatat(file->folder_fd, file->name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode))
		return 0;
	if (asprintf(&old, "%s.old", file->name) < 0) {
		old = NULL;
		return -ENOMEM;
	}
	if (link_old(file, old) && renameat(file->folder_fd, file->name, file->folder_fd, old))
		return -errno;
	file->kept_old = true;
	return 0;
}

int output_file_publish(struct output_file *file)
{
	int err;

	if (!file->name)
		return 0;
	err = file->temporary ? 0 : take_temporary_name(file, link_named);
	if (!err && file->keeps_old)
		err = keep_old(file);
	if (!err && renameat(file->folder_fd, file->temporary, file->folder_fd, file->name))
		err = -errno;
	if (err)
		return err;
	free(file->temporary);
	free(file->name);
	file->temporary = file->name = NULL;
	return 0;
}

void output_file_deinit(struct output_file *file)
{
	if (file->temporary)
		unlinkat(file->folder_fd, file->temporary, 0);
	free(file->temporary);
	free(file->name);
	file->temporary = file->name = NULL;
	if (file->folder_fd >= 0)
		close(file->folder_fd);
	file->folder_fd = -1;
}
