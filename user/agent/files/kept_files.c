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

#define FILES_KEPT_MAX 4096	     /* files beyond it are found again by path */
#define SWEEP_FILES    256	     /* files below which none is removed */
#define SWEEP_NS       1000000000ull /* least time between two sweeps */

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

/* A quarter of the descriptor limit; the rest is for rings and for files being read. */
static uint32_t descriptors_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 4 < FILES_KEPT_MAX ? (uint32_t)(limit.rlim_cur / 4)
						   : FILES_KEPT_MAX;
}

void kept_files_init(struct kept_files *ret)
{
	*ret = (struct kept_files){.kept_max = descriptors_to_keep(), .sweep_at = SWEEP_FILES};
	pthread_mutex_init(&ret->lock, NULL);
}

static void kept_file_deinit(struct kept_file *file)
{
	free((char *)file->key.path);
	if (file->found.fd >= 0)
		close(file->found.fd);
}

void kept_files_deinit(struct kept_files *files)
{
	vec_for_each (file, &files->files)
		kept_file_deinit(file);
	vec_deinit(&files->files);
	index_map_deinit(&files->index);
	pthread_mutex_destroy(&files->lock);
}

static struct kept_file *find(const struct kept_files *files, const struct file_key *key)
{
	uint32_t number =
		index_map_find(&files->index, key_hash(key), key_equal, files->files.data, key);

	return number == INDEX_MAP_NONE ? NULL : &files->files.data[number];
}

const struct kept_file *kept_files_find(struct kept_files *files, const struct file_key *key,
					uint64_t now_ns)
{
	struct kept_file *file = find(files, key);

	if (!file)
		return NULL;
	file->seen_ns = now_ns;
	return file;
}

bool kept_files_full(const struct kept_files *files)
{
	return files->files.size == STORED_FILES_MAX || files->path_bytes >= STORED_FILES_PATH_MAX;
}

bool kept_file_is_known(const struct kept_file *file, uint64_t generation, uint32_t pid)
{
	if (file->unanswered)
		return false;
	if (!file->found.version)
		return file->pid == pid && file->generation == generation;
	if (generation && file->generation)
		return file->generation == generation;
	return file->found.fd >= 0;
}

static int add(struct kept_files *files, const struct file_key *key, struct kept_file **ret)
{
	AUTO_FREE char *path = strdup(key->path);
	struct kept_file file = {.key = *key, .found.fd = -1};
	uint32_t number = (uint32_t)files->files.size;

	if (!path || vec_reserve(&files->files, number + 1) ||
	    index_map_insert(&files->index, key_hash(key), number))
		return -ENOMEM;
	files->path_bytes += strlen(path) + 1;
	file.key.path = TAKE_PTR(path);
	files->files.data[files->files.size++] = file;
	*ret = &files->files.data[number];
	return 0;
}

static void drop_fd(struct kept_files *files, struct kept_file *file)
{
	if (file->found.fd >= 0) {
		close(TAKE_FD(file->found.fd));
		files->kept--;
	}
}

/* Replace all but the key. The descriptor is kept if there is room for it. */
static void set(struct kept_files *files, struct kept_file *file, struct kept_file new_,
		uint64_t now_ns)
{
	AUTO_CLOSE int fd = TAKE_FD(new_.found.fd);

	drop_fd(files, file);
	new_.key = file->key;
	new_.seen_ns = now_ns;
	*file = new_;
	if (fd >= 0 && files->kept < files->kept_max) {
		file->found.fd = TAKE_FD(fd);
		files->kept++;
	}
}

int kept_files_set(struct kept_files *files, const struct file_key *key,
		   const struct kept_file *file, uint64_t now_ns)
{
	struct kept_file *known;
	int err = 0;

	pthread_mutex_lock(&files->lock);
	known = find(files, key);
	if (!known)
		err = add(files, key, &known);
	if (!err)
		set(files, known, *file, now_ns);
	pthread_mutex_unlock(&files->lock);
	if (err && file->found.fd >= 0)
		close(file->found.fd);
	return err;
}

static void remove_file(struct kept_files *files, uint32_t number)
{
	struct kept_file *file = &files->files.data[number], *last;
	uint32_t last_number = (uint32_t)files->files.size - 1;

	index_map_remove(&files->index, key_hash(&file->key), number);
	files->kept -= file->found.fd >= 0;
	files->path_bytes -= strlen(file->key.path) + 1;
	kept_file_deinit(file);
	files->files.size--;
	if (number == last_number)
		return;
	last = &files->files.data[last_number];
	index_map_remove(&files->index, key_hash(&last->key), last_number);
	*file = *last;
	/* Two entries were removed, so there is room and this cannot fail. */
	(void)index_map_insert(&files->index, key_hash(&file->key), number);
}

static void mark_used(struct kept_files *files, const struct module_table *modules)
{
	vec_for_each (slot, &modules->slots) {
		const struct module *module = slot->module;
		struct kept_file *file =
			module ? find(files,
				      &(struct file_key){module->dev_major, module->dev_minor,
							 module->inode, module->path})
			       : NULL;

		if (file)
			file->in_use = true;
	}
}

void kept_files_forget(struct kept_files *files, const struct module_table *modules,
		       uint64_t now_ns)
{
	size_t twice;

	if (files->files.size < files->sweep_at || now_ns < files->sweep_at_ns)
		return;
	pthread_mutex_lock(&files->lock);
	mark_used(files, modules);
	for (size_t i = files->files.size; i--;) {
		struct kept_file *file = &files->files.data[i];

		if (!file->in_use && now_ns - file->seen_ns > FILE_KEEP_NS)
			remove_file(files, (uint32_t)i);
		else
			file->in_use = false;
	}
	pthread_mutex_unlock(&files->lock);
	twice = 2 * files->files.size < STORED_FILES_MAX ? 2 * files->files.size : STORED_FILES_MAX;
	files->sweep_at = twice > SWEEP_FILES ? twice : SWEEP_FILES;
	files->sweep_at_ns = now_ns + SWEEP_NS;
}

int kept_files_get(struct kept_files *files, const struct file_key *key, uint64_t version,
		   struct found_file *ret)
{
	const struct kept_file *file;
	int fd = -1, err = -ENOENT;

	pthread_mutex_lock(&files->lock);
	file = find(files, key);
	if (file && file->found.version && file->found.version == version) {
		if (file->found.fd >= 0)
			fd = fcntl(file->found.fd, F_DUPFD_CLOEXEC, 0);
		err = file->found.fd >= 0 && fd < 0 ? -errno : 0;
	}
	if (!err) {
		*ret = file->found;
		ret->fd = fd;
	}
	pthread_mutex_unlock(&files->lock);
	return err;
}
