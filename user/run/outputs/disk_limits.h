/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Limits of what a recording takes from its file system: --max-size and --min-free. Other outputs
 * are written at the end, and are as small as the profile.
 */
#ifndef JITBPF_RUN_OUTPUTS_DISK_LIMITS_H
#define JITBPF_RUN_OUTPUTS_DISK_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#define DISK_MIN_FREE_BYTES   (1ull << 30) /* default of --min-free: the smaller one of these two */
#define DISK_MIN_FREE_PERCENT 5

struct disk_limits {
	uint64_t max_bytes;	 /* 0: no limit */
	uint64_t min_free_bytes; /* UINT64_MAX: the default; 0: no limit */
};

enum disk_state {
	DISK_OK,
	DISK_MAX_SIZE,
	DISK_MIN_FREE,
};

/*
 * Compare the bytes of the recordings, and the free space in the file system of fd, with the
 * limits. Only regular files are limited; fd can be -1. Sets *ret_free_bytes if it returns
 * DISK_MIN_FREE.
 */
enum disk_state disk_limits_check(const struct disk_limits *limits, int fd, uint64_t bytes,
				  uint64_t *ret_free_bytes);

/* Returns the free space to be left in the file system of fd. */
uint64_t disk_limits_min_free(const struct disk_limits *limits, int fd);

#endif
