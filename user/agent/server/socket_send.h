/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Blocking writes to a socket of the live page's server. */
#ifndef JITBPF_AGENT_SERVER_SOCKET_SEND_H
#define JITBPF_AGENT_SERVER_SOCKET_SEND_H

#include <stddef.h>

/*
 * Send all bytes, without SIGPIPE; flags are those of send(). shutdown() of the socket on another
 * thread ends the call. Returns 0 or a negative errno.
 */
int socket_send(int socket, const void *bytes, size_t size_bytes, int flags);

#endif
