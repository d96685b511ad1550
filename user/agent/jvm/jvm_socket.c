/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/jvm_socket.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "agent/clock.h"
#include "base/scope.h"

#define BUSY_MS 5 /* until the next attempt to connect, if the queue of the listener is full */

int jvm_socket_wait(const struct jvm_socket *socket, int fd, short events, uint64_t end_ns)
{
	struct pollfd waiting[] = {
		{.fd = fd, .events = events},
		{.fd = socket->stop_fd, .events = POLLIN},
	};

	for (;;) {
		uint64_t now_ns = clock_now_ns();

		if (now_ns >= end_ns)
			return -ETIMEDOUT;
		poll(waiting, ARRAY_SIZE(waiting), (int)((end_ns - now_ns) / 1000000 + 1));
		if (waiting[1].revents)
			return -ECANCELED;
		if (waiting[0].revents)
			return 0;
	}
}

/*
 * Returns an O_PATH descriptor of the socket, so that the examined socket is the one connected to.
 */
static int open_file(const struct jvm_socket *socket)
{
	AUTO_CLOSE int fd =
		openat(socket->folder_fd, socket->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	if (!S_ISSOCK(st.st_mode) || st.st_uid != socket->uid)
		return -EPERM;
	return TAKE_FD(fd);
}

static int check_listener(const struct jvm_socket *socket, int fd)
{
	struct ucred listener;
	socklen_t size_bytes = sizeof(listener);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &size_bytes))
		return -errno;
	return listener.pid == (pid_t)socket->pid && listener.uid == socket->uid ? 0 : -EPERM;
}

int jvm_socket_connect(const struct jvm_socket *socket_, uint64_t end_ns)
{
	AUTO_CLOSE int file_fd = open_file(socket_);
	AUTO_CLOSE int fd = -1;
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int err;

	if (file_fd < 0)
		return file_fd;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	snprintf(address.sun_path, sizeof(address.sun_path), "/proc/self/fd/%d", file_fd);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address))) {
		uint64_t soon_ns = clock_now_ns() + BUSY_MS * 1000000ull;

		if (errno != EAGAIN)
			return errno == ECONNREFUSED ? -ENOENT : -errno;
		err = jvm_socket_wait(socket_, -1, 0, soon_ns < end_ns ? soon_ns : end_ns);
		if (err != -ETIMEDOUT || soon_ns >= end_ns)
			return err;
	}
	err = check_listener(socket_, fd);
	return err ?: TAKE_FD(fd);
}

static int send_all(const struct jvm_socket *socket, int fd, const char *bytes, size_t size_bytes,
		    uint64_t end_ns)
{
	while (size_bytes) {
		ssize_t sent = send(fd, bytes, size_bytes, MSG_NOSIGNAL);
		int err;

		if (sent < 0 && errno != EAGAIN)
			return -EBADMSG; /* it closed the connection without an answer */
		if (sent > 0) {
			bytes += sent;
			size_bytes -= (size_t)sent;
			continue;
		}
		err = jvm_socket_wait(socket, fd, POLLOUT, end_ns);
		if (err)
			return err;
	}
	return 0;
}

/* Receive until the JVM closes the connection. Returns the size, or a negative errno. */
static ssize_t receive_all(const struct jvm_socket *socket, int fd, uint64_t end_ns,
			   char room[JVM_ANSWER_BYTES])
{
	size_t size = 0;

	for (;;) {
		int err = jvm_socket_wait(socket, fd, POLLIN, end_ns);
		ssize_t got = err ? 0 : recv(fd, room + size, JVM_ANSWER_BYTES - size, 0);

		if (err)
			return err;
		if (!got)
			return (ssize_t)size;
		if (got > 0)
			size += (size_t)got;
		else if (errno != EAGAIN)
			return -EBADMSG;
		if (size == JVM_ANSWER_BYTES)
			return -EBADMSG;
	}
}

/* Version, operation and arguments, each ended by a NUL. Returns the size, or -ENAMETOOLONG. */
static int make_request(const char *operation, const char *const arguments[JVM_ARGUMENTS],
			size_t size, char *ret)
{
	int bytes = snprintf(ret, size, "1%c%s%c%s%c%s%c%s", 0, operation, 0, arguments[0] ?: "", 0,
			     arguments[1] ?: "", 0, arguments[2] ?: "");

	return bytes < 0 || (size_t)bytes >= size ? -ENAMETOOLONG : bytes + 1;
}

int jvm_socket_call(const struct jvm_socket *socket, const char *operation,
		    const char *const arguments[JVM_ARGUMENTS], uint64_t end_ns,
		    char room[JVM_ANSWER_BYTES], struct jvm_answer *ret)
{
	char request[PATH_MAX + 256];
	int size_bytes = make_request(operation, arguments, sizeof(request), request), err;
	AUTO_CLOSE int fd = size_bytes < 0 ? size_bytes : jvm_socket_connect(socket, end_ns);
	ssize_t got;

	if (fd < 0)
		return fd;
	err = send_all(socket, fd, request, (size_t)size_bytes, end_ns);
	if (err)
		return err;
	got = receive_all(socket, fd, end_ns, room);
	return got < 0 ? (int)got : jvm_answer_parse(room, (size_t)got, ret);
}
