/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/scope.h"

#define FILES_KEPT_MAX 4096 /* files beyond it are found again by path */

static uint64_t key_hash(const struct file_key *key)
{
	uint64_t dev = (uint64_t)key->dev_major << 32 | key->dev_minor;

	return hash_bytes(key->path, strlen(key->path), hash_mix(dev, key->inode));
}

static bool key_equal(const void *items, uint32_t item, const void *key_)
{
	const struct file_key *x = &((const struct kept_file *)items + item)->key, *y = key_;

	return x->inode == y->inode && x->dev_major == y->dev_major &&
	       x->dev_minor == y->dev_minor && !strcmp(x->path, y->path);
}

/* Half of the descriptor limit; the rest is for rings and for files being read. */
static uint32_t descriptors_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < FILES_KEPT_MAX ? (uint32_t)(limit.rlim_cur / 2)
						   : FILES_KEPT_MAX;
}

void kept_files_init(struct kept_files *ret)
{
	*ret = (struct kept_files){.kept_max = descriptors_to_keep()};
	pthread_mutex_init(&ret->lock, NULL);
}

void kept_files_deinit(struct kept_files *files)
{
	vec_for_each (file, &files->files) {
		free((char *)file->key.path);
		if (file->found.fd >= 0)
			close(file->found.fd);
	}
	vec_deinit(&files->files);
	index_map_deinit(&files->index);
	pthread_mutex_destroy(&files->lock);
}

const struct found_file *kept_files_find(const struct kept_files *files, const struct file_key *key)
{
	uint32_t number =
		index_map_find(&files->index, key_hash(key), key_equal, files->files.data, key);

	return number == INDEX_MAP_NONE ? NULL : &files->files.data[number].found;
}

bool kept_files_full(const struct kept_files *files)
{
	return files->files.size == STORED_FILES_MAX || files->path_bytes >= STORED_FILES_PATH_MAX;
}

static int add(struct kept_files *files, const struct file_key *key, struct found_file *found)
{
	AUTO_CLOSE int fd = TAKE_FD(found->fd);
	AUTO_FREE char *path = strdup(key->path);
	struct kept_file file = {.key = *key, .found = *found};
	uint32_t number = (uint32_t)files->files.size;

	if (!path || vec_reserve(&files->files, number + 1) ||
	    index_map_insert(&files->index, key_hash(key), number))
		return -ENOMEM;
	if (fd >= 0 && files->kept < files->kept_max) {
		file.found.fd = TAKE_FD(fd);
		files->kept++;
	}
	files->path_bytes += strlen(path) + 1;
	file.key.path = TAKE_PTR(path);
	files->files.data[files->files.size++] = file;
	return 0;
}

int kept_files_add(struct kept_files *files, const struct file_key *key, struct found_file *found)
{
	int err;

	pthread_mutex_lock(&files->lock);
	err = add(files, key, found);
	pthread_mutex_unlock(&files->lock);
	return err;
}

int kept_files_open(struct kept_files *files, const struct file_key *key, struct found_file *ret)
{
	const struct found_file *found;
	int fd = -ENOENT;

	pthread_mutex_lock(&files->lock);
	found = kept_files_find(files, key);
	if (found && found->fd >= 0) {
		fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	if (fd >= 0) {
		*ret = *found;
		ret->fd = fd;
	}
	pthread_mutex_unlock(&files->lock);
	return fd < 0 ? fd : 0;
}
