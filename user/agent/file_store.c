/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/file_store.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/file_blob.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/scope.h"
#include "base/vec.h"
#include "decode/elf_file.h"

#define FILES_OPEN_MAX 512 /* kept open; more are opened again by path */
#define MAX_PROC_PATH  (4096 + 64)

struct stored_file {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	char *path;
	int fd; /* -1: not kept */
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	uint32_t build_id_bytes;
};

struct file_store {
	pthread_mutex_t lock;
	bool live;
	VEC(struct stored_file) files;
	struct index_map index;
	uint32_t open_count;
};

struct file_key {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	const char *path;
};

static uint64_t key_hash(const struct file_key *key)
{
	uint64_t dev = (uint64_t)key->dev_major << 32 | key->dev_minor;

	return hash_bytes(key->path, strlen(key->path), hash_mix(dev, key->inode));
}

static bool key_equal(const void *items, uint32_t item, const void *key_)
{
	const struct stored_file *file = (const struct stored_file *)items + item;
	const struct file_key *key = key_;

	return file->inode == key->inode && file->dev_major == key->dev_major &&
	       file->dev_minor == key->dev_minor && !strcmp(file->path, key->path);
}

int file_store_create(bool live, struct file_store **ret)
{
	struct file_store *store = calloc(1, sizeof(*store));

	if (!store)
		return -ENOMEM;
	pthread_mutex_init(&store->lock, NULL);
	store->live = live;
	*ret = store;
	return 0;
}

void file_store_destroy(struct file_store *store)
{
	if (!store)
		return;
	vec_for_each (file, &store->files) {
		free(file->path);
		if (file->fd >= 0)
			close(file->fd);
	}
	vec_deinit(&store->files);
	index_map_deinit(&store->index);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

/* Device numbers of overlay and btrfs files differ between stat() and mappings; inodes do not. */
static int open_if_inode(const char *path, uint64_t inode)
{
	int fd = *path == '/' ? file_open_regular(path) : -ENOENT;
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) || st.st_ino != inode) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/*
 * The file behind a mapping: by its path in the process's mount namespace, by
 * the mapping itself (deleted, replaced), or by its path in ours (the process
 * is gone already).
 */
static int open_mapped(const struct jitbpf_mapping *mapping)
{
	char path[MAX_PROC_PATH];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/root%s", mapping->pid, mapping->path);
	fd = open_if_inode(path, mapping->inode);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%u/map_files/%llx-%llx", mapping->pid, mapping->address,
		 mapping->address + mapping->size_bytes);
	fd = open_if_inode(path, mapping->inode);
	if (fd >= 0)
		return fd;
	return open_if_inode(mapping->path, mapping->inode);
}

static uint32_t read_build_id(int fd, uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	struct elf_file elf;
	struct blob blob;
	uint32_t size = 0;

	if (file_blob_init(&blob, fd))
		return 0;
	if (!elf_file_init(&elf, &blob)) {
		size = elf_file_build_id(&elf, ret);
		elf_file_deinit(&elf);
	}
	return size; /* the blob is not closed: fd is the caller's */
}

static int add_file(struct file_store *store, const struct file_key *key, uint64_t hash, int fd,
		    uint32_t *ret)
{
	struct stored_file file = {
		.dev_major = key->dev_major,
		.dev_minor = key->dev_minor,
		.inode = key->inode,
		.fd = -1,
	};
	uint32_t number = (uint32_t)store->files.size;

	file.path = strdup(key->path);
	if (!file.path || vec_reserve(&store->files, number + 1) ||
	    index_map_insert(&store->index, hash, number)) {
		free(file.path);
		return -ENOMEM;
	}
	if (fd >= 0)
		file.build_id_bytes = read_build_id(fd, file.build_id);
	if (fd >= 0 && store->open_count < FILES_OPEN_MAX) {
		file.fd = fd;
		store->open_count++;
	} else if (fd >= 0) {
		close(fd);
	}
	store->files.data[store->files.size++] = file;
	*ret = number;
	return 0;
}

