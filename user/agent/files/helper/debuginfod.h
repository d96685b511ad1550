/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug info from the servers in $DEBUGINFOD_URLS, by libdebuginfod and its
 * cache. To be called by a helper process only (file_helper.h), since it
 * changes the environment and the resource limits of the calling process.
 */
#ifndef JITBPF_AGENT_FILES_HELPER_DEBUGINFOD_H
#define JITBPF_AGENT_FILES_HELPER_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>

/* Defaults of the corresponding environment variables. */
#define DEBUGINFOD_TIMEOUT_S 10		  /* limit for each 100 KB */
#define DEBUGINFOD_MAXTIME_S 60		  /* limit for one file */
#define DEBUGINFOD_MAXSIZE   (2ull << 30) /* limit of one file, in bytes */

/* Returns true if the user has named servers. */
bool debuginfod_wanted(void);

/* Returns the time limit for one file, in seconds. */
uint32_t debuginfod_maxtime_s(void);

/*
 * Fetch the debug info of a build ID. The caller checks the identity of the
 * file. Returns an O_PATH descriptor of the file in the cache, or a negative
 * errno: -ENOSYS (no library), -ENOENT (no server has it), -ETIME, -ETIMEDOUT
 * or -EFBIG (over a limit), -EPERM (the cache directory would belong to another
 * user).
 */
int debuginfod_find(const uint8_t *build_id, uint32_t build_id_bytes);

#endif
