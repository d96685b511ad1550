/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Decides which files this process reads itself, without a helper process (file_helper.h). */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_DIRECT_H
#define JITBPF_AGENT_FILES_HELPER_FILE_DIRECT_H

#include <stdbool.h>

/*
 * Returns true if reading and closing the file fd cannot block, except for a
 * broken disk. If in doubt, returns false. The function queries the file
 * system, so only helpers may call it.
 */
bool file_is_direct(int fd);

#endif
