/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages over a local socket that keeps their borders, with a descriptor along or without. */
#ifndef JITBPF_AGENT_FILES_FD_MESSAGE_H
#define JITBPF_AGENT_FILES_FD_MESSAGE_H

#include <stddef.h>
#include <sys/types.h>

/* A pair of connected sockets, close-on-exec. Returns 0 or negative errno. */
int fd_message_pair(int ret[2]);

/* fd -1: without. It stays the caller's. Returns 0 or negative errno; raises no signal. */
int fd_message_send(int socket, const void *bytes, size_t size_bytes, int fd);

/*
 * Wait for a message, which fits into size_bytes. *ret_fd is the descriptor that
 * came along, the caller's, or -1. Returns the message's size, 0 where the other
 * end is closed, or negative errno.
 */
ssize_t fd_message_receive(int socket, void *buf, size_t size_bytes, int *ret_fd);

#endif
