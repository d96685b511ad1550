/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a helper process (file_helper.h) does: it looks for files, and reads them. */
#ifndef JITBPF_AGENT_FILES_FILE_SERVICE_H
#define JITBPF_AGENT_FILES_FILE_SERVICE_H

/* Answer the requests that come through a socket, until its other end is closed. */
void file_service_run(int socket);

#endif
