/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/sources/source_reader.h"

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
#include <unistd.h>

#include "agent/roles/child.h"
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
	char folder[PATH_MAX]; /* "": none */
	char path[PATH_MAX];   /* in the folder */
};

struct source_reply {
	int32_t err; /* 0 or a negative errno */
	uint32_t got;
	uint64_t size_bytes; /* of the file */
	uint64_t changed_ns;
	bool for_all;
	char bytes[SOURCE_PIECE_BYTES]; /* sent as far as it is filled */
};

/* --- the process --------------------------------------------------------------------------- */

static int become(const struct invoking_user *user)
{
	uint64_t kept = user->uid ? 0 : PRIVILEGE(CAP_DAC_READ_SEARCH);
	int err = invoking_user_become(user);

	if (!err && !user->uid)
		err = identity_take(role_rules(ROLE_RECORDER)->id, role_rules(ROLE_RECORDER)->id);
	return err ?: privileges_keep(kept, kept) ?: system_calls_limit(ROLE_CALLS_SOURCES);
}

#define LINK_BYTES 64 /* of the link of a descriptor in /proc */

/* Get the path of an open file, without symbolic links. */
static int path_of(int fd, char path[PATH_MAX])
{
	char link[LINK_BYTES];
	ssize_t size;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	size = readlink(link, path, PATH_MAX - 1);
	if (size < 0)
		return -errno;
	path[size] = 0;
	return *path == '/' ? 0 : -EXDEV;
}

/* Returns true if ".." leads out of the folder in which a path begins. */
static bool leads_out(const char *path)
{
	int depth = 0;

	while (depth >= 0 && *(path += strspn(path, "/"))) {
		size_t size = strcspn(path, "/");

		if (size == 2 && !memcmp(path, "..", 2))
			depth--;
		else if (size != 1 || *path != '.')
			depth++;
		path += size;
	}
	return depth < 0;
}

/*
 * Find a file below a folder. openat2() is not allowed here, since the filter of calls cannot see
 * whether it writes: so the place of what was found decides, which links may have led to.
 */
static int find_below(const char *folder_path, const char *path)
{
	AUTO_CLOSE int folder = open(folder_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char top[PATH_MAX], place[PATH_MAX];
	AUTO_CLOSE int fd = -1;
	size_t size;
	int err;

	if (folder < 0)
		return -errno;
	if (leads_out(path))
		return -EXDEV;
	fd = openat(folder, path + strspn(path, "/"), O_PATH | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = path_of(folder, top) ?: path_of(fd, place);
	if (err)
		return err;
	size = strcmp(top, "/") ? strlen(top) : 0;
	if (strncmp(place, top, size) != 0 || place[size] != '/')
		return -EXDEV;
	return TAKE_FD(fd);
}

/* Returns an O_PATH descriptor, or a negative errno. */
static int find(const struct source_request *request)
{
	int fd;

	if (*request->folder)
		return find_below(request->folder, request->path);
	fd = open(request->path, O_PATH | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * Returns true if everybody may read an open file, by its path without symbolic links: a file that
 * all may read can be in a folder that not all may enter.
 */
static bool is_for_all(int fd, const struct stat *file)
{
	char path[PATH_MAX], *at = path, *end;
	AUTO_CLOSE int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	struct stat st;

	if (path_of(fd, path))
		return false;
	while (folder >= 0 && !fstat(folder, &st) && S_ISDIR(st.st_mode) && st.st_mode & S_IXOTH) {
		int next;

		end = strchr(++at, '/');
		if (end)
			*end = 0;
		next = openat(folder, at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		scope_close(&folder);
		folder = next;
		if (!end)
			return folder >= 0 && !fstat(folder, &st) && st.st_dev == file->st_dev &&
			       st.st_ino == file->st_ino && st.st_mode & S_IROTH;
		at = end;
	}
	return false;
}

/*
 * Open a regular file, and nothing else: opening a device or a FIFO can have effects, or block.
 * Files of the kernel, such as those of /proc, look like regular files, mostly empty ones; a read
 * of them can have effects.
 */
static int open_regular(const struct source_request *request, bool *ret_for_all)
{
	AUTO_CLOSE int found = find(request);
	struct statfs system;
	char again[LINK_BYTES];
	struct stat st;
	int fd;

	if (found < 0)
		return found;
	if (fstat(found, &st) || fstatfs(found, &system))
		return -errno;
	if (!S_ISREG(st.st_mode) || system.f_type == SYSFS_MAGIC)
		return -EINVAL;
	if (!st.st_size)
		return -ENODATA;
	if (st.st_size > SOURCE_BYTES_MAX)
		return -EFBIG;
	snprintf(again, sizeof(again), "/proc/self/fd/%d", found);
	fd = open(again, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	*ret_for_all = is_for_all(found, &st);
	return fd;
}

static void answer(const struct source_request *request, int *fd, bool *for_all,
		   struct source_reply *ret)
{
	struct stat st;
	ssize_t got;

	ret->got = 0;
	if (!request->offset) {
		scope_close(fd);
		*fd = open_regular(request, for_all);
	}
	ret->err = *fd < 0 ? *fd : fstat(*fd, &st) ? -errno : 0;
	if (ret->err)
		return;
	ret->size_bytes = (uint64_t)st.st_size;
	ret->for_all = *for_all;
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
	bool for_all = false;
	int fd = -1, none, err;

	prctl(PR_SET_NAME, "jitbpf-sources");
	fd_message_keep_only(socket, 0);
	err = become(user);
	while (!err && fd_message_receive(FD_MESSAGE_SOCKET, &request, sizeof(request), &none) ==
			       (ssize_t)sizeof(request)) {
		scope_close(&none);
		request.folder[sizeof(request.folder) - 1] = 0;
		request.path[sizeof(request.path) - 1] = 0;
		answer(&request, &fd, &for_all, &reply);
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
	child_wait_for_end(reader->pid, reader->given_up ? 1 : SOURCE_TIMEOUT_MS);
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

int source_reader_read(struct source_reader *reader, const char *folder, const char *path,
		       struct source_file *ret)
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
	if (strlen(path) >= sizeof(request->path) ||
	    (folder && strlen(folder) >= sizeof(request->folder)))
		return -ENAMETOOLONG;
	strcpy(request->path, path);
	if (folder)
		strcpy(request->folder, folder);
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
		file.for_all = reply->for_all;
		request->offset = file.size_bytes;
	} while (reply->got);
	file.bytes = TAKE_PTR(bytes);
	*ret = file;
	return 0;
}
