/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_pinned.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include "base/scope.h"

static bool is_memory(const struct statfs *fs)
{
	return fs->f_type == TMPFS_MAGIC || fs->f_type == RAMFS_MAGIC ||
	       fs->f_type == HUGETLBFS_MAGIC;
}

/* The third field of a line of mountinfo is the device. */
static bool is_of_device(const char *line, dev_t device)
{
	unsigned major_number, minor_number;

	return sscanf(line, "%*d %*d %u:%u", &major_number, &minor_number) == 2 &&
	       major_number == major(device) && minor_number == minor(device);
}

static bool is_mounted_here(dev_t device)
{
	AUTO_FCLOSE FILE *mounts = fopen("/proc/self/mountinfo", "re");
	AUTO_FREE char *line = NULL;
	bool found = false;
	size_t room = 0;

	while (mounts && !found && getline(&line, &room, mounts) > 0)
		found = is_of_device(line, device);
	return found;
}

uint64_t file_pinned_bytes(int fd)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(fd, &fs) || fstat(fd, &st))
		return UINT64_MAX;
	if (!st.st_nlink)
		return (uint64_t)st.st_blocks * 512;
	if (!is_memory(&fs))
		return 0;
	if (is_mounted_here(st.st_dev))
		return (uint64_t)st.st_blocks * 512;
	return fs.f_blocks ? (fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize : UINT64_MAX;
}

bool file_is_lasting(int fd, bool direct)
{
	struct statfs fs;
	struct stat st;

	return direct && !fstatfs(fd, &fs) && !is_memory(&fs) && !fstat(fd, &st) && st.st_nlink;
}
