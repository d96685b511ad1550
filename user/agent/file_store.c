/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/file_store.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <unistd.h>

#include "agent/debuginfod.h"
#include "agent/file_reader.h"
#include "base/hash.h"
#include "base/index_map.h"
#include "base/scope.h"
#include "base/vec.h"

#define FILES_KEPT_MAX 4096 /* what is more is found again by its path */

/* The event loop's patience, and the symbol worker's. */
static const struct file_patience meeting_patience = {.answer_ms = 500, .place_ms = 2000};
static const struct file_patience reading_patience = {.answer_ms = 3000, .place_ms = 15000};

#define SERVERS_PLACE_MS 120000 /* what all debug info from servers may take */

struct stored_file {
	uint32_t dev_major, dev_minor;
	uint64_t inode;
	char *path;
	struct found_file found; /* fd -1: not kept */
};

struct file_store {
	pthread_mutex_t lock; /* of the files */
	struct file_store_options options;
	struct file_helpers helpers;
	struct file_reader *meeting, *reading;
	VEC(struct stored_file) files;
	struct index_map index;
	uint64_t path_bytes;
	uint32_t kept, kept_max;
	struct file_store_counts counts;
	int debuginfod_error;
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

/* Half of what we may open: the rest is for the rings, and for what is being read. */
static uint32_t descriptors_to_keep(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return 0;
	return limit.rlim_cur / 2 < FILES_KEPT_MAX ? (uint32_t)(limit.rlim_cur / 2)
						   : FILES_KEPT_MAX;
}

DEFINE_CLEANUP(struct file_store *, file_store_destroy);

int file_store_create(const struct file_store_options *options, struct file_store **ret)
{
	CLEANUP(file_store_destroyp) struct file_store *store = calloc(1, sizeof(*store));
	int err;

	if (!store)
		return -ENOMEM;
	pthread_mutex_init(&store->lock, NULL);
	store->options = *options;
	store->options.debuginfod = options->debuginfod && debuginfod_wanted();
	store->kept_max = descriptors_to_keep();
	store->helpers.socket = -1;
	err = file_helpers_start(&store->helpers);
	err = err ?: file_reader_create(&store->helpers, meeting_patience, &store->meeting);
	err = err ?: file_reader_create(&store->helpers, reading_patience, &store->reading);
	if (err)
		return err;
	/* A second more than the library's own limit, which tells why. */
	file_reader_set_servers(store->reading,
				(struct file_patience){
					.answer_ms = (debuginfod_maxtime_s() + 1) * 1000,
					.place_ms = SERVERS_PLACE_MS,
				});
	*ret = TAKE_PTR(store);
	return 0;
}

void file_store_destroy(struct file_store *store)
{
	if (!store)
		return;
	vec_for_each (file, &store->files) {
		free(file->path);
		if (file->found.fd >= 0)
			close(file->found.fd);
	}
	vec_deinit(&store->files);
	index_map_deinit(&store->index);
	file_reader_destroy(store->meeting);
	file_reader_destroy(store->reading);
	file_helpers_stop(&store->helpers);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

static bool set_path(struct file_request *request, const char *path)
{
	size_t length = strlen(path);

	if (length >= sizeof(request->path))
		return false;
	memcpy(request->path, path, length + 1);
	return true;
}

static int find_mapped(struct file_store *store, const struct jitbpf_mapping *mapping,
		       struct found_file *ret)
{
	struct file_request request = {
		.kind = FILE_FIND_MAPPED,
		.pid = mapping->pid,
		.inode = mapping->inode,
		.address = mapping->address,
		.size_bytes = mapping->size_bytes,
	};

	if (!set_path(&request, mapping->path))
		return -ENAMETOOLONG;
	return file_reader_find(store->meeting,
				file_place_of_device(mapping->dev_major, mapping->dev_minor),
				&request, ret);
}

/* Takes found->fd over, or closes it. */
static int add_file(struct file_store *store, const struct file_key *key, uint64_t hash,
		    struct found_file *found)
{
	AUTO_CLOSE int fd = TAKE_FD(found->fd);
	struct stored_file file = {
		.dev_major = key->dev_major,
		.dev_minor = key->dev_minor,
		.inode = key->inode,
		.found = *found,
	};
	uint32_t number = (uint32_t)store->files.size;

	file.path = strdup(key->path);
	if (!file.path || vec_reserve(&store->files, number + 1) ||
	    index_map_insert(&store->index, hash, number)) {
		free(file.path);
		return -ENOMEM;
	}
	if (fd >= 0 && store->kept < store->kept_max) {
		file.found.fd = TAKE_FD(fd);
		store->kept++;
	}
	store->path_bytes += strlen(file.path) + 1;
	store->files.data[store->files.size++] = file;
	return 0;
}

/* Only this thread adds files, so that it may look at them without the lock. */
uint32_t file_store_meet(struct file_store *store, const struct jitbpf_mapping *mapping,
			 uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	struct file_key key = {mapping->dev_major, mapping->dev_minor, mapping->inode,
			       mapping->path};
	uint64_t hash = key_hash(&key);
	uint32_t number = index_map_find(&store->index, hash, key_equal, store->files.data, &key);
	struct found_file found = {.fd = -1};
	int err;

	if (number != INDEX_MAP_NONE) {
		found = store->files.data[number].found;
		memcpy(ret, found.build_id, sizeof(found.build_id));
		return found.build_id_bytes;
	}
	if (store->files.size == STORED_FILES_MAX || store->path_bytes >= STORED_FILES_PATH_MAX) {
		store->counts.over_budget++;
		return 0;
	}
	err = find_mapped(store, mapping, &found);
	store->counts.unanswered += err == -ETIMEDOUT;
	memcpy(ret, found.build_id, sizeof(found.build_id));
	pthread_mutex_lock(&store->lock);
	add_file(store, &key, hash, &found); /* without memory for it, it is met again */
	pthread_mutex_unlock(&store->lock);
	return found.build_id_bytes;
}

int file_store_open_mapped(struct file_store *store, const struct jitbpf_mapping *mapping,
			   int *ret_fd, struct blob *ret)
{
	struct found_file found;
	int err = find_mapped(store, mapping, &found), fd;

	if (err)
		return err;
	fd = fcntl(found.fd, F_DUPFD_CLOEXEC, 0);
	err = fd < 0 ? -errno
		     : file_reader_blob(
			       store->meeting,
			       file_place_of_device(mapping->dev_major, mapping->dev_minor), &found,
			       ret);
	if (err) {
		close(found.fd);
		if (fd >= 0)
			close(fd);
		return err;
	}
	*ret_fd = fd;
	return 0;
}

struct file_store_counts file_store_counts(const struct file_store *store)
{
	return store->counts;
}

/* The descriptor kept of a module's file, made our own. */
static int find_kept(struct file_store *store, const struct module *module, struct found_file *ret)
{
	struct file_key key = {module->dev_major, module->dev_minor, module->inode, module->path};
	uint32_t number;
	int fd = -ENOENT;

	pthread_mutex_lock(&store->lock);
	number = index_map_find(&store->index, key_hash(&key), key_equal, store->files.data, &key);
	if (number != INDEX_MAP_NONE && store->files.data[number].found.fd >= 0) {
		*ret = store->files.data[number].found;
		fd = ret->fd = fcntl(ret->fd, F_DUPFD_CLOEXEC, 0);
		fd = fd < 0 ? -errno : fd;
	}
	pthread_mutex_unlock(&store->lock);
	return fd < 0 ? fd : 0;
}

static bool is_same(const struct module *module, const struct found_file *found)
{
	return found->build_id_bytes == module->build_id_bytes &&
	       !memcmp(found->build_id, module->build_id, module->build_id_bytes);
}

/*
 * The file at a module's path, if it is the one that was mapped: as the process
 * sees it while it lives, by inode, or as we do; by build ID where it is known.
 */
static int find_same(struct file_store *store, const struct module *module, struct found_file *ret)
{
	struct file_place place = file_place_of_device(module->dev_major, module->dev_minor);
	struct file_request request = {
		.kind = FILE_FIND_MAPPED,
		.pid = module->pid,
		.inode = module->inode,
	};
	struct found_file found;
	int err = -ENOENT;

	if (!set_path(&request, module->path))
		return -ENAMETOOLONG;
	if (store->options.live)
		err = file_reader_find(store->reading, place, &request, &found);
	if (err && err != -ETIMEDOUT) {
		request.kind = FILE_FIND_PATH;
		request.pid = 0;
		request.inode = module->build_id_bytes ? 0 : module->inode;
		err = file_reader_find(store->reading, place, &request, &found);
	}
	if (err)
		return err;
	if (module->build_id_bytes && !is_same(module, &found)) {
		close(found.fd);
		return -ESTALE;
	}
	*ret = found;
	return 0;
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

/* As a blob; takes found->fd over, or closes it. */
static int open_found(struct file_store *store, struct file_place place, struct found_file *found,
		      struct blob *ret)
{
	int err = file_reader_blob(store->reading, place, found, ret);

	if (err)
		close(found->fd);
	return err;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	struct file_store *store = context;
	struct found_file found;
	int err;

	if (!strncmp(module->path, "[vdso", 5))
		return store->options.live ? open_vdso(ret) : -ENOENT;
	err = find_kept(store, module, &found);
	if (err)
		err = find_same(store, module, &found);
	if (err)
		return err;
	return open_found(store, file_place_of_device(module->dev_major, module->dev_minor), &found,
			  ret);
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
	struct file_request request = {.kind = FILE_FIND_PATH, .pid = ours ? 0 : module->pid};
	struct file_place place = file_place_of_debug(request.pid, path);
	struct found_file found;
	int err;

	if (!ours && (!store->options.live || !module->pid))
		return -ENOENT;
	if (!set_path(&request, path))
		return -ENAMETOOLONG;
	err = file_reader_find(store->reading, place, &request, &found);
	return err ?: open_found(store, place, &found, ret);
}

static int fetch_debug(void *context, const uint8_t *build_id, uint32_t build_id_bytes,
		       struct blob *ret)
{
	struct file_store *store = context;
	struct file_request request = {
		.kind = FILE_FIND_SERVED,
		.build_id_bytes = build_id_bytes,
	};
	struct file_place servers = {.kind = FILE_PLACE_SERVERS};
	struct found_file found;
	int err;

	if (!store->options.debuginfod || store->debuginfod_error)
		return -ENOENT;
	memcpy(request.build_id, build_id, build_id_bytes);
	err = file_reader_find(store->reading, servers, &request, &found);
	if (err == -ENOSYS || err == -EPERM)
		store->debuginfod_error = err;
	/* What is in the cache by now lies on a disk of ours. */
	return err ?: open_found(store, (struct file_place){.kind = FILE_PLACE_ROOT}, &found, ret);
}

void file_store_source(struct file_store *store, struct file_source *ret)
{
	*ret = (struct file_source){
		.open_module = open_module,
		.open_debug = open_debug,
		.fetch_debug = fetch_debug,
		.context = store,
	};
}

const char *file_store_given_up(const struct file_store *store, uint32_t number)
{
	uint32_t met = 0;

	while (file_reader_given_up(store->meeting, met))
		met++;
	return number < met ? file_reader_given_up(store->meeting, number)
			    : file_reader_given_up(store->reading, number - met);
}

int file_store_debuginfod_error(const struct file_store *store)
{
	return store->debuginfod_error;
}
