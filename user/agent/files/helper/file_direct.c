/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_direct.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/scope.h"

#define STACKED_MAX 4 /* limit of nested device stacks */

DEFINE_CLEANUP(DIR *, closedir);

static bool are_disks(const char *folder, unsigned stacked);

/*
 * Returns true if a device is a real disk, or is made of real disks. A loop
 * device is a file, which may be on a hanging file system, and other virtual
 * devices are served by a process.
 */
static bool is_disk(const char *link, unsigned stacked)
{
	AUTO_FREE char *path = realpath(link, NULL);
	AUTO_FREE char *parts = NULL;

	if (!path)
		return false;
	if (!strstr(path, "/devices/virtual/"))
		return true;
	return asprintf(&parts, "%s/slaves", path) > 0 && are_disks(parts, stacked + 1);
}

static bool are_disks(const char *folder, unsigned stacked)
{
	CLEANUP(closedirp) DIR *dir = stacked > STACKED_MAX ? NULL : opendir(folder);
	const struct dirent *entry;
	bool all = true, any = false;

	while (dir && all && (entry = readdir(dir))) {
		AUTO_FREE char *link = NULL;

		if (*entry->d_name == '.')
			continue;
		any = true;
		all = asprintf(&link, "%s/%s", folder, entry->d_name) > 0 && is_disk(link, stacked);
	}
	return any && all;
}

static bool is_on_disk(const struct statx *st)
{
	char link[64];

	snprintf(link, sizeof(link), "/sys/dev/block/%u:%u", st->stx_dev_major, st->stx_dev_minor);
	return is_disk(link, 0);
}

static bool only_root_writes(const struct statx *st)
{
	return st->stx_uid == 0 && !(st->stx_mode & (S_IWGRP | S_IWOTH));
}

/*
 * A writer of an XFS file locks out its readers while it copies, and may block
 * for ever: the source of the write may be memory of a FUSE file. The same
 * holds for any file on a DAX mount. ext4 and tmpfs lock single pages, and do
 * not wait for memory meanwhile. btrfs does so too, but its FIEMAP did not
 * until Linux 6.8. overlayfs does not tell its underlying file system. A 9P
 * server can report any file system type, but its files have no device and no
 * seals.
 */
bool file_is_direct(int fd)
{
	struct statfs fs;
	struct statx st;

	if (fstatfs(fd, &fs) || statx(fd, "", AT_EMPTY_PATH, STATX_MODE | STATX_UID, &st) ||
	    st.stx_attributes & STATX_ATTR_DAX)
		return false;
	switch (fs.f_type) {
	case TMPFS_MAGIC:
		return fcntl(fd, F_GET_SEALS) >= 0;
	case EXT4_SUPER_MAGIC: /* also ext2 and ext3 */
		return is_on_disk(&st);
	case XFS_SUPER_MAGIC:
		return only_root_writes(&st) && is_on_disk(&st);
	default:
		return false;
	}
}
