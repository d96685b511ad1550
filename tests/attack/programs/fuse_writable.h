/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A FUSE file system in memory that can be written: as much as the upper layer of an overlay needs.
 * Its root has the folders "up" and "work". Requests that cannot be granted are answered with
 * success where the kernel only wants to know whether there is such an operation.
 */
#ifndef JITBPF_TESTS_ATTACK_FUSE_WRITABLE_H
#define JITBPF_TESTS_ATTACK_FUSE_WRITABLE_H

#include <dirent.h>

#include "tests/attack/programs/fuse_server.h"

#define WRITABLE_MAX 1024
#define ANSWER_MAX   (1 << 16)

struct writable_node {
	uint64_t parent; /* 0: free, or unlinked */
	char name[128];
	char *data;
	size_t size_bytes;
	uint32_t mode;
};

static struct writable_node writable[WRITABLE_MAX]; /* by number; numbers are not used again */
static uint64_t writable_count = FUSE_ROOT_ID + 1;

static inline uint64_t writable_add(uint64_t parent, const char *name, uint32_t mode)
{
	struct writable_node *node = &writable[writable_count];

	if (writable_count == WRITABLE_MAX)
		errx(1, "too many files");
	*node = (struct writable_node){.parent = parent, .mode = mode};
	snprintf(node->name, sizeof(node->name), "%s", name);
	return writable_count++;
}

static inline uint64_t writable_find(uint64_t parent, const char *name)
{
	for (uint64_t i = FUSE_ROOT_ID + 1; i < writable_count; i++) {
		if (writable[i].parent == parent && !strcmp(writable[i].name, name))
			return i;
	}
	return 0;
}

static inline struct fuse_attr writable_attributes(uint64_t number)
{
	const struct writable_node *node = &writable[number];

	return (struct fuse_attr){
		.ino = number,
		.size = node->size_bytes,
		.mode = number == FUSE_ROOT_ID ? S_IFDIR | 0755 : node->mode,
		.uid = getuid(),
		.gid = getgid(),
		.nlink = 1,
		.blksize = 4096,
	};
}

static inline void writable_put_entry(int fd, uint64_t unique, uint64_t number)
{
	fuse_reply(fd, unique, number ? 0 : ENOENT,
		   &(struct fuse_entry_out){.nodeid = number, .attr = writable_attributes(number)},
		   number ? sizeof(struct fuse_entry_out) : 0);
}

static inline void writable_put_attributes(int fd, uint64_t unique, uint64_t number)
{
	fuse_reply(fd, unique, 0, &(struct fuse_attr_out){.attr = writable_attributes(number)},
		   sizeof(struct fuse_attr_out));
}

static inline void writable_remove(uint64_t number)
{
	writable[number].parent = 0;
}

static inline void writable_rename(uint64_t from, uint64_t to, const char *name, unsigned flags)
{
	const char *new_name = name + strlen(name) + 1;
	struct writable_node *node = &writable[writable_find(from, name)];

	writable_remove(writable_find(to, new_name));
	node->parent = to;
	snprintf(node->name, sizeof(node->name), "%s", new_name);
	if (flags & RENAME_WHITEOUT)
		writable_add(from, name, S_IFCHR);
}

static inline void writable_list(int fd, uint64_t unique, uint64_t folder, uint64_t offset)
{
	static char list[ANSWER_MAX / 16];
	size_t size = 0;

	for (uint64_t i = FUSE_ROOT_ID + 1 + offset; i < writable_count; i++) {
		size_t length = strlen(writable[i].name);
		size_t bytes = FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
		struct fuse_dirent *entry = (void *)(list + size);

		if (writable[i].parent != folder)
			continue;
		if (size + bytes > 4096)
			break;
		*entry = (struct fuse_dirent){i, i - FUSE_ROOT_ID, (uint32_t)length,
					      IFTODT(writable[i].mode)};
		memcpy(entry->name, writable[i].name, length);
		size += bytes;
	}
	fuse_reply(fd, unique, 0, list, size);
}

