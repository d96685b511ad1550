/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The socket through which a JVM takes commands of its own user: .java_pidN in /tmp, N being its
 * pid in its own namespace. Whoever listens there may be hostile: nothing is sent before the kernel
 * has said that the listener is the process, and each call has a deadline.
 */
#ifndef JITBPF_AGENT_JVM_JVM_SOCKET_H
#define JITBPF_AGENT_JVM_JVM_SOCKET_H

#include <stdint.h>

#include "decode/text/jvm_answer.h"

#define JVM_ARGUMENTS	 3
#define JVM_ANSWER_BYTES 8192 /* a longer answer is none */

struct jvm_socket {
	int folder_fd; /* of /tmp as the process sees it; borrowed */
	int stop_fd;   /* calls end with -ECANCELED when it is readable; borrowed */
	char name[32];
	uint32_t pid; /* in our namespace */
	uint32_t uid;
};

/* Wait until fd is ready. Returns 0, -ETIMEDOUT at end_ns (CLOCK_MONOTONIC), or -ECANCELED. */
int jvm_socket_wait(const struct jvm_socket *socket, int fd, short events, uint64_t end_ns);

/*
 * Connect. Returns a non-blocking descriptor; -ENOENT if nobody listens; -EPERM if the file or the
 * listener is not the process's own; -ETIMEDOUT, -ECANCELED, or another negative errno.
 */
int jvm_socket_connect(const struct jvm_socket *socket, uint64_t end_ns);

/*
 * Have the JVM execute an operation; missing arguments are NULL. Returns 0 with *ret in `room`, an
 * error of jvm_socket_connect(), or -EBADMSG if the answer is none.
 */
int jvm_socket_call(const struct jvm_socket *socket, const char *operation,
		    const char *const arguments[JVM_ARGUMENTS], uint64_t end_ns,
		    char room[JVM_ANSWER_BYTES], struct jvm_answer *ret);

#endif
