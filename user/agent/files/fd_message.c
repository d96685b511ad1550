/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/fd_message.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union fd_control {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

int fd_message_pair(int ret[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) ? -errno : 0;
}

int fd_message_send(int socket, const void *bytes, size_t size_bytes, int fd)
{
	struct iovec piece = {(void *)bytes, size_bytes};
	union fd_control control = {.head = {
					    .cmsg_len = CMSG_LEN(sizeof(fd)),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
				    }};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	ssize_t sent;

	if (fd >= 0) {
		memcpy(CMSG_DATA(&control.head), &fd, sizeof(fd));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

ssize_t fd_message_receive(int socket, void *buf, size_t size_bytes, int *ret_fd)
{
	struct iovec piece = {buf, size_bytes};
	union fd_control control;
	struct msghdr message = {
		.msg_iov = &piece,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	const struct cmsghdr *head;
	ssize_t got;

	*ret_fd = -1;
	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got ? -errno : 0;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_type == SCM_RIGHTS)
		memcpy(ret_fd, CMSG_DATA(head), sizeof(*ret_fd));
	return got;
}