static inline void writable_write(struct writable_node *node, const struct fuse_write_in *write_in)
{
	size_t end = write_in->offset + write_in->size;

	if (end > node->size_bytes) {
		node->data = realloc(node->data, end);
		memset(node->data + node->size_bytes, 0, end - node->size_bytes);
		node->size_bytes = end;
	}
	memcpy(node->data + write_in->offset, write_in + 1, write_in->size);
}

static inline void writable_answer(int fd, const struct fuse_in_header *in, const void *body)
{
	struct writable_node *node = &writable[in->nodeid < WRITABLE_MAX ? in->nodeid : 0];
	const struct fuse_rename2_in *rename = body;
	const struct fuse_read_in *read_in = body;

	switch (in->opcode) {
	case FUSE_LOOKUP:
		writable_put_entry(fd, in->unique, writable_find(in->nodeid, body));
		return;
	case FUSE_MKDIR: {
		const struct fuse_mkdir_in *made = body;

		writable_put_entry(
			fd, in->unique,
			writable_add(in->nodeid, (const char *)(made + 1), S_IFDIR | made->mode));
		return;
	}
	case FUSE_MKNOD: {
		const struct fuse_mknod_in *made = body;

		writable_put_entry(fd, in->unique,
				   writable_add(in->nodeid, (const char *)(made + 1), made->mode));
		return;
	}
	case FUSE_UNLINK:
	case FUSE_RMDIR:
		writable_remove(writable_find(in->nodeid, body));
		break;
	case FUSE_RENAME:
		writable_rename(in->nodeid, rename->newdir,
				(const char *)body + sizeof(struct fuse_rename_in), 0);
		break;
	case FUSE_RENAME2:
		writable_rename(in->nodeid, rename->newdir, (const char *)(rename + 1),
				rename->flags);
		break;
	case FUSE_SETATTR: {
		const struct fuse_setattr_in *set = body;

		if (set->valid & FATTR_MODE)
			node->mode = set->mode;
		if (set->valid & FATTR_SIZE && set->size < node->size_bytes)
			node->size_bytes = set->size;
		writable_put_attributes(fd, in->unique, in->nodeid);
		return;
	}
	case FUSE_GETATTR:
		writable_put_attributes(fd, in->unique, in->nodeid);
		return;
	case FUSE_READDIR:
		writable_list(fd, in->unique, in->nodeid, read_in->offset);
		return;
	case FUSE_WRITE: {
		const struct fuse_write_in *write_in = body;

		writable_write(node, write_in);
		fuse_reply(fd, in->unique, 0, &(struct fuse_write_out){.size = write_in->size},
			   sizeof(struct fuse_write_out));
		return;
	}
	case FUSE_READ: {
		size_t left =
			read_in->offset < node->size_bytes ? node->size_bytes - read_in->offset : 0;

		fuse_reply(fd, in->unique, 0, node->data + read_in->offset,
			   left < read_in->size ? left : read_in->size);
		return;
	}
	case FUSE_GETXATTR:
	case FUSE_LISTXATTR:
		fuse_reply(fd, in->unique, ENODATA, NULL, 0);
		return;
	case FUSE_SETXATTR:
	case FUSE_REMOVEXATTR:
	case FUSE_FSYNC:
	case FUSE_FSYNCDIR:
		break;
	default:
		fuse_answer(fd, in, body);
		return;
	}
	fuse_reply(fd, in->unique, 0, NULL, 0);
}

static inline void writable_start(int fd)
{
	writable_add(FUSE_ROOT_ID, "up", S_IFDIR | 0755);
	writable_add(FUSE_ROOT_ID, "work", S_IFDIR | 0755);
	fuse_answers = writable_answer;
	fuse_start(fd, NULL, 0);
}

#endif
