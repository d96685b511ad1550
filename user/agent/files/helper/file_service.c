/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_service.h"

#include <errno.h>
#include <linux/magic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include "agent/files/helper/cgroup_files.h"
#include "agent/files/helper/container_names.h"
#include "agent/files/helper/debuginfod.h"
#include "agent/files/helper/file_blob.h"
#include "agent/files/helper/file_compare.h"
#include "agent/files/helper/file_direct.h"
#include "agent/files/helper/file_find.h"
#include "agent/files/helper/file_helper.h"
#include "agent/files/helper/file_identity.h"
#include "agent/files/helper/file_pinned.h"
#include "agent/files/helper/package_files.h"
#include "agent/files/helper/process_files.h"
#include "agent/files/helper/process_maps.h"
#include "agent/launch/invoking_user.h"
#include "agent/roles/fd_message.h"
#include "agent/roles/privileges.h"
#include "base/scope.h"
#include "decode/elf/elf_file.h"

static uint32_t read_build_id(const struct blob *blob, uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};

	return elf_file_init_any(&elf, blob) ? 0 : elf_file_build_id(&elf, ret);
}

/* Take the file that libdebuginfod has stored in its cache. */
static int find_served(const struct file_request *request, struct file_find *ret)
{
	AUTO_CLOSE int path_fd = debuginfod_find(request->build_id, request->build_id_bytes);
	int fd = path_fd < 0 ? path_fd : file_open_again(path_fd);

	if (fd < 0)
		return fd;
	*ret = (struct file_find){.path_fd = TAKE_FD(path_fd), .fd = fd};
	return 0;
}

static uint32_t flags_of(const struct file_request *request, const struct file_find *file)
{
	struct statfs fs;
	uint32_t flags = file->misreported ? FILE_MISREPORTED : 0;

	if (fstatfs(file->fd, &fs) || fs.f_type == FUSE_SUPER_MAGIC)
		flags |= FILE_IS_FUSE;
	if (request->kind == FILE_FIND_PATH && request->pid &&
	    file_find_root_is_foreign(request->pid))
		flags |= FILE_ROOT_FOREIGN;
	return flags;
}

static int find(const struct file_request *request, int sent_fd, struct file_reply *reply,
		int *ret_fd)
{
	struct file_find file = {.path_fd = -1, .fd = -1};
	int err = request->kind == FILE_FIND_SERVED ? find_served(request, &file)
						    : file_find(request, sent_fd, &file);
	AUTO_CLOSE int path_fd = file.path_fd;
	AUTO_CLOSE int fd = file.fd; /* shared with the blob, which is therefore not closed */
	struct blob blob;
	struct stat st;

	if (err == -EPERM &&
	    (request->kind == FILE_FIND_MAPPED || request->kind == FILE_FIND_GROWING))
		process_files_user(request->pid, &reply->needed);
	err = err ?: file_blob_init(&blob, fd);
	if (err)
		return err;
	if (fstat(fd, &st))
		return -errno;
	reply->owner = st.st_uid;
	reply->size_bytes = blob.size_bytes;
	reply->dev_major = file.dev_major;
	reply->dev_minor = file.dev_minor;
	reply->version = file_identity_version(fd);
	reply->pinned_bytes = file_pinned_bytes(fd);
	reply->build_id_bytes = read_build_id(&blob, reply->build_id);
	reply->direct = file_is_direct(fd);
	reply->flags = flags_of(request, &file);
	if (file_is_lasting(fd, reply->direct))
		reply->flags |= FILE_IS_LASTING;
	*ret_fd = reply->direct ? TAKE_FD(fd) : TAKE_FD(path_fd);
	return 0;
}

static int open_mapping(const struct file_request *request, int *ret_fd)
{
	int fd = request->kind == FILE_OPEN_MEMFD ? process_files_open_memfd(request)
						  : file_find_mapping(request);

	*ret_fd = fd < 0 ? -1 : fd;
	return fd < 0 ? fd : 0;
}

static int read_link(const struct file_request *request, struct file_reply *reply)
{
	size_t bytes;
	int err = process_files_read_link(request, (char *)reply->bytes, FILE_PATH_MAX, &bytes);

	if (!err)
		reply->size_bytes = bytes;
	return err;
}

/* Read what cgroups, containers or packages are called. */
static int read_names(const struct file_request *request, struct file_reply *reply)
{
	char *bytes = (char *)reply->bytes;
	size_t size = 0;
	int err;

	if (request->kind == FILE_READ_CGROUP) {
		err = cgroup_files_read(request->pid, bytes, FILE_PATH_MAX, &size);
	} else {
		if (request->kind == FILE_READ_CONTAINER)
			err = container_name_of_id("", request->path, bytes);
		else if (request->kind == FILE_READ_USER_CONTAINER)
			err = container_name_of_user("", (uint32_t)request->address, request->path,
						     bytes);
		else
			err = package_files_find("", request->path, bytes, FILE_PATH_MAX);
		size = err ? 0 : strlen(bytes) + 1;
	}
	reply->size_bytes = size;
	return err;
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
	if (request->kind == FILE_READ_MAPS)
		return process_maps_serve(socket, sent_fd, request, reply);
	if (request->kind == FILE_READ) {
		reply->err = read_piece(request, sent_fd, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_READ_GROWING) {
		reply->err = read_growing(request, sent_fd, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_READ_MEMORY) {
		reply->err = read_memory(request, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_COMPARE_MEMORY) {
		reply->err = file_compare_memory(request, sent_fd, reply);
	} else if (request->kind == FILE_READ_LINK) {
		reply->err = read_link(request, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_READ_CGROUP || request->kind == FILE_READ_CONTAINER ||
		   request->kind == FILE_READ_USER_CONTAINER ||
		   request->kind == FILE_READ_PACKAGES) {
		reply->err = read_names(request, reply);
		bytes = reply->size_bytes;
	} else if (request->kind == FILE_OPEN_MAPPING || request->kind == FILE_OPEN_MEMFD) {
		reply->err = open_mapping(request, &found_fd);
	} else {
		reply->err = find(request, sent_fd, reply, &found_fd);
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

/* The library writes into its cache, which is the invoking user's. */
static int become_user(void)
{
	CLEANUP(invoking_user_deinit) struct invoking_user user = {0};
	char words[256];
	int err = invoking_user_find(&user, words, sizeof(words));

	err = err ?: invoking_user_become(&user);
	if (!err && user.by_sudo && setenv("HOME", user.home, 1))
		err = -ENOMEM;
	return err ?: privileges_keep(0, 0);
}

void file_service_run_fetcher(int socket)
{
	if (become_user())
		return;
	run(socket, true);
}