uint32_t file_store_meet(struct file_store *store, const struct jitbpf_mapping *mapping,
			 uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	struct file_key key = {mapping->dev_major, mapping->dev_minor, mapping->inode,
			       mapping->path};
	uint64_t hash = key_hash(&key);
	uint32_t number, size = 0;
	int fd;

	pthread_mutex_lock(&store->lock);
	number = index_map_find(&store->index, hash, key_equal, store->files.data, &key);
	if (number == INDEX_MAP_NONE) {
		fd = open_mapped(mapping);
		if (add_file(store, &key, hash, fd, &number) && fd >= 0)
			close(fd);
	}
	if (number != INDEX_MAP_NONE) {
		const struct stored_file *file = &store->files.data[number];

		size = file->build_id_bytes;
		memcpy(ret, file->build_id, sizeof(file->build_id));
	}
	pthread_mutex_unlock(&store->lock);
	return size;
}

static int open_kept(struct file_store *store, const struct module *module)
{
	struct file_key key = {module->dev_major, module->dev_minor, module->inode, module->path};
	uint32_t number;
	int fd = -ENOENT;

	pthread_mutex_lock(&store->lock);
	number = index_map_find(&store->index, key_hash(&key), key_equal, store->files.data, &key);
	if (number != INDEX_MAP_NONE && store->files.data[number].fd >= 0) {
		fd = fcntl(store->files.data[number].fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	pthread_mutex_unlock(&store->lock);
	return fd;
}

/* The file at a module's path, if it is the one that was mapped. */
static int open_same(const struct module *module)
{
	uint8_t build_id[JITBPF_BUILD_ID_MAX];
	int fd;

	if (!module->build_id_bytes)
		return open_if_inode(module->path, module->inode);
	fd = file_open_regular(module->path);
	if (fd < 0)
		return fd;
	if (read_build_id(fd, build_id) != module->build_id_bytes ||
	    memcmp(build_id, module->build_id, module->build_id_bytes)) {
		close(fd);
		return -ESTALE;
	}
	return fd;
}

/* The vDSO is in no file; all processes of one kernel have the same. */
static int open_vdso(struct blob *ret)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		return -ENOENT;
	/* The section headers are the last thing in it. */
	*ret = blob_of_memory(vdso, vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize);
	return 0;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	struct file_store *store = context;
	int fd, err;

	if (!strncmp(module->path, "[vdso", 5))
		return store->live ? open_vdso(ret) : -ENOENT;
	fd = open_kept(store, module);
	if (fd < 0)
		fd = open_same(module);
	if (fd < 0)
		return fd;
	err = file_blob_init(ret, fd);
	if (err)
		close(fd);
	return err;
}

/*
 * A file of debug info. It is not told from others here: nobody knows its inode.
 * As the process sees it, if it still lives and is what it was then; a process
 * that took over its number shows another file, which the symbolizer refuses.
 */
static int open_debug(void *context, const struct module *module, const char *path, bool ours,
		      struct blob *ret)
{
	struct file_store *store = context;
	AUTO_CLOSE int root = -1;
	AUTO_CLOSE int fd = -1;
	char root_path[64];
	int err;

	if (ours) {
		fd = file_open_regular(path);
	} else {
		if (!store->live || !module->pid)
			return -ENOENT;
		snprintf(root_path, sizeof(root_path), "/proc/%u/root", module->pid);
		root = open(root_path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (root < 0)
			return -errno;
		fd = file_open_regular_in(root, path);
	}
	if (fd < 0)
		return fd;
	err = file_blob_init(ret, fd);
	if (!err)
		TAKE_FD(fd);
	return err;
}

void file_store_source(struct file_store *store, struct file_source *ret)
{
	*ret = (struct file_source){
		.open_module = open_module,
		.open_debug = open_debug,
		.context = store,
	};
}
