/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The answer of a helper process to FILE_COMPARE_MEMORY (file_helper.h). */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_COMPARE_H
#define JITBPF_AGENT_FILES_HELPER_FILE_COMPARE_H

#include "agent/files/helper/file_helper.h"

/*
 * Compare all bytes of the requested memory with the file of an O_PATH descriptor. Sets
 * reply->file_bytes to the number of bytes in pages whose bytes are not all equal. Returns 0,
 * -ESTALE if they differ, or another negative errno. reply->bytes is used as a buffer.
 */
int file_compare_memory(const struct file_request *request, int path_fd, struct file_reply *reply);

#endif
