/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_service.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/files/debuginfod.h"
#include "agent/files/file_blob.h"
#include "agent/files/file_direct.h"
#include "agent/files/file_helper.h"
#include "agent/roles/fd_message.h"
#include "base/scope.h"
#include "decode/elf/elf_file.h"

/*
 * Check that an O_PATH descriptor is a regular file with the wanted inode (0
 * for any). Takes over fd. Returns fd or a negative errno.
 */
static int check_found(int fd, const struct file_request *request)
{
	struct stat st;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st))
		err = -errno;
	/* Files such as those of /proc report size 0, and reading them may have side effects. */
	else if (!S_ISREG(st.st_mode) || (!st.st_size && request->kind != FILE_FIND_GROWING))
		err = -EACCES;
	/* stat() and mappings differ in the device on overlayfs and btrfs, but not in the inode. */
	else if (request->inode && st.st_ino != request->inode)
		err = -ESTALE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int find_ours(const char *path, const struct file_request *request)
{
	if (*path != '/')
		return -ENOENT;
	return check_found(open(path, O_PATH | O_CLOEXEC), request);
}

/* Open a path in the root of a process. RESOLVE_IN_ROOT keeps links inside the root. */
static int find_in_root(const struct file_request *request)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	AUTO_CLOSE int root = -1;
	char root_path[64];

	snprintf(root_path, sizeof(root_path), "/proc/%u/root", request->pid);
	root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	return check_found((int)syscall(SYS_openat2, root, request->path, &how, sizeof(how)),
			   request);
}

/*
 * Find the file of a mapping by its path in the process's root, by the mapping
 * itself (the file was deleted or replaced), or by its path in our root (the
 * process has exited).
 */
static int find_mapped(const struct file_request *request)
{
	char path[64 + FILE_PATH_MAX];
	int fd = -ENOENT;

	if (*request->path == '/') {
		snprintf(path, sizeof(path), "/proc/%u/root%s", request->pid, request->path);
		fd = find_ours(path, request);
	}
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", request->pid,
		 (unsigned long long)request->address,
		 (unsigned long long)(request->address + request->size_bytes));
	fd = find_ours(path, request);
	return fd >= 0 ? fd : find_ours(request->path, request);
}

static uint32_t read_build_id(const struct blob *blob, uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};

	return elf_file_init_debug(&elf, blob) ? 0 : elf_file_build_id(&elf, ret);
}

static int find(const struct file_request *request, struct file_reply *reply, int *ret_fd)
{
	AUTO_CLOSE int path_fd = -1;
	AUTO_CLOSE int fd = -1; /* shared with the blob, which is therefore not closed */
	struct blob blob;
	struct stat st;
	int err;

	if (request->kind == FILE_FIND_SERVED)
		path_fd = debuginfod_find(request->build_id, request->build_id_bytes);
	else if (request->kind == FILE_FIND_MAPPED || request->kind == FILE_FIND_GROWING)
		path_fd = find_mapped(request);
	else if (request->pid)
		path_fd = find_in_root(request);
	else
		path_fd = find_ours(request->path, request);
	if (path_fd < 0)
		return path_fd;
	fd = file_open_again(path_fd);
	if (fd < 0)
		return fd;
	err = file_blob_init(&blob, fd);
	if (err)
		return err;
	if (fstat(fd, &st))
		return -errno;
	reply->owner = st.st_uid;
	reply->size_bytes = blob.size_bytes;
	reply->build_id_bytes = read_build_id(&blob, reply->build_id);
	reply->direct = file_is_direct(fd);
	*ret_fd = reply->direct ? TAKE_FD(fd) : TAKE_FD(path_fd);
	return 0;
}

/* Read exactly what is requested; a truncated file is an error. */
static int read_piece(const struct file_request *request, int path_fd, struct file_reply *reply)
{
	CLEANUP(blob_close) struct blob blob = {0};
	int err;

	if (path_fd < 0 || request->size_bytes > sizeof(reply->bytes))
		return -EINVAL;
	err = file_blob_open(&blob, path_fd);
	err = err ?: blob_read(&blob, request->offset, reply->bytes, request->size_bytes);
	if (!err)
		reply->size_bytes = request->size_bytes;
	return err;
}

/* Read as far as possible: memory may end inside the range. */
static int read_memory(const struct file_request *request, struct file_reply *reply)
{
	struct iovec to = {reply->bytes, request->size_bytes};
	struct iovec from = {(void *)request->address, request->size_bytes};
	ssize_t got;

	if (request->size_bytes > sizeof(reply->bytes))
		return -EINVAL;
	got = process_vm_readv((pid_t)request->pid, &to, 1, &from, 1, 0);
	if (got <= 0)
		return got ? -errno : -EFAULT;
	reply->size_bytes = (uint64_t)got;
	return 0;
}

static int read_growing(const struct file_request *request, int path_fd, struct file_reply *reply)
{
	AUTO_CLOSE int fd = -1;
	struct stat st;
	ssize_t got;

	if (path_fd < 0 || request->size_bytes > sizeof(reply->bytes))
		return -EINVAL;
	fd = file_open_again(path_fd);
	if (fd < 0)
		return fd;
	got = pread(fd, reply->bytes, request->size_bytes, (off_t)request->offset);
	if (got < 0 || fstat(fd, &st))
		return -errno;
	reply->size_bytes = (uint64_t)got;
	reply->file_bytes = (uint64_t)st.st_size;
	return 0;
}

static int answer(int socket, const struct file_request *request, int sent_fd,
		  struct file_reply *reply)
{
	AUTO_CLOSE int found_fd = -1;
	size_t bytes = 0;

	memset(reply, 0, offsetof(struct file_reply, bytes));
	if (request->kind == FILE_READ) {
		reply->err = read_piece(request, sent_fd, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_READ_GROWING) {
		reply->err = read_growing(request, sent_fd, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_READ_MEMORY) {
		reply->err = read_memory(request, reply);
		bytes = reply->size_bytes;
	} else {
		reply->err = find(request, reply, &found_fd);
	}
	return fd_message_send(socket, reply, offsetof(struct file_reply, bytes) + bytes, found_fd);
}

static void run(int socket, bool fetcher)
{
	AUTO_FREE struct file_request *request = malloc(sizeof(*request));
	AUTO_FREE struct file_reply *reply = malloc(sizeof(*reply));
	int err = request && reply ? 0 : -ENOMEM;

	while (!err) {
		AUTO_CLOSE int fd = -1;
		ssize_t got = fd_message_receive(socket, request, sizeof(*request), &fd);

		if (got < (ssize_t)offsetof(struct file_request, path) + 1)
			return;
		request->path[FILE_PATH_MAX - 1] = 0;
		if ((request->kind == FILE_FIND_SERVED) != fetcher)
			return;
		err = answer(socket, request, fd, reply);
	}
}

void file_service_run(int socket)
{
	run(socket, false);
}

void file_service_run_fetcher(int socket)
{
	run(socket, true);
}
