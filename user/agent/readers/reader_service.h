/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The service loop of a reader process (reader_message.h). */
#ifndef JITBPF_AGENT_READERS_READER_SERVICE_H
#define JITBPF_AGENT_READERS_READER_SERVICE_H

/* Answer requests from a socket until its other end is closed. */
void reader_service_run(int socket);

#endif
