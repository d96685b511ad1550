/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/process_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "agent/files/helper/file_find.h"
#include "base/scope.h"

DEFINE_CLEANUP(DIR *, closedir);

static bool device_of(int fd, struct statx *ret)
{
	return !statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE, ret);
}

/*
 * Returns true if an O_PATH descriptor is a memfd. A file of that name may be on a file system that
 * does not respond, so the file is not accessed before this check of its mount.
 */
static bool is_memfd(int path_fd)
{
	AUTO_CLOSE int known = memfd_create("jitbpf", MFD_CLOEXEC);
	struct statx ours, theirs;

	return known >= 0 && device_of(known, &ours) && device_of(path_fd, &theirs) &&
	       ours.stx_dev_major == theirs.stx_dev_major &&
	       ours.stx_dev_minor == theirs.stx_dev_minor;
}

static bool is_link_to(const char *path, const char *wanted)
{
	char link[FILE_PATH_MAX];
	ssize_t length = readlink(path, link, sizeof(link));

	return length == (ssize_t)strlen(wanted) && !memcmp(link, wanted, (size_t)length);
}

/*
 * Open the requested file by a descriptor that the process has of it. For users who own the
 * process, but may not use map_files. Returns an O_PATH descriptor or a negative errno.
 */
static int find_descriptor(const struct file_request *request)
{
	CLEANUP(closedirp) DIR *fds = NULL;
	char path[64 + 256];
	struct dirent *entry;

	snprintf(path, sizeof(path), "/proc/%u/fd", request->pid);
	fds = opendir(path);
	while (fds && (entry = readdir(fds))) {
		AUTO_CLOSE int fd = -1;
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%u/fd/%s", request->pid, entry->d_name);
		if (!is_link_to(path, request->path))
			continue;
		fd = open(path, O_PATH | O_CLOEXEC);
		if (fd >= 0 && is_memfd(fd) && !fstat(fd, &st) && st.st_ino == request->inode)
			return TAKE_FD(fd);
	}
	return -ENOENT;
}

int process_files_open_memfd(const struct file_request *request)
{
	AUTO_CLOSE int path_fd = file_find_mapping(request);

	if (path_fd == -EPERM)
		path_fd = find_descriptor(request);
	if (path_fd < 0)
		return path_fd;
	return is_memfd(path_fd) ? file_open_again(path_fd) : -EACCES;
}

int process_files_read_link(const struct file_request *request, char *buf, size_t room_bytes,
			    size_t *ret_bytes)
{
	char path[64];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/fd/%u", request->pid, (unsigned)request->address);
	length = readlink(path, buf, room_bytes);
	if (length < 0)
		return -errno;
	*ret_bytes = (size_t)length;
	return 0;
}

/* Parse four IDs: real, effective, saved, of the file system. */
static bool read_ids(const char *line, const char *name, uint32_t *ret)
{
	size_t length = strlen(name);
	uint32_t ids[4];

	if (strncmp(line, name, length) != 0 ||
	    sscanf(line + length, "%u %u %u %u", &ids[0], &ids[1], &ids[2], &ids[3]) != 4)
		return false;
	*ret = ids[0];
	return ids[0] == ids[1] && ids[1] == ids[2] && ids[2] == ids[3];
}

int process_files_user(uint32_t pid, struct file_actor *ret)
{
	AUTO_FCLOSE FILE *status = NULL;
	AUTO_FREE char *line = NULL;
	struct file_actor user = {.is_user = 1};
	bool uid = false, gid = false;
	size_t room = 0;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/status", pid);
	status = fopen(path, "re");
	while (status && !gid && getline(&line, &room, status) > 0) {
		uid |= read_ids(line, "Uid:", &user.uid);
		gid = read_ids(line, "Gid:", &user.gid);
	}
	if (!uid || !gid)
		return -ESRCH;
	*ret = user;
	return 0;
}
