/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_blob.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"

int file_open_again(int path_fd)
{
	char self[64];
	struct stat st;
	int opened;

	if (fstat(path_fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", path_fd);
	opened = open(self, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	return opened < 0 ? -errno : opened;
}

int file_open_regular(const char *path)
{
	AUTO_CLOSE int fd = open(path, O_PATH | O_CLOEXEC);

	return fd < 0 ? -errno : file_open_again(fd);
}

static int read_at(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	char *to = buf;

	while (size_bytes) {
		ssize_t got = pread((int)(intptr_t)context, to, size_bytes, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got ? -errno : -EBADMSG; /* the file was truncated */
		to += got;
		offset += (uint64_t)got;
		size_bytes -= (size_t)got;
	}
	return 0;
}

static void close_fd(void *context)
{
	close((int)(intptr_t)context);
}

int file_blob_init(struct blob *ret, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	*ret = file_blob_of_size(fd, (uint64_t)st.st_size);
	return 0;
}

struct blob file_blob_of_size(int fd, uint64_t size_bytes)
{
	return (struct blob){
		.size_bytes = size_bytes,
		.read = read_at,
		.close = close_fd,
		.context = (void *)(intptr_t)fd,
	};
}

int file_blob_fd(const struct blob *blob)
{
	return blob->read == read_at ? (int)(intptr_t)blob->context : -1;
}

/* Takes over fd, or a negative errno, also on failure. */
static int init_or_close(struct blob *ret, int fd_)
{
	AUTO_CLOSE int fd = fd_;
	int err = fd < 0 ? fd : file_blob_init(ret, fd);

	if (!err)
		TAKE_FD(fd);
	return err;
}

int file_blob_open_path(struct blob *ret, const char *path)
{
	return init_or_close(ret, file_open_regular(path));
}

int file_blob_open(struct blob *ret, int path_fd)
{
	return init_or_close(ret, file_open_again(path_fd));
}
