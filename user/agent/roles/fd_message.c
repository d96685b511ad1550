/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/roles/fd_message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

union fd_control {
	struct cmsghdr head;
	char room[CMSG_SPACE(FD_MESSAGE_FDS_MAX * sizeof(int))];
};

int fd_message_pair(int ret[2])
{
	return socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ret) ? -errno : 0;
}

int fd_message_send(int socket, const void *bytes, size_t size_bytes, int fd)
{
	struct message_fds fds = {.fd = {fd}, .count = fd >= 0};

	return fd_message_send_fds(socket, bytes, size_bytes, &fds);
}

int fd_message_send_fds(int socket, const void *bytes, size_t size_bytes,
			const struct message_fds *fds)
{
	struct iovec piece = {(void *)bytes, size_bytes};
	size_t fd_bytes = fds->count * sizeof(*fds->fd);
	union fd_control control = {.head = {
					    .cmsg_len = CMSG_LEN(fd_bytes),
					    .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS,
				    }};
	struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};
	ssize_t sent;

	if (fd_bytes) {
		memcpy(CMSG_DATA(&control.head), fds->fd, fd_bytes);
		message.msg_control = &control;
		message.msg_controllen = CMSG_SPACE(fd_bytes);
	}
	do
		sent = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (sent < 0 && errno == EINTR);
	return sent < 0 ? -errno : 0;
}

ssize_t fd_message_receive(int socket, void *buf, size_t size_bytes, int *ret_fd)
{
	struct message_fds fds;
	ssize_t got = fd_message_receive_fds(socket, buf, size_bytes, &fds);

	*ret_fd = got >= 0 && fds.count ? fds.fd[0] : -1;
	for (uint32_t i = 1; got >= 0 && i < fds.count; i++)
		close(fds.fd[i]);
	return got;
}

ssize_t fd_message_receive_fds(int socket, void *buf, size_t size_bytes, struct message_fds *ret)
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

	*ret = (struct message_fds){0};
	do
		got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (got < 0 && errno == EINTR);
	if (got <= 0)
		return got ? -errno : 0;
	head = CMSG_FIRSTHDR(&message);
	if (head && head->cmsg_level == SOL_SOCKET && head->cmsg_type == SCM_RIGHTS) {
		ret->count = (uint32_t)((head->cmsg_len - CMSG_LEN(0)) / sizeof(*ret->fd));
		memcpy(ret->fd, CMSG_DATA(head), ret->count * sizeof(*ret->fd));
	}
	return got;
}

void message_fds_close(struct message_fds *fds)
{
	while (fds->count)
		close(fds->fd[--fds->count]);
}

/* The streams come first: /dev/null may have the number that the socket gets. */
void fd_message_keep_only(int socket, int first)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = first; fd < FD_MESSAGE_SOCKET && nothing >= 0; fd++)
		dup2(nothing, fd);
	if (socket != FD_MESSAGE_SOCKET)
		dup2(socket, FD_MESSAGE_SOCKET);
	close_range(FD_MESSAGE_SOCKET + 1, ~0u, 0);
}
