/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The files of modules, and those that describe them, as a struct file_source. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/file_store_state.h"
#include "agent/files/module_blob.h"
#include "agent/files/module_search.h"
#include "agent/files/vdso_image.h"
#include "base/scope.h"
#include "base/text.h"

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
	err = module_search_find(user, module, &found);
	if (err)
		return err;
	if (found.flags & FILE_IS_LASTING || !user->store->options.live)
		return open_found(user, module_search_place(user, module), &found, ret);
	close(found.fd);
	return module_blob_create(user, module, module_search_find, found.size_bytes, ret);
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
	struct file_place place = module_search_place_of(
		user, module, file_place_of_debug(request.pid, path, FILE_OWNER_UNKNOWN));
	struct found_file found;
	int err;

	if (!ours && (!user->store->options.live || !module->pid))
		return -ENOENT;
	if (!file_request_set_path(&request, path))
		return -ENAMETOOLONG;
	err = file_reader_find(user->reader, place, &request, -1, &found);
	/* Only root can put a file into /usr/lib/debug, which is a place of its own. */
	if (!err && !(ours && place.kind == FILE_PLACE_ROOT) &&
	    !module_search_may_describe(user, module, &found)) {
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
	struct file_place servers = module_search_place_of(
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
