/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/server/socket_send.h"

#include <errno.h>
#include <sys/socket.h>

int socket_send(int socket, const void *bytes, size_t size_bytes, int flags)
{
	const char *at = bytes;

	while (size_bytes) {
		ssize_t sent = send(socket, at, size_bytes, MSG_NOSIGNAL | flags);

		if (sent < 0 && errno != EINTR)
			return -errno;
		if (sent > 0) {
			at += sent;
			size_bytes -= (size_t)sent;
		}
	}
	return 0;
}
