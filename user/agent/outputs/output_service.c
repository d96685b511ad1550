/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/outputs/output_service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "agent/roles/fd_message.h"
#include "agent/roles/privileges.h"
#include "agent/roles/system_calls.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/vec.h"

struct served_file {
	uint32_t number;
	struct output_file file; /* its fd is open until it is published, which needs it */
};

struct retained_file {
	uint32_t number;
	char *name; /* in the folder of the series */
	dev_t device;
	ino_t inode;
};

struct service {
	const struct output_paths *paths;
	int series_fd; /* the folder of the series; -1: it is to be found */
	uint32_t opened;
	VEC(struct served_file) files;
	VEC(struct retained_file) retained;
};

/* --- becoming the process ------------------------------------------------------------- */

static int become(const struct invoking_user *user)
{
	uint64_t kept = user->uid ? 0 : PRIVILEGE(CAP_DAC_OVERRIDE) | PRIVILEGE(CAP_FOWNER);

	return invoking_user_become(user)
		       ?: privileges_keep(kept, kept) ?: system_calls_limit(ROLE_CALLS_COMMON);
}

/* --- requests ---------------------------------------------------------------------------- */

static struct served_file *find(struct service *service, uint32_t number)
{
	vec_for_each (file, &service->files) {
		if (file->number == number)
			return file;
	}
	return NULL;
}

/* "profile.jitbpf" becomes "profile.20261122T093000.123Z.jitbpf". */
static int make_name(const char *name, char ret[NAME_MAX + 1])
{
	const char *extension = strrchr(name, '.') ?: name + strlen(name);
	struct timespec now;
	struct tm utc;
	char when[32];
	int length;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &utc);
	strftime(when, sizeof(when), "%Y%m%dT%H%M%S", &utc);
	length = snprintf(ret, NAME_MAX + 1, "%.*s.%s.%03ldZ%s", (int)(extension - name), name,
			  when, now.tv_nsec / 1000000, extension);
	return length <= NAME_MAX ? 0 : -ENAMETOOLONG;
}

/* Find the folder of the series, in which its first file gets that name. */
static int find_series(struct service *service, const char *path, const char *name)
{
	AUTO_FREE char *first = NULL;
	struct output_path found;
	int err;

	if (asprintf(&first, "%.*s%s", (int)(path_file(path) - path), path, name) < 0) {
		first = NULL;
		return -ENOMEM;
	}
	err = output_path_find(first, &found);
	if (err)
		return err;
	service->series_fd = TAKE_FD(found.folder_fd);
	output_path_deinit(&found);
	return 0;
}

static bool is_removed(int folder_fd)
{
	struct stat st;

	return !fstat(folder_fd, &st) && !st.st_nlink;
}

static int open_in_series(struct service *service, const char *path, struct output_reply *reply,
			  struct output_file *ret)
{
	int err = make_name(path_file(path), reply->name);

	/* Another folder may be at its path by now. */
	if (service->series_fd >= 0 && is_removed(service->series_fd))
		close(TAKE_FD(service->series_fd));
	if (!err && service->series_fd < 0)
		err = find_series(service, path, reply->name);
	return err ?: output_file_create(service->series_fd, reply->name, ret);
}

/*
 * The target of a link is not renamed to .old: it has another name, so the user would not find it.
 */
static bool is_link(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && S_ISLNK(st.st_mode);
}

static int open_file(struct service *service, uint32_t path, struct output_reply *reply,
		     int *ret_fd)
{
	struct served_file served;
	int err = vec_reserve(&service->files, service->files.size + 1);

	if (err)
		return err;
	if (path >= service->paths->count)
		return -EINVAL;
	if (service->paths->series && !path)
		err = open_in_series(service, service->paths->paths[path], reply, &served.file);
	else
		err = output_file_open(service->paths->paths[path], FD_MESSAGE_SOCKET,
				       &served.file);
	if (err)
		return err;
	served.file.keeps_old =
		service->paths->keeps_old && !path && !is_link(service->paths->paths[0]);
	*ret_fd = fcntl(served.file.fd, F_DUPFD_CLOEXEC, 0);
	if (*ret_fd < 0) {
		err = -errno;
		close(served.file.fd);
		output_file_deinit(&served.file);
		return err;
	}
	/* The reader of a FIFO waits until all that write to it have closed it. */
	if (!served.file.name)
		close(TAKE_FD(served.file.fd));
	reply->replaces = served.file.name;
	reply->stale = served.file.stale;
	reply->number = served.number = service->opened++;
	memcpy(reply->place, served.file.place, sizeof(reply->place));
	return vec_push(&service->files, served);
}

