/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/outputs/output_opener.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/roles/child.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"
#include "base/text.h"

#define END_MS 10000 /* it may delete files on a slow file system */

struct output_opener {
	const struct invoking_user *user;
	struct output_paths paths;
	pid_t pid;
	int socket;
	pthread_mutex_t lock; /* one request at a time */
};

int output_opener_create(const struct invoking_user *user, const struct output_paths *paths,
			 struct output_opener **ret)
{
	AUTO_FREE struct output_opener *opener = calloc(1, sizeof(*opener));
	int sockets[2], err;

	if (!opener)
		return -ENOMEM;
	err = fd_message_pair(sockets);
	if (err)
		return err;
	opener->pid = fork();
	if (!opener->pid)
		output_service_run(sockets[1], user, paths);
	close(sockets[1]);
	if (opener->pid < 0) {
		err = -errno;
		close(sockets[0]);
		return err;
	}
	opener->user = user;
	opener->paths = *paths;
	opener->socket = sockets[0];
	pthread_mutex_init(&opener->lock, NULL);
	*ret = TAKE_PTR(opener);
	return 0;
}

void output_opener_destroy(struct output_opener *opener)
{
	if (!opener)
		return;
	close(opener->socket);
	child_wait_for_end(opener->pid, END_MS);
	pthread_mutex_destroy(&opener->lock);
	free(opener);
}

const char *output_opener_user(const struct output_opener *opener)
{
	return opener->user->name;
}

/* Returns the error in the reply, or a negative errno. */
static int request(struct output_opener *opener, enum output_request_kind kind, uint32_t number,
		   struct output_reply *ret, int *ret_fd)
{
	const struct output_request message = {.kind = kind, .number = number};
	ssize_t got;
	int err;

	*ret_fd = -1;
	pthread_mutex_lock(&opener->lock);
	err = fd_message_send(opener->socket, &message, sizeof(message), -1);
	if (!err)
		child_wait_for_message(opener->pid, opener->socket);
	got = err ? err : fd_message_receive(opener->socket, ret, sizeof(*ret), ret_fd);
	pthread_mutex_unlock(&opener->lock);
	if (got != sizeof(*ret))
		return -EPIPE;
	return ret->err;
}

static int tell(struct output_opener *opener, enum output_request_kind kind, uint32_t number)
{
	AUTO_CLOSE int fd = -1;
	struct output_reply reply;

	return request(opener, kind, number, &reply, &fd);
}

/* --- descriptors that jitbpf was given -------------------------------------------------- */

/* Returns the descriptor that a path names, or -1. */
static int descriptor_in(const char *path)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
	char *end;
	long fd;

	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		const char *number = path + strlen(folders[i]);

		if (!begins_with(path, folders[i]) || *number < '0' || *number > '9')
			continue;
		fd = strtol(number, &end, 10);
		if (!*end && fd <= INT_MAX)
			return (int)fd;
	}
	return -1;
}

/* Like standard output, it is written from where it is. */
static int open_again(const struct output_opener *opener, int fd, struct opened_output *ret)
{
	int flags = fcntl(fd, F_GETFL), copy;

	if (flags < 0 || fd == opener->socket || (flags & O_ACCMODE) == O_RDONLY)
		return -EBADF;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return -errno;
	*ret = (struct opened_output){.fd = copy};
	return 0;
}

/* --- files --------------------------------------------------------------------------------- */

int output_opener_open(struct output_opener *opener, const char *path, struct opened_output *ret)
{
	struct output_reply reply;
	uint32_t number = 0;
	int given = descriptor_in(path), fd, err;

	if (given >= 0)
		return open_again(opener, given, ret);
	while (number < opener->paths.count && strcmp(opener->paths.paths[number], path))
		number++;
	err = request(opener, OUTPUT_OPEN, number, &reply, &fd);
	if (err)
		return err;
	if (fd < 0) { /* there was no room for it here */
		tell(opener, OUTPUT_CLOSE, reply.number);
		return -EMFILE;
	}
	*ret = (struct opened_output){
		.fd = fd,
		.number = reply.number,
		.served = true,
		.replaces = reply.replaces,
		.stale = reply.stale,
	};
	memcpy(ret->place, reply.place, sizeof(ret->place));
	memcpy(ret->name, reply.name, sizeof(ret->name));
	return 0;
}

int output_opener_publish(struct output_opener *opener, struct opened_output *opened)
{
	AUTO_CLOSE int fd = -1;
	struct output_reply reply;
	int err;

	if (!opened->served || !opened->replaces)
		return output_file_begin(opened->fd, &opened->stale);
	err = request(opener, OUTPUT_PUBLISH, opened->number, &reply, &fd);
	if (err)
		return err;
	opened->replaces = false;
	opened->kept_old = reply.kept_old;
	return 0;
}

void output_opener_forget(struct output_opener *opener, const struct opened_output *opened)
{
	if (opened->served)
		tell(opener, OUTPUT_CLOSE, opened->number);
}

int output_opener_retain(struct output_opener *opener, const struct opened_output *opened)
{
	return opened->served ? tell(opener, OUTPUT_RETAIN, opened->number) : -EINVAL;
}

int output_opener_delete(struct output_opener *opener, uint32_t number)
{
	return tell(opener, OUTPUT_DELETE, number);
}
