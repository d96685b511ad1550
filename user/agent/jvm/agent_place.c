/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/jvm/agent_place.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/path.h"
#include "base/scope.h"

#define PIECE_BYTES 65536

/* A magic link would lead out of the root. */
static int open_in_root(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (unsigned)flags | O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int fd = (int)syscall(SYS_openat2, root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : fd;
}

int agent_place_open_folder(int root_fd, const char *folder)
{
	return open_in_root(root_fd, folder, O_DIRECTORY);
}

static bool runs_code(int fd)
{
	struct statvfs fs;

	return !fstatvfs(fd, &fs) && !(fs.f_flag & ST_NOEXEC);
}

/* Returns true if the installed file itself is at the path, and the process may load it. */
static bool is_installed(int root_fd, int agent_fd, const char *path)
{
	AUTO_CLOSE int fd = open_in_root(root_fd, path, 0);
	struct stat there, installed;
	char link[32];

	if (fd < 0 || fstat(fd, &there) || fstat(agent_fd, &installed) ||
	    there.st_dev != installed.st_dev || there.st_ino != installed.st_ino)
		return false;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return !access(link, R_OK) && runs_code(fd);
}

/* Returns true if only the user and root can replace the user's files in a folder. */
static bool is_safe(int folder_fd, const struct agent_user *user)
{
	struct stat st;

	return !fstat(folder_fd, &st) &&
	       (!st.st_uid || st.st_uid == user->uid || st.st_uid == user->root_uid) &&
	       (!(st.st_mode & (S_IWGRP | S_IWOTH)) || st.st_mode & S_ISVTX);
}

static int copy_bytes(int from_fd, int to_fd)
{
	static char piece[PIECE_BYTES];
	off_t at = 0;
	ssize_t got;

	while ((got = pread(from_fd, piece, sizeof(piece), at)) > 0) {
		for (ssize_t done = 0, wrote; done < got; done += wrote) {
			wrote = write(to_fd, piece + done, (size_t)(got - done));
			if (wrote < 0)
				return -errno;
		}
		at += got;
	}
	return got < 0 ? -errno : 0;
}

static int copy_into(struct agent_place *place, int agent_fd)
{
	AUTO_CLOSE int fd = openat(place->folder_fd, place->name,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0500);
	int err;

	if (fd < 0)
		return -errno;
	err = copy_bytes(agent_fd, fd);
	if (err)
		unlinkat(place->folder_fd, place->name, 0);
	return err;
}

int agent_place_find(int root_fd, int agent_fd, const char *path, const struct agent_user *user,
		     struct agent_place *ret)
{
	static const char *const folders[] = {"tmp", "var/tmp", "dev/shm"};
	int result = -EACCES;
	uint32_t number = 0;

	*ret = (struct agent_place){.folder_fd = -1};
	if (is_installed(root_fd, agent_fd, path)) {
		snprintf(ret->path, sizeof(ret->path), "%s", path);
		return 0;
	}
	if (getrandom(&number, sizeof(number), 0) != sizeof(number))
		return -errno;
	for (size_t i = 0; i < ARRAY_SIZE(folders); i++) {
		int err;

		ret->folder_fd = agent_place_open_folder(root_fd, folders[i]);
		if (ret->folder_fd < 0)
			continue;
		snprintf(ret->path, sizeof(ret->path), "/%s/libjitbpf-jvmti-%08x.so", folders[i],
			 number);
		ret->name = path_file(ret->path);
		err = runs_code(ret->folder_fd) && is_safe(ret->folder_fd, user)
			      ? copy_into(ret, agent_fd)
			      : -EACCES;
		if (!err)
			return 0;
		if (err != -EACCES && err != -EROFS)
			result = err;
		close(ret->folder_fd);
		ret->folder_fd = -1;
	}
	return result;
}

void agent_place_remove(struct agent_place *place)
{
	if (place->folder_fd < 0)
		return;
	unlinkat(place->folder_fd, place->name, 0);
	close(place->folder_fd);
	place->folder_fd = -1;
}
