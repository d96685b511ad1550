/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Messages over a local SOCK_SEQPACKET socket, with file descriptors. */
#ifndef JITBPF_AGENT_ROLES_FD_MESSAGE_H
#define JITBPF_AGENT_ROLES_FD_MESSAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define FD_MESSAGE_FDS_MAX 4

/* The descriptors of a message, owned by its receiver. Zero-initialized: none. */
struct message_fds {
	int fd[FD_MESSAGE_FDS_MAX];
	uint32_t count;
};

/* Create a pair of connected sockets, close-on-exec. Returns 0 or a negative errno. */
int fd_message_pair(int ret[2]);

/*
 * Send a message with a descriptor, or without one if fd is -1. The caller
 * keeps fd. Raises no SIGPIPE. Returns 0 or a negative errno.
 */
int fd_message_send(int socket, const void *bytes, size_t size_bytes, int fd);

/* fd_message_send() with several descriptors, which the caller keeps. */
int fd_message_send_fds(int socket, const void *bytes, size_t size_bytes,
			const struct message_fds *fds);

/*
 * Wait for a message of at most size_bytes. *ret_fd is its descriptor, owned by
 * the caller, or -1; further ones are closed. Returns the size of the message, 0
 * if the other end is closed, or a negative errno.
 */
ssize_t fd_message_receive(int socket, void *buf, size_t size_bytes, int *ret_fd);

/* The same with several descriptors: fewer than sent if no more are free here. */
ssize_t fd_message_receive_fds(int socket, void *buf, size_t size_bytes, struct message_fds *ret);

void message_fds_close(struct message_fds *fds);

/* The descriptor that fd_message_keep_only() gives the socket. */
#define FD_MESSAGE_SOCKET 3

/*
 * Give a forked process no descriptors but the socket, as FD_MESSAGE_SOCKET, and standard streams.
 * Those from `first` on become /dev/null.
 */
void fd_message_keep_only(int socket, int first);

#endif
