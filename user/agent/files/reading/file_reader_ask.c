/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/reading/file_reader_state.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"

static bool in_turn(const struct file_reader *reader)
{
	return reader->turn_end_ns && *reader->turn_end_ns;
}

static const struct file_patience *patience_with(const struct file_reader *reader,
						 struct file_place place)
{
	return place.kind == FILE_PLACE_SERVERS ? &reader->servers : &reader->patience;
}

/*
 * Returns a name of the requested file or data, for messages; NULL: no memory. The caller frees it.
 */
static char *subject_of(const struct file_request *request, int fd)
{
	char link[64], path[FILE_PATH_MAX], *memory;
	ssize_t length;

	if (request->kind == FILE_FIND_SERVED)
		return strdup("a debuginfod server");
	if (request->kind == FILE_READ_CGROUP || request->kind == FILE_READ_CONTAINER ||
	    request->kind == FILE_READ_USER_CONTAINER) /* the path is the ID */
		return strdup("names of cgroups and containers");
	if (request->kind == FILE_READ_PACKAGES) /* the path is a list */
		return strdup("the lists of installed packages");
	if (request->kind == FILE_READ_MEMORY || request->kind == FILE_COMPARE_MEMORY ||
	    request->kind == FILE_OPEN_MAPPING || request->kind == FILE_OPEN_MEMFD ||
	    request->kind == FILE_READ_LINK)
		return asprintf(&memory, "the memory of process %u", request->pid) < 0 ? NULL
										       : memory;
	if (request->kind != FILE_READ && request->kind != FILE_READ_GROWING)
		return strdup(request->path);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* readlink() on /proc/self/fd does not access the file system */
	length = readlink(link, path, sizeof(path));
	return length < 0 ? strdup("a file") : strndup(path, (size_t)length);
}

static size_t request_bytes(const struct file_request *request)
{
	return offsetof(struct file_request, path) + strlen(request->path) + 1;
}

/*
 * Returns true if a late answer can be used: one with a descriptor. Contents may have changed.
 */
static bool may_be_late(const struct file_request *request)
{
	switch (request->kind) {
	case FILE_OPEN_MAPPING:
	case FILE_OPEN_MEMFD:
	case FILE_FIND_MAPPED:
	case FILE_FIND_GROWING:
	case FILE_FIND_PATH:
	case FILE_FIND_SERVED:
		return true;
	default:
		return false;
	}
}

/*
 * Charge a place; give it up if there was no answer or if its time is used up. Takes over socket,
 * from which an answer may still come, or -1.
 */
static int charge(struct file_reader *reader, struct file_place place, uint64_t spent_ms,
		  bool answered, int socket_, const struct file_request *request, int fd)
{
	AUTO_CLOSE int socket = socket_;
	int err = place_accounts_charge(&reader->accounts, place, patience_with(reader, place),
					spent_ms, answered, clock_now_ns());
	char *subject;

	/* In turns, a place has one request without an answer, whose late answer restores it. */
	if (!err && !answered && in_turn(reader))
		err = 1;
	if (err <= 0)
		return err;
	subject = subject_of(request, fd);
	if (!subject)
		return -ENOMEM;
	place_accounts_give_up(&reader->accounts, place, subject, TAKE_FD(socket), clock_now_ns());
	if (may_be_late(request))
		place_accounts_set_request(&reader->accounts, place, request,
					   request_bytes(request), clock_now_ns());
	return 0;
}

static int wait_for_answer(int socket, uint64_t until_ns)
{
	struct pollfd waiting = {.fd = socket, .events = POLLIN};
	uint64_t now_ns;

	while ((now_ns = clock_now_ns()) < until_ns) {
		int ready = poll(&waiting, 1, (int)((until_ns - now_ns + 999999) / 1000000));

		if (ready > 0)
			return 0;
		if (ready < 0 && errno != EINTR)
			return -errno;
	}
	return -ETIMEDOUT;
}

/* Returns the size of the reply, or a negative errno if the helper cannot be used any more. */
static ssize_t receive(struct file_reader *reader, int socket, int *ret_fd)
{
	ssize_t got = fd_message_receive(socket, &reader->reply, sizeof(reader->reply), ret_fd);

	if (got < (ssize_t)offsetof(struct file_reply, bytes))
		return got < 0 ? got : -EPIPE; /* the helper has exited */
	return got;
}

static ssize_t converse(struct file_reader *reader, int socket, const struct file_request *request,
			int fd, uint64_t until_ns, int *ret_fd)
{
	int err = fd_message_send(socket, request, request_bytes(request), fd);

	err = err ?: wait_for_answer(socket, until_ns);
	return err ?: receive(reader, socket, ret_fd);
}

