/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_direct.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

#include "base/scope.h"

#define STACKED_MAX 4 /* devices made of others, made of others, ... */

DEFINE_CLEANUP(DIR *, closedir);

static bool are_disks(const char *folder, unsigned stacked);

/*
 * A loop device is a file, maybe of a file system that hangs, and others have a process
 * behind them: such devices are "virtual", but so are those that are made of disks.
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
 * Who writes to a file of XFS keeps its readers out while he writes, and that may be for
 * ever: what he writes may come from memory whose pages a FUSE file system is asked for.
 * So it is with any file on a DAX mount. ext4 and tmpfs lock a page at a time, and wait for
 * no memory then. btrfs does too, but its FIEMAP did not until Linux 6.8. What overlayfs
 * lies on, it does not tell. A 9P server says that its files are of whatever type it likes,
 * but they are on no device and have no seals.
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
	case EXT4_SUPER_MAGIC: /* ext2's and ext3's too */
		return is_on_disk(&st);
	case XFS_SUPER_MAGIC:
		return only_root_writes(&st) && is_on_disk(&st);
	default:
		return false;
	}
}
