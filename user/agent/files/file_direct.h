/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Which files we read ourselves, without asking a helper process (file_helper.h). */
#ifndef JITBPF_AGENT_FILES_FILE_DIRECT_H
#define JITBPF_AGENT_FILES_FILE_DIRECT_H

#include <stdbool.h>

/*
 * Whether nothing but a broken disk can keep who reads the file open at fd waiting, or who
 * closes it; in doubt it is not so. Asks the file system: a helper's to call.
 */
bool file_is_direct(int fd);

#endif
