/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Why names may be missing: files and servers that could not be waited for. */
#ifndef JITBPF_CLI_FILE_TROUBLE_H
#define JITBPF_CLI_FILE_TROUBLE_H

#include "agent/files/file_store.h"

/* Say it on standard error, a line each. When no thread uses the store any more. */
void file_trouble_say(const struct file_store *files);

#endif
