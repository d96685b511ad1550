/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/source_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/roles/fd_message.h"
#include "agent/roles/identity.h"
#include "agent/roles/privileges.h"
#include "agent/roles/system_calls.h"
#include "base/scope.h"

struct source_reader {
	pid_t pid;
	int socket;
	bool given_up;
};

/* Read a piece of a file. At offset 0, the file is opened; later pieces are of the same file. */
struct source_request {
	uint64_t offset;
	char path[PATH_MAX];
};

struct source_reply {
	int32_t err; /* 0 or a negative errno */
	uint32_t got;
	uint64_t size_bytes; /* of the file */
	uint64_t changed_ns;
	uint32_t mode;			/* st_mode */
	char bytes[SOURCE_PIECE_BYTES]; /* sent as far as it is filled */
};

/* --- the process --------------------------------------------------------------------------- */

static int become(const struct invoking_user *user)
{
	uint64_t kept = user->uid ? 0 : PRIVILEGE(CAP_DAC_READ_SEARCH);
	int err = invoking_user_become(user);

	if (!err && !user->uid)
		err = identity_take(role_rules(ROLE_RECORDER)->id);
	return err ?: privileges_keep(kept, kept) ?: system_calls_limit(ROLE_CALLS_SOURCES);
}

/*
 * Open a regular file, and nothing else: opening a device or a FIFO can have effects, or block.
 * Files of the kernel, such as those of /proc, look like regular files, mostly empty ones; a read
 * of them can have effects.
 */
static int open_regular(const char *path)
{
	AUTO_CLOSE int found = open(path, O_PATH | O_CLOEXEC);
	struct statfs system;
	char again[64];
	struct stat st;
	int fd;

	if (found < 0 || fstat(found, &st) || fstatfs(found, &system))
		return -errno;
	if (!S_ISREG(st.st_mode) || system.f_type == SYSFS_MAGIC)
		return -EINVAL;
	if (!st.st_size)
		return -ENODATA;
	if (st.st_size > SOURCE_BYTES_MAX)
		return -EFBIG;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static void answer(const struct source_request *request, int *fd, struct source_reply *ret)
{
	struct stat st;
	ssize_t got;

	ret->got = 0;
	if (!request->offset) {
		scope_close(fd);
		*fd = open_regular(request->path);
	}
	ret->err = *fd < 0 ? *fd : fstat(*fd, &st) ? -errno : 0;
	if (ret->err)
		return;
	ret->size_bytes = (uint64_t)st.st_size;
	ret->mode = st.st_mode;
	ret->changed_ns =
		(uint64_t)st.st_mtim.tv_sec * 1000000000ull + (uint64_t)st.st_mtim.tv_nsec;
	got = pread(*fd, ret->bytes, sizeof(ret->bytes), (off_t)request->offset);
	ret->err = got < 0 ? -errno : 0;
	ret->got = got < 0 ? 0 : (uint32_t)got;
}

static _Noreturn void serve(int socket, const struct invoking_user *user)
{
	static struct source_request request; /* the process has one thread */
	static struct source_reply reply;
	int fd = -1, none, err;

	prctl(PR_SET_NAME, "jitbpf-sources");
	fd_message_keep_only(socket, 0);
	err = become(user);
	while (!err && fd_message_receive(FD_MESSAGE_SOCKET, &request, sizeof(request), &none) ==
			       (ssize_t)sizeof(request)) {
		scope_close(&none);
		request.path[sizeof(request.path) - 1] = 0;
		answer(&request, &fd, &reply);
		err = fd_message_send(FD_MESSAGE_SOCKET, &reply,
				      offsetof(struct source_reply, bytes) + reply.got, -1);
	}
	_exit(err ? 1 : 0);
}

/* --- the caller's side ------------------------------------------------------------------ */

int source_reader_create(const struct invoking_user *user, struct source_reader **ret)
{
	AUTO_FREE struct source_reader *reader = calloc(1, sizeof(*reader));
	int sockets[2], err;

	if (!reader)
		return -ENOMEM;
	err = fd_message_pair(sockets);
	if (err)
		return err;
	reader->pid = fork();
	if (!reader->pid)
		serve(sockets[1], user);
	err = reader->pid < 0 ? -errno : 0;
	close(sockets[1]);
	if (err) {
		close(sockets[0]);
		return err;
	}
	reader->socket = sockets[0];
	*ret = TAKE_PTR(reader);
	return 0;
}

void source_reader_destroy(struct source_reader *reader)
{
	if (!reader)
		return;
	close(reader->socket);
	if (reader->given_up)
		kill(reader->pid, SIGKILL); /* it may be in a call that no signal ends */
	waitpid(reader->pid, NULL, reader->given_up ? WNOHANG : 0);
	free(reader);
}

/* Returns the error in the reply, or a negative errno, after which no more files are read. */
static int request_piece(struct source_reader *reader, const struct source_request *request,
			 struct source_reply *ret)
{
	struct pollfd readable = {.fd = reader->socket, .events = POLLIN};
	ssize_t got;
	int fd, ready, err;

	err = fd_message_send(reader->socket, request, sizeof(*request), -1);
	do
		ready = err ? -1 : poll(&readable, 1, SOURCE_TIMEOUT_MS);
	while (ready < 0 && !err && errno == EINTR);
	if (ready <= 0) {
		reader->given_up = true;
		return -ETIMEDOUT;
	}
	got = fd_message_receive(reader->socket, ret, sizeof(*ret), &fd);
	scope_close(&fd);
	if (got < (ssize_t)offsetof(struct source_reply, bytes) ||
	    (size_t)got - offsetof(struct source_reply, bytes) != ret->got) {
		reader->given_up = true;
		return -EPIPE;
	}
	return ret->err;
}

int source_reader_read(struct source_reader *reader, const char *path, struct source_file *ret)
{
	AUTO_FREE struct source_request *request = calloc(1, sizeof(*request));
	AUTO_FREE struct source_reply *reply = malloc(sizeof(*reply));
	struct source_file file = {0};
	AUTO_FREE char *bytes = NULL;
	int err;

	if (!request || !reply)
		return -ENOMEM;
	if (reader->given_up)
		return -ETIMEDOUT;
	if (strlen(path) >= sizeof(request->path))
		return -ENAMETOOLONG;
	strcpy(request->path, path);
	do {
		err = request_piece(reader, request, reply);
		if (err)
			return err;
		if (file.size_bytes + reply->got > SOURCE_BYTES_MAX)
			return -EFBIG;
		if (reply->got) {
			char *grown = realloc(bytes, file.size_bytes + reply->got);

			if (!grown)
				return -ENOMEM;
			bytes = grown;
			memcpy(bytes + file.size_bytes, reply->bytes, reply->got);
		}
		file.size_bytes += reply->got;
		file.changed_ns = reply->changed_ns;
		file.for_all = reply->mode & S_IROTH;
		request->offset = file.size_bytes;
	} while (reply->got);
	file.bytes = TAKE_PTR(bytes);
	*ret = file;
	return 0;
}