/* Returns true if the library timed out on a server, or the kernel on a mount. */
static bool is_timeout(int err)
{
	return err == -ETIME || err == -ETIMEDOUT;
}

/* Limit the time for an answer to what is left of the event loop's turn. */
static uint64_t left_of_turn_ms(const struct file_reader *reader, uint64_t left_ms, uint64_t now_ns)
{
	uint64_t end_ns = in_turn(reader) ? *reader->turn_end_ns : 0;
	uint64_t turn_ms = end_ns > now_ns ? (end_ns - now_ns) / 1000000 : 0;

	if (!end_ns)
		return left_ms;
	turn_ms = turn_ms < FILE_TURN_ANSWER_MS ? turn_ms : FILE_TURN_ANSWER_MS;
	return left_ms < turn_ms ? left_ms : turn_ms;
}

/*
 * Take the answer to an earlier request about a place: its helper may have waited for a CPU. It
 * counts if the request was the same. Returns 0 with *ret_fd set, or -ENOENT.
 */
static int take_late_answer(struct file_reader *reader, struct file_place place,
			    const struct file_request *request, int *idle, int *ret_fd)
{
	AUTO_FREE struct late_request *late = NULL;
	AUTO_CLOSE int socket = place_accounts_take_answer(&reader->accounts, place, &late);
	AUTO_CLOSE int fd = -1;
	ssize_t got = socket < 0 ? -1 : receive(reader, socket, &fd);

	if (got >= 0 && *idle < 0)
		*idle = TAKE_FD(socket);
	if (got < 0 || !late || clock_now_ns() - late->sent_ns > FILE_LATE_NS ||
	    late->size_bytes != request_bytes(request) ||
	    memcmp(late->bytes, request, late->size_bytes) != 0)
		return -ENOENT;
	*ret_fd = TAKE_FD(fd);
	return 0;
}

bool file_reader_has_time(struct file_reader *reader, struct file_place place)
{
	return place_accounts_left_ms(&reader->accounts, place, patience_with(reader, place),
				      clock_now_ns());
}

/* Returns where the socket to the helper for a request is. It is -1 if a helper must be started. */
static int *socket_for(struct file_reader *reader, const struct file_request *request)
{
	const struct file_actor *actor = &request->actor;

	if (request->kind == FILE_FIND_SERVED)
		return &reader->fetchers;
	if (!actor->is_user)
		return &reader->openers;
	if (reader->user_openers >= 0 &&
	    (actor->uid != reader->user.uid || actor->gid != reader->user.gid))
		close(TAKE_FD(reader->user_openers));
	reader->user = *actor;
	return &reader->user_openers;
}

static int start_helper(const struct file_reader *reader, const struct file_request *request)
{
	const struct file_actor *actor = &request->actor;

	if (actor->is_user)
		return broker_connect_as(reader->broker, ROLE_USER_OPENER, actor->uid, actor->gid);
	return broker_connect(reader->broker,
			      request->kind == FILE_FIND_SERVED ? ROLE_FETCHER : ROLE_OPENER);
}

void file_reader_begin(struct file_reader *reader)
{
	if (reader->openers < 0)
		reader->openers = broker_connect(reader->broker, ROLE_OPENER);
}

int file_reader_ask(struct file_reader *reader, struct file_place place,
		    const struct file_request *request, int fd, int *ret_fd)
{
	uint64_t began_ns = clock_now_ns(), left_ms;
	int *socket = socket_for(reader, request), err, late = -1;
	bool answered;
	ssize_t got;

	*ret_fd = -1;
	if (request->actor.is_user)
		place = file_place_of_user(place, request->actor.uid, request->actor.gid);
	if (reader->accounts.late)
		place_accounts_see_answers(&reader->accounts, began_ns);
	if (!take_late_answer(reader, place, request, socket, ret_fd))
		return reader->reply.err;
	left_ms = place_accounts_left_ms(&reader->accounts, place, patience_with(reader, place),
					 began_ns);
	left_ms = left_of_turn_ms(reader, left_ms, began_ns);
	if (!left_ms)
		return -ETIMEDOUT;
	if (*socket < 0)
		*socket = start_helper(reader, request);
	if (*socket < 0)
		return *socket;
	got = converse(reader, *socket, request, fd, began_ns + left_ms * 1000000, ret_fd);
	if (got == -ETIMEDOUT)
		late = TAKE_FD(*socket);
	else if (got < 0)
		close(TAKE_FD(*socket));
	answered = got >= 0 && !is_timeout(reader->reply.err);
	err = charge(reader, place, (clock_now_ns() - began_ns) / 1000000, answered, late, request,
		     fd);
	if (got < 0)
		return (int)got;
	return err ?: reader->reply.err;
}
