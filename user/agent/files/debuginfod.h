/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Debug info from the servers of $DEBUGINFOD_URLS, through libdebuginfod and its
 * cache. For a helper process (file_helper.h): it changes the environment and the
 * limits of the process that calls it.
 */
#ifndef JITBPF_AGENT_FILES_DEBUGINFOD_H
#define JITBPF_AGENT_FILES_DEBUGINFOD_H

#include <stdbool.h>
#include <stdint.h>

/* What holds where the environment does not say otherwise. */
#define DEBUGINFOD_TIMEOUT_S 10		  /* for the next 100 KB */
#define DEBUGINFOD_MAXTIME_S 60		  /* for a file */
#define DEBUGINFOD_MAXSIZE   (2ull << 30) /* of a file, in bytes */

/* Has the user named servers? */
bool debuginfod_wanted(void);

/* The longest that a file may take. */
uint32_t debuginfod_maxtime_s(void);

/*
 * Fetch the debug info of a build ID. Who calls checks whether it is the right
 * one. Returns an O_PATH descriptor of the file in the cache, or negative errno:
 * -ENOSYS without the library, -ENOENT where no server has it, -ETIME(DOUT) or
 * -EFBIG over the limits, -EPERM where the cache would be another user's.
 */
int debuginfod_find(const uint8_t *build_id, uint32_t build_id_bytes);

#endif
