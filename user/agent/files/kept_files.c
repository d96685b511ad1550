/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/kept_files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/file_helper.h"
#include "base/hash.h"
#include "base/scope.h"

#define SWEEP_FILES  256	   /* files below which none is removed */
#define SWEEP_NS     1000000000ull /* least time between two sweeps, and two releases */
#define EVICTED_PART 8		   /* an eviction removes that part of an owner's files */

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

static uint64_t bytes_of(const struct file_key *key)
{
	return sizeof(struct kept_file) + strlen(key->path) + 1;
}

static void held_moved(void *files, uint32_t file, uint32_t held)
{
	((struct kept_files *)files)->files.data[file].held = held;
}

void kept_files_init(struct kept_files *ret)
{
	*ret = (struct kept_files){
		.sweep_at = SWEEP_FILES,
		.budget.limit = KEPT_FILES_BYTES_MAX,
	};
	held_files_init(&ret->held, held_moved, ret);
	pthread_mutex_init(&ret->lock, NULL);
}

void kept_files_deinit(struct kept_files *files)
{
	held_files_deinit(&files->held);
	vec_for_each (file, &files->files)
		free((char *)file->key.path);
	vec_deinit(&files->files);
	index_map_deinit(&files->index);
	index_map_deinit(&files->build_ids);
	owner_budget_deinit(&files->budget);
	pthread_mutex_destroy(&files->lock);
}

static struct kept_file *find(const struct kept_files *files, const struct file_key *key)
{
	uint32_t number =
		index_map_find(&files->index, key_hash(key), key_equal, files->files.data, key);

	return number == INDEX_MAP_NONE ? NULL : &files->files.data[number];
}

/*
 * Add a mapping of a file, in the place of an earlier one of the same process. Returns true if the
 * earlier mapping had the same range.
 */
static bool add_mapper(struct kept_file *file, const struct file_mapper *mapper)
{
	for (size_t i = 0; i < FILE_MAPPERS; i++) {
		struct file_mapper before = file->mappers[i];

		if (before.pid != mapper->pid)
			continue;
		file->mappers[i] = *mapper;
		return before.address == mapper->address && before.size_bytes == mapper->size_bytes;
	}
	file->mappers[file->next_mapper++ % FILE_MAPPERS] = *mapper;
	return false;
}

static void use(struct kept_files *files, const struct kept_file *file, uint64_t now_ns)
{
	if (file->held != HELD_NONE)
		files->held.files.data[file->held].used_ns = now_ns;
}

bool kept_files_find(struct kept_files *files, const struct file_key *key,
		     const struct file_mapper *mapper, uint64_t now_ns, struct kept_file *ret)
{
	struct kept_file *file;

	pthread_mutex_lock(&files->lock);
	file = find(files, key);
	if (file) {
		file->seen_ns = now_ns;
		file->is_mapped = add_mapper(file, mapper);
		use(files, file, now_ns);
		*ret = *file;
	}
	pthread_mutex_unlock(&files->lock);
	return file;
}

bool kept_file_is_known(const struct kept_file *file, uint64_t generation, uint32_t pid)
{
	if (file->unanswered)
		return false;
	if (!file->found.version)
		return file->pid == pid && file->generation == generation;
	if (generation && file->generation)
		return file->generation == generation;
	return file->held != HELD_NONE || file->is_mapped;
}

/* --- build IDs --------------------------------------------------------------------------- */

uint64_t kept_build_id_hash(const uint8_t build_id[JITBPF_BUILD_ID_MAX])
{
	return hash_bytes(build_id, JITBPF_BUILD_ID_MAX, 1);
}

static bool has_build_id(const struct kept_file *file)
{
	return file->found.version && file->found.build_id_bytes;
}

/* Without memory for the index, the file is not found by its build ID. */
static void index_build_id(struct kept_files *files, uint32_t number)
{
	const struct kept_file *file = &files->files.data[number];

	if (has_build_id(file))
		(void)index_map_insert(&files->build_ids, kept_build_id_hash(file->found.build_id),
				       number);
}

static void unindex_build_id(struct kept_files *files, const struct kept_file *file,
			     uint32_t number)
{
	if (has_build_id(file))
		index_map_remove(&files->build_ids, kept_build_id_hash(file->found.build_id),
				 number);
}

