/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "run/outputs/disk_limits.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

static bool is_limited(int fd)
{
	struct stat st;

	return fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode);
}

uint64_t disk_limits_min_free(const struct disk_limits *limits, int fd)
{
	uint64_t part;
	struct statvfs fs;

	if (limits->min_free_bytes != UINT64_MAX)
		return limits->min_free_bytes;
	if (fstatvfs(fd, &fs))
		return 0;
	part = fs.f_blocks * fs.f_frsize / 100 * DISK_MIN_FREE_PERCENT;
	return part < DISK_MIN_FREE_BYTES ? part : DISK_MIN_FREE_BYTES;
}

enum disk_state disk_limits_check(const struct disk_limits *limits, int fd, uint64_t bytes,
				  uint64_t *ret_free_bytes)
{
	uint64_t free_bytes;
	struct statvfs fs;

	if (!is_limited(fd))
		return DISK_OK;
	if (limits->max_bytes && bytes >= limits->max_bytes)
		return DISK_MAX_SIZE;
	if (fstatvfs(fd, &fs) || !fs.f_blocks)
		return DISK_OK; /* not known */
	free_bytes = fs.f_bavail * fs.f_frsize;
	if (free_bytes >= disk_limits_min_free(limits, fd))
		return DISK_OK;
	*ret_free_bytes = free_bytes;
	return DISK_MIN_FREE;
}
