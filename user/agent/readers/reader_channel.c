/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_channel.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "agent/roles/fd_message.h"
#include "base/scope.h"

#define PIECE_BYTES (60u << 10)

/* Begins the first piece of a message. */
struct message_head {
	uint32_t kind;
	uint32_t size_bytes; /* of all pieces, without the head */
};

/* Wait until the socket can be used. Returns 0 or -ETIMEDOUT. */
static int wait_for(int socket, short events, const struct reader_limit *limit)
{
	struct pollfd waiting = {.fd = socket, .events = events};
	int left_ms;

	if (!limit)
		return 0;
	do {
		left_ms = reader_limit_left_ms(limit);
		if (poll(&waiting, 1, left_ms) > 0)
			return 0;
	} while (left_ms);
	return -ETIMEDOUT;
}

static int send_piece(int socket, const void *bytes, size_t size_bytes, int fd,
		      const struct reader_limit *limit)
{
	int err;

	do {
		err = fd_message_send(socket, bytes, size_bytes, fd);
		if (err == -EAGAIN && wait_for(socket, POLLOUT, limit))
			return -ETIMEDOUT;
	} while (err == -EAGAIN);
	return err;
}

int reader_send(int socket, uint32_t kind, const void *bytes, size_t size_bytes, int fd,
		const struct reader_limit *limit)
{
	struct message_head head = {.kind = kind, .size_bytes = (uint32_t)size_bytes};
	size_t at = size_bytes < PIECE_BYTES ? size_bytes : PIECE_BYTES;
	uint8_t first[sizeof(head) + PIECE_BYTES];
	int err;

	if (size_bytes > READER_MESSAGE_MAX)
		return -E2BIG;
	memcpy(first, &head, sizeof(head));
	if (at)
		memcpy(first + sizeof(head), bytes, at);
	err = send_piece(socket, first, sizeof(head) + at, fd, limit);
	while (!err && at < size_bytes) {
		size_t piece = size_bytes - at < PIECE_BYTES ? size_bytes - at : PIECE_BYTES;

		err = send_piece(socket, (const uint8_t *)bytes + at, piece, -1, limit);
		at += piece;
	}
	return err;
}

/* Returns the size of a piece, which is not 0, or a negative errno. */
static ssize_t receive_piece(int socket, void *buf, size_t size_bytes, int *ret_fd,
			     const struct reader_limit *limit)
{
	ssize_t got = wait_for(socket, POLLIN, limit);

	if (!got)
		got = fd_message_receive(socket, buf, size_bytes, ret_fd);
	return got == 0 || got == -ECONNRESET ? -EPIPE : got;
}

static int receive_rest(int socket, message_bytes *ret, size_t size_bytes,
			const struct reader_limit *limit)
{
	while (ret->size < size_bytes) {
		AUTO_CLOSE int none = -1;
		ssize_t got = receive_piece(socket, ret->data + ret->size, size_bytes - ret->size,
					    &none, limit);

		if (got < 0)
			return (int)got;
		ret->size += (size_t)got;
	}
	return 0;
}

int reader_receive(int socket, message_bytes *ret, int *ret_fd, const struct reader_limit *limit)
{
	AUTO_CLOSE int fd = -1;
	uint8_t first[sizeof(struct message_head) + PIECE_BYTES];
	ssize_t got = receive_piece(socket, first, sizeof(first), &fd, limit);
	struct message_head head;
	int err;

	*ret_fd = -1;
	if (got < 0)
		return (int)got;
	if (got < (ssize_t)sizeof(head))
		return -EBADMSG;
	memcpy(&head, first, sizeof(head));
	got -= (ssize_t)sizeof(head);
	if (head.size_bytes > READER_MESSAGE_MAX || head.kind > INT_MAX || got > head.size_bytes)
		return -EBADMSG;
	if (vec_reserve(ret, head.size_bytes))
		return -ENOMEM;
	if (got)
		memcpy(ret->data, first + sizeof(head), (size_t)got);
	ret->size = (size_t)got;
	err = receive_rest(socket, ret, head.size_bytes, limit);
	if (err)
		return err;
	*ret_fd = TAKE_FD(fd);
	return (int)head.kind;
}
