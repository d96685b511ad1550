/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Messages between the recorder and a reader process, in pieces that fit the
 * socket. A message has a kind, bytes, and at most one descriptor. With a
 * limit, the socket must be non-blocking; NULL: wait for as long as it takes.
 */
#ifndef JITBPF_AGENT_READERS_READER_CHANNEL_H
#define JITBPF_AGENT_READERS_READER_CHANNEL_H

#include <stddef.h>
#include <stdint.h>

#include "agent/readers/reader_limit.h"
#include "symbolize/frames_message.h"

#define READER_MESSAGE_MAX (16u << 20)

/*
 * Send a message with a descriptor, or without one if fd is -1; the caller keeps fd. Returns 0 or
 * a negative errno: -ETIMEDOUT, -EPIPE.
 */
int reader_send(int socket, uint32_t kind, const void *bytes, size_t size_bytes, int fd,
		const struct reader_limit *limit);

/*
 * Wait for a message. Replaces *ret by its bytes; *ret_fd, owned by the caller, is its descriptor
 * or -1. Returns its kind, or a negative errno: -ETIMEDOUT, -EPIPE (the other end is closed), or
 * -EBADMSG.
 */
int reader_receive(int socket, message_bytes *ret, int *ret_fd, const struct reader_limit *limit);

#endif
