/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/helper/file_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/scope.h"
#include "decode/text/proc_maps.h"

#define PIECE_BYTES    512u		  /* about as much as a read formats */
#define LINE_BYTES_MAX (20u << 10)	  /* a path has 4 KB, in which newlines take 4 bytes */
#define LOW_ADDRESS    (void *)0x200000ul /* free in most processes, and below all else */

/* Returns true and sets *ret if one of the lines is the mapping at an address. */
static bool find_line(struct cursor lines, uint64_t address, struct mapped_identity *ret)
{
	struct proc_map map;
	int more;

	while ((more = proc_maps_next(&lines, &map))) {
		if (more < 0 || map.start > address || map.end <= address)
			continue;
		*ret = (struct mapped_identity){map.dev_major, map.dev_minor, map.inode};
		return true;
	}
	return false;
}

/* Stops reading at the line, since the kernel takes long to write all of them. */
static int find_own_mapping(uint64_t address, struct mapped_identity *ret)
{
	AUTO_CLOSE int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char text[LINE_BYTES_MAX + PIECE_BYTES];
	size_t size = 0;
	ssize_t got;

	if (fd < 0)
		return -errno;
	while ((got = read(fd, text + size, PIECE_BYTES)) > 0) {
		const char *end = memrchr(text, '\n', size + (size_t)got);
		size_t whole = end ? (size_t)(end + 1 - text) : 0;

		size += (size_t)got;
		if (find_line(cursor_of(text, whole), address, ret))
			return 0;
		size -= whole;
		memmove(text, text + whole, size);
		if (size > LINE_BYTES_MAX)
			return -E2BIG;
	}
	return got < 0 ? -errno : -ENOENT;
}

int file_identity_mapped(int fd, struct mapped_identity *ret)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(LOW_ADDRESS, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	int err;

	if (page == MAP_FAILED)
		return -errno;
	err = find_own_mapping((uint64_t)page, ret);
	munmap(page, bytes);
	return err;
}

/* The layout of a tmpfs handle is: generation, inode (8 bytes). Other ways to get it do not exist.
 */
static uint64_t generation_on_tmpfs(int fd)
{
	struct {
		struct file_handle head;
		uint32_t words[3];
	} handle = {.head.handle_bytes = sizeof(handle.words)};
	int mount;

	if (name_to_handle_at(fd, "", &handle.head, &mount, AT_EMPTY_PATH) ||
	    handle.head.handle_bytes != sizeof(handle.words))
		return 0;
	return handle.words[0];
}

uint64_t file_identity_generation(int fd)
{
	uint32_t generation = 0;
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return 0;
	if (fs.f_type == TMPFS_MAGIC)
		return generation_on_tmpfs(fd);
	/* The type in the request's number is long, but the kernel writes an int. */
	return ioctl(fd, FS_IOC_GETVERSION, &generation) ? 0 : generation;
}

uint64_t file_identity_version(int fd)
{
	uint64_t version = hash_mix(file_identity_generation(fd), 1);
	struct statx st;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &st) && st.stx_mask & STATX_BTIME)
		version = hash_mix(version, (uint64_t)st.stx_btime.tv_sec * 1000000000 +
						    st.stx_btime.tv_nsec);
	return version ?: 1;
}
