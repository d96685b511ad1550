/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service loops of helper processes (file_helper.h). */
#ifndef JITBPF_AGENT_FILES_HELPER_FILE_SERVICE_H
#define JITBPF_AGENT_FILES_HELPER_FILE_SERVICE_H

/*
 * Answer the requests for an opener, or for a fetcher, from a socket until its other end is closed.
 */
void file_service_run(int socket);
void file_service_run_fetcher(int socket);

#endif