/* --- adding and removing ----------------------------------------------------------------- */

static void remove_file(struct kept_files *files, uint32_t number)
{
	struct kept_file *file = &files->files.data[number], *last;
	uint32_t last_number = (uint32_t)files->files.size - 1;

	index_map_remove(&files->index, key_hash(&file->key), number);
	unindex_build_id(files, file, number);
	if (file->held != HELD_NONE)
		held_files_release(&files->held, file->held);
	owner_budget_release(&files->budget, file->owner, bytes_of(&file->key));
	owner_budget_put(&files->budget, file->owner);
	free((char *)file->key.path);
	files->files.size--;
	if (number == last_number)
		return;
	last = &files->files.data[last_number];
	index_map_remove(&files->index, key_hash(&last->key), last_number);
	unindex_build_id(files, last, last_number);
	*file = *last;
	if (file->held != HELD_NONE)
		files->held.files.data[file->held].file = number;
	/* Two entries were removed, so there is room and this cannot fail. */
	(void)index_map_insert(&files->index, key_hash(&file->key), number);
	index_build_id(files, number);
}

static int compare_times(const void *a_, const void *b_)
{
	uint64_t a = *(const uint64_t *)a_, b = *(const uint64_t *)b_;

	return a < b ? -1 : a > b;
}

/* Remove the part of an owner's files that were seen longest ago. Returns their number. */
static size_t evict(struct kept_files *files, const struct budget_owner *owner)
{
	AUTO_FREE uint64_t *times = malloc((files->files.size + 1) * sizeof(*times));
	size_t count = 0, before = files->files.size;

	vec_for_each (file, &files->files) {
		if (times && file->owner == owner)
			times[count++] = file->seen_ns;
	}
	if (!count)
		return 0;
	qsort(times, count, sizeof(*times), compare_times);
	for (size_t i = files->files.size; i--;) {
		const struct kept_file *file = &files->files.data[i];

		if (file->owner == owner && file->seen_ns <= times[count / EVICTED_PART])
			remove_file(files, (uint32_t)i);
	}
	files->evicted += before - files->files.size;
	return before - files->files.size;
}

static bool make_room(struct kept_files *files, struct budget_owner *owner, uint64_t bytes)
{
	while (!owner_budget_has_room(&files->budget, bytes)) {
		if (!evict(files, owner_budget_largest(&files->budget, owner, bytes)))
			return false;
	}
	return true;
}

static int append(struct kept_files *files, const struct file_key *key, struct budget_owner *owner)
{
	AUTO_FREE char *path = strdup(key->path);
	struct kept_file file = {.key = *key, .held = HELD_NONE, .owner = owner};
	uint32_t number = (uint32_t)files->files.size;

	if (!path || vec_reserve(&files->files, number + 1) ||
	    index_map_insert(&files->index, key_hash(key), number))
		return -ENOMEM;
	file.key.path = TAKE_PTR(path);
	files->files.data[files->files.size++] = file;
	owner_budget_add(&files->budget, owner, bytes_of(key));
	return 0;
}

static int add(struct kept_files *files, const struct file_key *key, struct owner_key owner_key)
{
	struct budget_owner *owner;
	int err = owner_budget_get(&files->budget, owner_key, &owner);

	if (err)
		return err;
	err = make_room(files, owner, bytes_of(key)) ? append(files, key, owner) : -ENOMEM;
	if (err)
		owner_budget_put(&files->budget, owner);
	return err;
}

/* --- descriptors ------------------------------------------------------------------------- */

/* Takes over fd. */
static void hold(struct kept_files *files, struct kept_file *file, int fd, struct owner_key owner,
		 uint64_t now_ns)
{
	struct held_properties properties = {
		.direct = file->found.direct,
		.lasting = file->found.flags & FILE_IS_LASTING,
		.pinned_bytes = file->found.pinned_bytes,
	};

	if (file->held != HELD_NONE)
		held_files_release(&files->held, file->held);
	if (fd >= 0)
		held_files_add(&files->held, fd, (uint32_t)(file - files->files.data), &properties,
			       owner, now_ns);
}

