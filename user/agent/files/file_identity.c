/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_identity.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/scope.h"
#include "base/vec.h"
#include "decode/record/proc_maps.h"

#define PIECE_BYTES    (64u << 10)
#define MAPS_BYTES_MAX (4u << 20)

typedef VEC(char) maps_text;

static int read_own_maps(maps_text *text)
{
	AUTO_CLOSE int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	ssize_t got;

	if (fd < 0)
		return -errno;
	do {
		if (text->size > MAPS_BYTES_MAX || vec_reserve(text, text->size + PIECE_BYTES))
			return -ENOMEM;
		got = read(fd, text->data + text->size, PIECE_BYTES);
		text->size += got > 0 ? (size_t)got : 0;
	} while (got > 0);
	return got < 0 ? -errno : 0;
}

static int find_own_mapping(uint64_t address, struct mapped_identity *ret)
{
	maps_text text = {0};
	int err = read_own_maps(&text), more;
	struct cursor lines = cursor_of(text.data, text.size);
	struct proc_map map;

	err = err ?: -ENOENT;
	while (err == -ENOENT && (more = proc_maps_next(&lines, &map))) {
		if (more < 0 || map.start > address || map.end <= address)
			continue;
		*ret = (struct mapped_identity){map.dev_major, map.dev_minor, map.inode};
		err = 0;
	}
	vec_deinit(&text);
	return err;
}

int file_identity_mapped(int fd, struct mapped_identity *ret)
{
	size_t bytes = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
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
