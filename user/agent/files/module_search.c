/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/module_search.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/equal_files.h"
#include "agent/files/file_store_state.h"
#include "base/scope.h"

struct file_place module_search_place_of(const struct file_user *user, const struct module *module,
					 struct file_place place)
{
	uint32_t count = module_owner_count(module);

	for (uint32_t i = 0; i < count; i++) {
		struct file_place of_owner =
			file_place_of(place.kind, place.a, place.b, module->owners[i]);

		if (file_reader_has_time(user->reader, of_owner))
			return of_owner;
	}
	return count ? file_place_of(place.kind, place.a, place.b, module->owners[0]) : place;
}

struct file_place module_search_place(const struct file_user *user, const struct module *module)
{
	return module_search_place_of(
		user, module,
		file_place_of_device(module->dev_major, module->dev_minor, FILE_OWNER_UNKNOWN));
}

static bool has_build_id(const struct found_file *found, const struct module *module)
{
	return found->build_id_bytes == module->build_id_bytes &&
	       !memcmp(found->build_id, module->build_id, module->build_id_bytes);
}

static bool is_same(const struct module *module, const struct found_file *found)
{
	if (module->inode_generation && module->inode_generation != found->version)
		return false;
	/* A file that was not found at its mapping has no build ID yet. */
	return (!module->inode_generation && !module->build_id_bytes) ||
	       has_build_id(found, module);
}

/* We trust files of root, and our own, to describe any other file. */
static bool is_trusted(const struct found_file *found)
{
	return !(found->flags & (FILE_IS_FUSE | FILE_ROOT_FOREIGN)) &&
	       (!found->owner || found->owner == geteuid());
}

/*
 * Returns true if a file, identified only by its own build ID, may be used instead of `known`
 * (version 0: not known). So a user can only choose names for files that this user owns.
 */
static bool may_replace(const struct found_file *found, const struct found_file *known)
{
	if (is_trusted(found))
		return true;
	return !(found->flags & FILE_IS_FUSE) && found->owner && known->version &&
	       found->owner == known->owner;
}

/*
 * Find the file at the path of a module with a build ID, whose process has exited, in our root.
 * `known` is the file that was found before, or has version 0. Anybody can copy a build ID, so only
 * files of trusted users, or of the same user, are accepted.
 */
static int find_by_build_id(const struct file_user *user, const struct module *module,
			    const struct found_file *known, struct found_file *ret)
{
	struct file_request request = {.kind = FILE_FIND_PATH};
	struct found_file found;
	int err;

	if (!file_request_set_path(&request, module->path))
		return -ENOENT;
	err = file_reader_find(user->reader, module_search_place(user, module), &request, -1,
			       &found);
	if (err)
		return err;
	if (has_build_id(&found, module) && may_replace(&found, known)) {
		*ret = found;
		return 0;
	}
	close(found.fd);
	return -ESTALE;
}

int module_search_is_here(const struct file_user *user, const struct module *module)
{
	struct file_request request = {.kind = FILE_FIND_PATH};
	struct found_file found;
	int err;

	if (!file_request_set_path(&request, module->path))
		return -ENAMETOOLONG;
	if (!module->build_id_bytes) {
		request.dev_major = module->dev_major;
		request.dev_minor = module->dev_minor;
		request.inode = module->inode;
		if (!module->inode)
			return -ENODATA;
	}
	err = file_reader_find(user->reader, module_search_place(user, module), &request, -1,
			       &found);
	if (err == -ENOENT || err == -ESTALE)
		return module->build_id_bytes ? 0 : -ENODATA;
	if (err)
		return err;
	close(found.fd);
	if (module->build_id_bytes)
		return has_build_id(&found, module);
	return module->inode_generation && module->inode_generation != found.version ? -ENODATA : 1;
}

/*
 * Ask a second time if there was no answer: the helper may only have waited for a CPU. Without the
 * mapping, the file would be looked up by its path, in a file system that may not answer.
 */
static int ask_mapping(const struct file_user *user, const struct file_mapper *mapper)
{
	int fd = -ETIMEDOUT;

	for (int i = 0; i < 2 && fd == -ETIMEDOUT; i++)
		fd = file_reader_mapping(user->mappings, mapper->pid, mapper->owner,
					 mapper->address, mapper->size_bytes);
	return fd;
}

/* Returns a descriptor of a mapping of the file, or a negative errno. */
static int open_mapping(const struct file_user *user, const struct file_mapper *mappers)
{
	int fd = -ENOENT;

	for (size_t i = 0; i < FILE_MAPPERS && fd < 0; i++) {
		if (mappers[i].pid)
			fd = ask_mapping(user, &mappers[i]);
	}
	return fd;
}

/*
 * Find a module's file anew, by mapping (negative: none) or by its path, and verify it. `known` is
 * the file that was found before, or has version 0.
 */
