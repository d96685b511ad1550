/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages over a local SOCK_SEQPACKET socket, each with at most one file descriptor. */
#ifndef JITBPF_AGENT_FILES_FD_MESSAGE_H
#define JITBPF_AGENT_FILES_FD_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/* Create a pair of connected sockets, close-on-exec. Returns 0 or a negative errno. */
int fd_message_pair(int ret[2]);

/*
 * Send a message with a descriptor, or without one if fd is -1. The caller
 * keeps fd. Raises no SIGPIPE. Returns 0 or a negative errno.
 */
int fd_message_send(int socket, const void *bytes, size_t size_bytes, int fd);

/*
 * Wait for a message of at most size_bytes. *ret_fd is its descriptor, owned by
 * the caller, or -1. Returns the size of the message, 0 if the other end is
 * closed, or a negative errno.
 */
ssize_t fd_message_receive(int socket, void *buf, size_t size_bytes, int *ret_fd);

#endif
