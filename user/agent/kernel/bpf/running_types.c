/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/kernel/bpf/running_types.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/scope.h"

struct mapped_bytes {
	void *data; /* NULL: nothing is mapped */
	size_t size_bytes;
};

static void unmap(struct mapped_bytes *mapped)
{
	if (mapped->data)
		munmap(mapped->data, mapped->size_bytes);
}

static int read_into(int fd, uint8_t *bytes, size_t size_bytes)
{
	for (size_t done = 0; done < size_bytes;) {
		ssize_t got = read(fd, bytes + done, size_bytes - done);

		if (got <= 0)
			return got < 0 ? -errno : -EIO;
		done += (size_t)got;
	}
	return 0;
}

/* Maps a file of BTF. Before Linux 6.16, the kernel's cannot be mapped: reads it, page by page. */
static int map_btf(const char *path, struct mapped_bytes *ret)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(unmap) struct mapped_bytes mapped = {0};
	struct stat st;
	void *data;
	int err;

	if (fd < 0 || fstat(fd, &st))
		return -errno;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data != MAP_FAILED) {
		*ret = (struct mapped_bytes){data, (size_t)st.st_size};
		return 0;
	}
	data = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0);
	if (data == MAP_FAILED)
		return -errno;
	mapped = (struct mapped_bytes){data, (size_t)st.st_size};
	err = read_into(fd, data, mapped.size_bytes);
	if (!err) {
		*ret = mapped;
		mapped = (struct mapped_bytes){0};
	}
	return err;
}

/*
 * Reduce the types of the running kernel, and of the overlay module if that is loaded. Without the
 * types of overlayfs, files on an overlay get no probe.
 */
static int reduce_running(const struct kernel_types_wanted *wanted, kernel_types_bytes *ret,
			  uint32_t *ret_function)
{
	CLEANUP(unmap) struct mapped_bytes kernel = {0}, overlay = {0};
	kernel_types_bytes joined = {0};
	int err = map_btf("/sys/kernel/btf/vmlinux", &kernel);

	if (err)
		return err;
	if (!map_btf("/sys/kernel/btf/overlay", &overlay))
		(void)kernel_types_join(kernel.data, kernel.size_bytes, overlay.data,
					overlay.size_bytes, &joined);
	if (joined.size)
		err = kernel_types_reduce(joined.data, joined.size, wanted, ret, ret_function);
	else
		err = kernel_types_reduce(kernel.data, kernel.size_bytes, wanted, ret,
					  ret_function);
	vec_deinit(&joined);
	return err;
}

int running_types_open(const struct kernel_types_wanted *wanted, uint32_t *ret_function)
{
	AUTO_CLOSE int memory = memfd_create("types", MFD_CLOEXEC);
	kernel_types_bytes reduced = {0};
	int err = memory < 0 ? -errno : reduce_running(wanted, &reduced, ret_function);

	if (!err && write(memory, reduced.data, reduced.size) != (ssize_t)reduced.size)
		err = -EIO;
	vec_deinit(&reduced);
	return err ?: TAKE_FD(memory);
}