/*
 * Returns true if `now`, which replaces a file, is found, and surely the file that modules without
 * a version are of: a later one can have its inode number.
 */
static bool is_late(const struct kept_file *file, const struct kept_file *now)
{
	if (!file->unanswered)
		return file->late && file->found.version == now->found.version;
	return now->found.version &&
	       (file->is_mapped || (now->generation && now->generation == file->generation));
}

int kept_files_set(struct kept_files *files, const struct file_key *key,
		   const struct kept_file *file, const struct file_mapper *mapper,
		   struct owner_key owner, uint64_t now_ns)
{
	AUTO_CLOSE int fd = file->found.fd;
	struct kept_file *known;
	int err = 0;

	pthread_mutex_lock(&files->lock);
	if (!find(files, key))
		err = add(files, key, owner);
	known = err ? NULL : find(files, key);
	if (known) {
		unindex_build_id(files, known, (uint32_t)(known - files->files.data));
		known->late = is_late(known, file);
		known->found = file->found;
		known->found.fd = -1;
		known->finder = owner;
		index_build_id(files, (uint32_t)(known - files->files.data));
		known->unanswered = file->unanswered;
		known->generation = file->generation;
		known->pid = file->pid;
		known->seen_ns = now_ns;
		add_mapper(known, mapper);
		hold(files, known, TAKE_FD(fd), owner, now_ns);
	}
	pthread_mutex_unlock(&files->lock);
	return err;
}

void kept_files_hold(struct kept_files *files, const struct file_key *key, uint64_t version,
		     int fd_, uint64_t now_ns)
{
	AUTO_CLOSE int fd = fd_;
	struct kept_file *file;

	pthread_mutex_lock(&files->lock);
	file = find(files, key);
	if (file && version && file->found.version == version)
		hold(files, file, TAKE_FD(fd), file->owner->key, now_ns);
	pthread_mutex_unlock(&files->lock);
}

/* Returns true if a module with a version is of a file. */
static bool has_version(const struct kept_file *file, uint64_t version)
{
	return version ? file->found.version == version : file->unanswered || file->late;
}

int kept_files_get(struct kept_files *files, const struct file_key *key, uint64_t version,
		   uint64_t now_ns, struct found_file *ret, struct file_mapper *ret_mappers)
{
	const struct kept_file *file;
	int fd = -1, err = -ENOENT;

	pthread_mutex_lock(&files->lock);
	file = find(files, key);
	if (file && has_version(file, version)) {
		use(files, file, now_ns);
		if (file->held != HELD_NONE)
			fd = fcntl(files->held.files.data[file->held].fd, F_DUPFD_CLOEXEC, 0);
		err = file->held != HELD_NONE && fd < 0 ? -errno : 0;
	}
	if (!err) {
		*ret = file->found;
		ret->fd = fd;
		memcpy(ret_mappers, file->mappers, sizeof(file->mappers));
	}
	pthread_mutex_unlock(&files->lock);
	return err;
}

/* --- sweeps ------------------------------------------------------------------------------ */

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

static void sweep(struct kept_files *files, const struct module_table *modules, uint64_t now_ns)
{
	size_t twice;

	mark_used(files, modules);
	for (size_t i = files->files.size; i--;) {
		struct kept_file *file = &files->files.data[i];

		if (!file->in_use && now_ns - file->seen_ns > FILE_KEEP_NS)
			remove_file(files, (uint32_t)i);
		else
			file->in_use = false;
	}
	twice = 2 * files->files.size;
	files->sweep_at = twice > SWEEP_FILES ? twice : SWEEP_FILES;
	files->sweep_at_ns = now_ns + SWEEP_NS;
}

void kept_files_forget(struct kept_files *files, const struct module_table *modules,
		       uint64_t now_ns)
{
	pthread_mutex_lock(&files->lock);
	if (now_ns >= files->release_at_ns) {
		held_files_expire(&files->held, now_ns);
		files->release_at_ns = now_ns + SWEEP_NS;
	}
	if (files->files.size >= files->sweep_at && now_ns >= files->sweep_at_ns)
		sweep(files, modules, now_ns);
	pthread_mutex_unlock(&files->lock);
}
