/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/equal_files.h"
#include "agent/files/file_store_state.h"
#include "agent/files/module_blob.h"
#include "agent/files/vdso_image.h"
#include "base/scope.h"
#include "base/text.h"

/*
 * Returns the place for one of the owners of a module: the first one with time for it. So nobody
 * makes a file unavailable to others by mapping it. If none has time, requests fail.
 */
static struct file_place place_for(const struct file_user *user, const struct module *module,
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

struct file_place module_files_place(const struct file_user *user, const struct module *module)
{
	return place_for(
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
	err = file_reader_find(user->reader, module_files_place(user, module), &request, -1,
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

int module_files_is_here(const struct file_user *user, const struct module *module)
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
	err = file_reader_find(user->reader, module_files_place(user, module), &request, -1,
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
	err = file_reader_find(user->reader, module_files_place(user, module), &request, mapping,
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

/* A module_file_fn. */
static int get_file(const struct file_user *user, const struct module *module,
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

/* Create a blob. Takes over found->fd in all cases. */
static int open_found(const struct file_user *user, struct file_place place,
		      struct found_file *found, struct blob *ret)
{
	int err = file_reader_blob(user->reader, place, found, ret);

	if (err)
		close(found->fd);
	return err;
}

int module_files_open(void *context, const struct module *module, struct blob *ret)
{
	const struct file_user *user = context;
	struct found_file found;
	int err;

	if (begins_with(module->path, "[vdso") && !user->store->options.live)
		return -ENOENT;
	if (!strcmp(module->path, VDSO_NARROW_PATH))
		return vdso_image_open_narrow(ret);
	if (begins_with(module->path, "[vdso"))
		return vdso_image_open(ret);
	err = get_file(user, module, &found);
	if (err)
		return err;
	if (found.flags & FILE_IS_LASTING || !user->store->options.live)
		return open_found(user, module_files_place(user, module), &found, ret);
	close(found.fd);
	return module_blob_create(user, module, get_file, found.size_bytes, ret);
}

/*
 * Returns true if a debug file may describe a module: its owner could have written the module's
 * file, too. So other users can only affect the names of their own files.
 */
static bool may_describe(const struct file_user *user, const struct module *module,
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

/*
 * Open a possible debug file; the caller checks its identity. It is searched in
 * the root of the module's process while that lives. If the pid has been
 * reused, the wrong file fails the check.
 */
int module_files_open_debug(void *context, const struct module *module, const char *path, bool ours,
			    struct blob *ret)
{
	const struct file_user *user = context;
	struct file_request request = {.kind = FILE_FIND_PATH, .pid = ours ? 0 : module->pid};
	struct file_place place =
		place_for(user, module, file_place_of_debug(request.pid, path, FILE_OWNER_UNKNOWN));
	struct found_file found;
	int err;

	if (!ours && (!user->store->options.live || !module->pid))
		return -ENOENT;
	if (!file_request_set_path(&request, path))
		return -ENAMETOOLONG;
	err = file_reader_find(user->reader, place, &request, -1, &found);
	/* Only root can put a file into /usr/lib/debug, which is a place of its own. */
	if (!err && !(ours && place.kind == FILE_PLACE_ROOT) &&
	    !may_describe(user, module, &found)) {
		close(found.fd);
		return -EACCES;
	}
	return err ?: open_found(user, place, &found, ret);
}

/* Charged to any of the owners that has room: the others cannot keep it from being named. */
int module_files_allow_check(void *context, const struct module *module, uint64_t size_bytes)
{
	uint32_t count = module_owner_count(module);
	struct file_user *user = context;
	uint64_t now_ns = clock_now_ns();

	if (!count && owner_rates_take(&user->checks, FILE_OWNER_UNKNOWN, size_bytes, now_ns))
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		if (owner_rates_take(&user->checks, module->owners[i], size_bytes, now_ns))
			return 0;
	}
	return -EAGAIN;
}

int module_files_fetch_debug(void *context, const struct module *module, const uint8_t *build_id,
			     uint32_t build_id_bytes, struct blob *ret)
{
	const struct file_user *user = context;
	struct file_store *store = user->store;
	struct file_request request = {
		.kind = FILE_FIND_SERVED,
		.build_id_bytes = build_id_bytes,
	};
	struct file_place servers = place_for(
		user, module, file_place_of(FILE_PLACE_SERVERS, 0, 0, FILE_OWNER_UNKNOWN));
	struct found_file found;
	int err;

	if (!store->options.debuginfod || store->debuginfod_error)
		return -ENOENT;
	memcpy(request.build_id, build_id, build_id_bytes);
	err = file_reader_find(user->reader, servers, &request, -1, &found);
	if (err == -ENOSYS || err == -EPERM)
		store->debuginfod_error = err;
	/* The file is now in the local cache. */
	return err
		       ?: open_found(user, file_place_of(FILE_PLACE_ROOT, 0, 0, servers.owner),
				     &found, ret);
}
