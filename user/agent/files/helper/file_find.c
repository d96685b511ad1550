/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_find.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/nsfs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "agent/files/helper/file_identity.h"
#include "base/scope.h"

static bool is_overlay(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/*
 * Linux 6.8 to 6.17, unless corrected, report the lower file system's device for mappings on
 * overlayfs. The inode of such a mapping does not suffice, except for what the process itself maps.
 */
static bool is_misreported(const struct file_request *request, const struct mapped_identity *found,
			   int fd, bool from_mapping)
{
	return from_mapping && found->inode == request->inode && is_overlay(fd);
}

/* Check that an open file is the requested one. Returns 0 or a negative errno. */
static int check_identity(const struct file_request *request, bool from_mapping,
			  struct file_find *file)
{
	struct mapped_identity found;
	uint64_t generation;
	int err;

	if (!request->inode)
		return 0;
	err = file_identity_mapped(file->fd, &found);
	if (err)
		return err;
	file->dev_major = found.dev_major;
	file->dev_minor = found.dev_minor;
	if (found.inode != request->inode || found.dev_major != request->dev_major ||
	    found.dev_minor != request->dev_minor) {
		file->misreported = is_misreported(request, &found, file->fd, from_mapping);
		return file->misreported ? 0 : -ESTALE;
	}
	generation = request->generation ? file_identity_generation(file->fd) : 0;
	return generation && generation != request->generation ? -ESTALE : 0;
}

/* The file system refuses the file, since CAP_DAC_READ_SEARCH passes all checks of the kernel. */
static int refused(int err)
{
	return err == -EACCES ? -EPERM : err;
}

/*
 * Open the file of an O_PATH descriptor for reading if it is regular and the requested one. Takes
 * over path_fd, or a negative errno in its place.
 */
static int accept_file(int path_fd_, const struct file_request *request, bool from_mapping,
		       struct file_find *ret)
{
	AUTO_CLOSE int path_fd = path_fd_;
	AUTO_CLOSE int fd = -1;
	struct file_find file = {.path_fd = path_fd};
	struct stat st;
	int err;

	if (path_fd < 0)
		return refused(path_fd);
	if (fstat(path_fd, &st))
		return refused(-errno);
	/* Files such as those of /proc report size 0, and reading them may have side effects. */
	if (!S_ISREG(st.st_mode) || (!st.st_size && request->kind != FILE_FIND_GROWING))
		return -EACCES;
	file.fd = fd = file_open_again(path_fd);
	if (fd < 0)
		return refused(fd);
	err = check_identity(request, from_mapping, &file);
	if (err)
		return err;
	*ret = file;
	TAKE_FD(path_fd);
	TAKE_FD(fd);
	return 0;
}

static int open_path(const char *path)
{
	int fd = *path == '/' ? open(path, O_PATH | O_CLOEXEC) : -1;

	return fd >= 0 ? fd : *path == '/' ? -errno : -ENOENT;
}

/* Open a path in the root of a process. RESOLVE_IN_ROOT keeps links inside the root. */
static int open_in_root(const struct file_request *request)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	AUTO_CLOSE int root = -1;
	char root_path[64];
	int fd;

	if (*request->path != '/')
		return -ENOENT;
	snprintf(root_path, sizeof(root_path), "/proc/%u/root", request->pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	fd = (int)syscall(SYS_openat2, root, request->path, &how, sizeof(how));
	return fd < 0 ? -errno : fd;
}

int file_find_mapping(const struct file_request *request)
{
	char path[96];

	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", request->pid,
		 (unsigned long long)request->address,
		 (unsigned long long)(request->address + request->size_bytes));
	return open_path(path);
}

/*
 * Find the file of a mapping: by the mapping itself, by its path in the process's root (the kernel
 * refuses the mapping, or the range has changed), or in our root (the process has exited). Another
 * file in our root proves nothing: the process may have had another root.
 */
static int find_mapped(const struct file_request *request, int mapping_fd, struct file_find *ret)
{
	bool stale, is_refused;
	int err = -ENOENT;

	if (mapping_fd >= 0)
		err = accept_file(fcntl(mapping_fd, F_DUPFD_CLOEXEC, 0), request, true, ret);
	is_refused = err == -EPERM;
	stale = err == -ESTALE;
	if (err)
		err = accept_file(open_in_root(request), request, false, ret);
	is_refused |= err == -EPERM;
	stale |= err == -ESTALE;
	if (err)
		err = accept_file(open_path(request->path), request, false, ret);
	if (is_refused && err)
		return -EPERM;
	if (stale && err)
		return -ESTALE;
	return err == -ESTALE ? -ENOENT : err;
}

int file_find(const struct file_request *request, int mapping_fd, struct file_find *ret)
{
	if (request->kind == FILE_FIND_MAPPED || request->kind == FILE_FIND_GROWING)
		return find_mapped(request, mapping_fd, ret);
	return accept_file(request->pid ? open_in_root(request) : open_path(request->path), request,
			   false, ret);
}

bool file_find_root_is_foreign(uint32_t pid)
{
	AUTO_CLOSE int mounts = -1, owner = -1;
	struct stat ours, theirs;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/ns/mnt", pid);
	mounts = open(path, O_RDONLY | O_CLOEXEC);
	if (mounts < 0)
		return true;
	owner = ioctl(mounts, NS_GET_USERNS);
	if (owner < 0 || fstat(owner, &theirs) || stat("/proc/self/ns/user", &ours))
		return true;
	return ours.st_dev != theirs.st_dev || ours.st_ino != theirs.st_ino;
}
