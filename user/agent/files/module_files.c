/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <elf.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/files/file_store_state.h"
#include "base/scope.h"
#include "base/text.h"

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

/* The users whose files we trust to describe any file: root and ourselves. */
static bool is_trusted(const struct found_file *found)
{
	return !(found->flags & (FILE_IS_FUSE | FILE_ROOT_FOREIGN)) &&
	       (!found->owner || found->owner == geteuid());
}

/*
 * Returns true if a file may be used in the place of another one, `known` (without a version: not
 * known), because of what it says of itself. A user can only name the own files at will.
 */
static bool may_replace(const struct found_file *found, const struct found_file *known)
{
	if (is_trusted(found))
		return true;
	return !(found->flags & FILE_IS_FUSE) && found->owner && known->version &&
	       found->owner == known->owner;
}

/*
 * Find the file at the path of a module whose process has exited, in our root. `known` is what was
 * found before, or has no version. Anybody can copy a build ID, so that it serves only for files of
 * trusted users, or of the same user.
 */
static int find_by_build_id(const struct file_user *user, const struct module *module,
			    const struct found_file *known, struct found_file *ret)
{
	struct file_request request = {.kind = FILE_FIND_PATH};
	struct found_file found;
	int err;

	if (!module->build_id_bytes || !file_request_set_path(&request, module->path))
		return -ENOENT;
	err = file_reader_find(user->reader,
			       file_place_of_device(module->dev_major, module->dev_minor), &request,
			       -1, &found);
	if (err)
		return err;
	if (has_build_id(&found, module) && may_replace(&found, known)) {
		*ret = found;
		return 0;
	}
	close(found.fd);
	return -ESTALE;
}

/* Find a module's file anew. `known` is what was found before, or has no version. */
static int find_same(const struct file_user *user, const struct module *module,
		     const struct found_file *known, struct found_file *ret)
{
	struct file_place place = file_place_of_device(module->dev_major, module->dev_minor);
	struct file_request request = {
		.kind = user->store->options.live ? FILE_FIND_MAPPED : FILE_FIND_PATH,
		.pid = user->store->options.live ? module->pid : 0,
		.dev_major = module->dev_major,
		.dev_minor = module->dev_minor,
		.inode = module->inode,
	};
	struct found_file found;
	int err;

	if (!file_request_set_path(&request, module->path))
		return -ENAMETOOLONG;
	err = module->inode ? file_reader_find(user->reader, place, &request, -1, &found) : -ENOENT;
	if (!err && is_same(module, &found)) {
		*ret = found;
		return 0;
	}
	if (!err)
		close(found.fd);
	return err == -ETIMEDOUT ? err : find_by_build_id(user, module, known, ret);
}

/* The vDSO has no file; all processes of a kernel share it. */
static int open_vdso(struct blob *ret)
{
	const Elf64_Ehdr *vdso = (const Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);

	if (!vdso)
		return -ENOENT;
	/* The section headers are at its end. */
	*ret = blob_of_memory(vdso, vdso->e_shoff + (size_t)vdso->e_shnum * vdso->e_shentsize);
	return 0;
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

static int get_known(struct file_store *store, const struct module *module, struct found_file *ret)
{
	struct file_key key = {module->dev_major, module->dev_minor, module->inode, module->path};

	return kept_files_get(&store->files, &key, module->inode_generation, ret);
}

int module_files_open(void *context, const struct module *module, struct blob *ret)
{
	const struct file_user *user = context;
	struct found_file known = {.fd = -1}, found;
	int err;

	if (begins_with(module->path, "[vdso"))
		return user->store->options.live ? open_vdso(ret) : -ENOENT;
	err = get_known(user->store, module, &known);
	if (err && err != -ENOENT)
		return err;
	found = known;
	if (known.fd < 0)
		err = find_same(user, module, &known, &found);
	if (err)
		return err;
	return open_found(user, file_place_of_device(module->dev_major, module->dev_minor), &found,
			  ret);
}

/*
 * Returns true if a debug file may describe a module: its owner could have written the module's
 * file, too. Other users can only name a file of theirs as they like.
 */
static bool may_describe(const struct file_user *user, const struct module *module,
			 const struct found_file *debug)
{
	struct found_file known = {.fd = -1};

	if (!get_known(user->store, module, &known) && known.fd >= 0)
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
	struct file_place place = file_place_of_debug(request.pid, path);
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

int module_files_fetch_debug(void *context, const uint8_t *build_id, uint32_t build_id_bytes,
			     struct blob *ret)
{
	const struct file_user *user = context;
	struct file_store *store = user->store;
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
	err = file_reader_find(user->reader, servers, &request, -1, &found);
	if (err == -ENOSYS || err == -EPERM)
		store->debuginfod_error = err;
	/* The file is now in the local cache. */
	return err ?: open_found(user, (struct file_place){.kind = FILE_PLACE_ROOT}, &found, ret);
}
