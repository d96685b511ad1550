/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/outputs/output_path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/scope.h"

#define LINKS_MAX 40 /* as in the kernel */
#define FOLDER	  (O_PATH | O_DIRECTORY | O_CLOEXEC)

bool output_path_trusts(uid_t owner)
{
	return !owner || owner == geteuid();
}

/* A walk along a path. */
struct walk {
	char *left; /* the rest of the path */
	int folder_fd;
	int links;
};

/* Continue in another folder. Takes over fd. Returns 0 or a negative errno. */
static int enter(struct walk *walk, int fd)
{
	if (fd < 0)
		return -errno;
	close(walk->folder_fd);
	walk->folder_fd = fd;
	return 0;
}

/* Returns true for /proc/PID/fd/N and the like, whose contents are not what they lead to. */
static bool is_magic(int link_fd)
{
	struct statfs fs;

	return !fstatfs(link_fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Replace a link by its contents. */
static int follow(struct walk *walk, int link_fd, const struct stat *st, const char *rest)
{
	char contents[PATH_MAX], *left;
	ssize_t length = readlinkat(link_fd, "", contents, sizeof(contents) - 1);

	if (length < 0)
		return -errno;
	if (!*rest && is_magic(link_fd))
		return -ENOTSUP;
	if (!output_path_trusts(st->st_uid) || ++walk->links > LINKS_MAX)
		return -ELOOP;
	contents[length] = 0;
	if (asprintf(&left, "%s%s%s", contents, *rest ? "/" : "", rest) < 0)
		return -ENOMEM;
	free(walk->left);
	walk->left = left;
	return *contents == '/' ? enter(walk, open("/", FOLDER)) : 0;
}

/* Take the next name off the path. Returns the rest of the path, with its slashes. */
static int next_name(struct walk *walk, char ret_name[NAME_MAX + 1], const char **ret_rest)
{
	const char *begin = walk->left + strspn(walk->left, "/");
	size_t length = strcspn(begin, "/");

	if (length > NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(ret_name, begin, length);
	ret_name[length] = 0;
	*ret_rest = begin + length;
	return 0;
}

static void advance(struct walk *walk, const char *rest)
{
	memmove(walk->left, rest, strlen(rest) + 1);
}

/* Follow one part of a path. Returns 1 if *ret is set, 0 if parts are left, or a negative errno. */
static int step(struct walk *walk, struct output_path *ret)
{
	AUTO_CLOSE int fd = -1;
	char name[NAME_MAX + 1];
	const char *rest;
	struct stat st;
	int err = next_name(walk, name, &rest);

	if (err)
		return err;
	if (!*name || ((!strcmp(name, ".") || !strcmp(name, "..")) && !rest[strspn(rest, "/")]))
		return -EISDIR;
	fd = openat(walk->folder_fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && (errno != ENOENT || *rest))
		return -errno;
	if (fd >= 0 && fstat(fd, &st))
		return -errno;
	if (fd >= 0 && S_ISLNK(st.st_mode))
		return follow(walk, fd, &st, rest);
	if (*rest) {
		advance(walk, rest);
		return S_ISDIR(st.st_mode) ? enter(walk, TAKE_FD(fd)) : -ENOTDIR;
	}
	if (fd >= 0 && S_ISDIR(st.st_mode))
		return -EISDIR;
	ret->file_fd = TAKE_FD(fd);
	memcpy(ret->name, name, sizeof(name));
	return 1;
}

int output_path_find(const char *path, struct output_path *ret)
{
	struct walk walk = {.left = strdup(path)};
	struct output_path found = {.file_fd = -1};
	int done = 0;

	walk.folder_fd = open(*path == '/' ? "/" : ".", FOLDER);
	if (walk.folder_fd < 0)
		done = -errno;
	else if (!walk.left)
		done = -ENOMEM;
	else if (!*path)
		done = -ENOENT;
	while (!done)
		done = step(&walk, &found);
	free(walk.left);
	if (done < 0) {
		if (walk.folder_fd >= 0)
			close(walk.folder_fd);
		return done;
	}
	found.folder_fd = walk.folder_fd;
	*ret = found;
	return 0;
}

void output_path_deinit(struct output_path *path)
{
	if (path->folder_fd >= 0)
		close(path->folder_fd);
	if (path->file_fd >= 0)
		close(path->file_fd);
	path->folder_fd = path->file_fd = -1;
}
