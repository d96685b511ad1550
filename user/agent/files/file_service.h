/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service loop of a helper process (file_helper.h). */
#ifndef JITBPF_AGENT_FILES_FILE_SERVICE_H
#define JITBPF_AGENT_FILES_FILE_SERVICE_H

/* Answer requests from a socket until its other end is closed. */
void file_service_run(int socket);

#endif