static int find_same(const struct file_user *user, const struct module *module, int mapping,
		     const struct found_file *known, struct found_file *ret)
{
	bool live = user->store->options.live;
	struct file_request request = {
		.kind = live ? FILE_FIND_MAPPED : FILE_FIND_PATH,
		.pid = live ? module->pid : 0,
		.dev_major = module->dev_major,
		.dev_minor = module->dev_minor,
		.inode = module->inode,
		.actor = known->actor,
	};
	struct found_file found;
	int err;

	if (!file_request_set_path(&request, module->path))
		return -ENAMETOOLONG;
	if (!module->inode)
		return -ENOENT;
	/*
	 * Its file was not read while it was mapped. By now, a later file may have the inode
	 * number, and nothing could tell.
	 */
	if (!live && !module->inode_generation && !module->build_id_bytes)
		return -ESTALE;
	err = file_reader_find(user->reader, module_search_place(user, module), &request, mapping,
			       &found);
	if (err)
		return err;
	if (!is_same(module, &found)) {
		close(found.fd);
		return -ESTALE;
	}
	*ret = found;
	return 0;
}

/* See kept_files_get(). */
static int get_known(struct file_store *store, const struct module *module, struct found_file *ret,
		     struct file_mapper *ret_mappers)
{
	struct file_key key = {module->dev_major, module->dev_minor, module->inode, module->path};

	return kept_files_get(&store->files, &key, module->inode_generation, clock_now_ns(), ret,
			      ret_mappers);
}

/* Hold another descriptor of a file that was found again. */
static void hold(struct file_store *store, const struct module *module,
		 const struct found_file *found)
{
	struct file_key key = {module->dev_major, module->dev_minor, module->inode, module->path};
	int fd = fcntl(found->fd, F_DUPFD_CLOEXEC, 0);

	if (fd >= 0)
		kept_files_hold(&store->files, &key, found->version, fd, clock_now_ns());
}

/* Get the file itself. */
static int get_own(const struct file_user *user, const struct module *module,
		   struct found_file *ret)
{
	struct file_mapper mappers[FILE_MAPPERS] = {0};
	struct found_file known = {.fd = -1};
	AUTO_CLOSE int mapping = -1;
	int err = get_known(user->store, module, &known, mappers);

	if (err && err != -ENOENT)
		return err;
	if (known.fd >= 0) {
		*ret = known;
		return 0;
	}
	mapping = open_mapping(user, mappers);
	err = find_same(user, module, mapping, &known, ret);
	if (!err)
		hold(user->store, module, ret);
	if (err && err != -ETIMEDOUT && module->build_id_bytes)
		err = find_by_build_id(user, module, &known, ret);
	/* The file is not at its path, but the process may answer a later request. */
	return err && err != -ENOMEM && mapping == -ETIMEDOUT ? mapping : err;
}

/*
 * Get a known file that describes the module by its build ID; with a version, that one. The file of
 * a mapping may have been gone before it was opened: then the module has the version of the equal
 * file (file_store.c).
 */
static int get_equal(const struct file_user *user, const struct module *module, uint64_t version,
		     struct found_file *ret)
{
	struct equal_wanted wanted = {
		.build_id = module->build_id,
		.version = version,
		.owners = module->owners,
		.owner_count = module_owner_count(module),
	};
	struct module described = {.build_id_bytes = module->build_id_bytes};
	char path[FILE_PATH_MAX];
	struct kept_file equal;

	if (!module->build_id_bytes ||
	    !equal_files_find(&user->store->files, &wanted, clock_now_ns(), &equal, path))
		return -ENOENT;
	memcpy(described.build_id, module->build_id, sizeof(described.build_id));
	memcpy(described.owners, module->owners, sizeof(described.owners));
	atomic_init(&described.owner_count, wanted.owner_count);
	described.dev_major = equal.key.dev_major;
	described.dev_minor = equal.key.dev_minor;
	described.inode = equal.key.inode;
	described.inode_generation = equal.found.version;
	described.pid = equal.pid;
	described.path = path;
	return get_own(user, &described, ret);
}

static bool is_known(const struct file_user *user, const struct module *module)
{
	struct file_mapper mappers[FILE_MAPPERS];
	struct found_file known = {.fd = -1};
	int err = get_known(user->store, module, &known, mappers);

	scope_close(&known.fd);
	return err != -ENOENT;
}

int module_search_find(const struct file_user *user, const struct module *module,
		       struct found_file *ret)
{
	int err;

	if (module->inode_generation && !is_known(user, module) &&
	    !get_equal(user, module, module->inode_generation, ret))
		return 0;
	err = get_own(user, module, ret);
	if ((err == -ENOENT || err == -ESTALE) && !get_equal(user, module, 0, ret))
		return 0;
	return err;
}

bool module_search_may_describe(const struct file_user *user, const struct module *module,
				const struct found_file *debug)
{
	struct file_mapper mappers[FILE_MAPPERS];
	struct found_file known = {.fd = -1};

	if (is_trusted(debug))
		return true;
	/* The descriptor stays open, so that it must not keep a user's memory or mounts. */
	if (debug->pinned_bytes ||
	    (debug->flags & FILE_ROOT_FOREIGN && !(debug->flags & FILE_IS_LASTING)))
		return false;
	if (!get_known(user->store, module, &known, mappers) && known.fd >= 0)
		close(known.fd);
	return may_replace(debug, &known);
}