static int publish(struct served_file *served, bool *ret_kept_old)
{
	int err = output_file_publish(&served->file);

	*ret_kept_old = served->file.kept_old;
	if (!err && served->file.fd >= 0)
		close(TAKE_FD(served->file.fd));
	return err;
}

static void close_file(struct service *service, struct served_file *served)
{
	scope_close(&served->file.fd);
	output_file_deinit(&served->file);
	*served = service->files.data[--service->files.size];
}

/* Remember a published file of the series. */
static int retain(struct service *service, struct served_file *served)
{
	struct retained_file retained = {.number = served->number};
	const char *slash = strchr(served->file.place, '/');
	struct stat st;
	int err = -EINVAL;

	if (slash && service->series_fd >= 0 && !served->file.name)
		err = fstatat(service->series_fd, slash + 1, &st, AT_SYMLINK_NOFOLLOW) ? -errno : 0;
	if (!err) {
		retained.device = st.st_dev;
		retained.inode = st.st_ino;
		retained.name = strdup(slash + 1);
		err = retained.name ? vec_push(&service->retained, retained) : -ENOMEM;
		if (err)
			free(retained.name);
	}
	close_file(service, served);
	return err;
}

/* Delete a file, unless another one has its name by now. */
static int delete (struct service *service, uint32_t number)
{
	struct stat st;
	int err = -ENOENT;

	vec_for_each (file, &service->retained) {
		if (file->number != number)
			continue;
		err = fstatat(service->series_fd, file->name, &st, AT_SYMLINK_NOFOLLOW) ? -errno
											: 0;
		if (!err && st.st_dev == file->device && st.st_ino == file->inode &&
		    unlinkat(service->series_fd, file->name, 0))
			err = -errno;
		free(file->name);
		*file = service->retained.data[--service->retained.size];
		break;
	}
	return err;
}

static int answer(struct service *service, const struct output_request *request)
{
	AUTO_CLOSE int fd = -1;
	struct output_reply reply = {0};
	struct served_file *served = find(service, request->number);

	switch (request->kind) {
	case OUTPUT_OPEN:
		reply.err = open_file(service, request->number, &reply, &fd);
		break;
	case OUTPUT_DELETE:
		reply.err = delete (service, request->number);
		break;
	default:
		if (!served)
			reply.err = -EINVAL;
		else if (request->kind == OUTPUT_PUBLISH)
			reply.err = publish(served, &reply.kept_old);
		else if (request->kind == OUTPUT_RETAIN)
			reply.err = retain(service, served);
		else
			close_file(service, served);
	}
	return fd_message_send(FD_MESSAGE_SOCKET, &reply, sizeof(reply), fd);
}

void output_service_run(int socket, const struct invoking_user *user,
			const struct output_paths *paths)
{
	static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
	struct service service = {.paths = paths, .series_fd = -1};
	struct output_request request;
	int err, fd;

	prctl(PR_SET_NAME, "jitbpf-outputs");
	/* Signals are for jitbpf, which may still publish outputs after one. */
	for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
		signal(ignored[i], SIG_IGN);
	fd_message_keep_only(socket, 0);
	err = become(user);
	while (!err && fd_message_receive(FD_MESSAGE_SOCKET, &request, sizeof(request), &fd) ==
			       sizeof(request)) {
		scope_close(&fd);
		err = answer(&service, &request);
	}
	/* Remove temporary names: jitbpf may have been killed. */
	while (service.files.size)
		close_file(&service, service.files.data);
	_exit(err ? 1 : 0);
}
