/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/file_store.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "agent/clock.h"
#include "agent/files/debuginfod.h"
#include "agent/files/file_reader.h"
#include "agent/files/file_service.h"
#include "agent/files/kept_files.h"
#include "base/scope.h"
#include "base/text.h"

/* Time limits of the event loop and of the workers. */
static const struct file_patience meeting_patience = {
	.answer_ms = 500, .place_ms = 2000, .refill_percent = 1};
static const struct file_patience reading_patience = {
	.answer_ms = 3000, .place_ms = 15000, .refill_percent = 5};
static const struct file_patience unwinding_patience = {
	.answer_ms = 1000, .place_ms = 5000, .refill_percent = 5};
static const struct file_patience following_patience = {
	.answer_ms = 500, .place_ms = 2000, .refill_percent = 5, .unanswered_max = 2};

#define SERVERS_PLACE_MS 120000 /* limit for all debug info from servers */

struct file_store;

/* A thread's reader. */
struct file_user {
	struct file_store *store;
	struct file_reader *reader;
};

struct file_store {
	struct file_store_options options;
	struct broker own_broker;
	struct file_reader *meeting;
	struct file_user naming, unwinding;
	/* Of the unwind worker too: memory that hangs must not use up the time for files. */
	struct file_reader *memory;
	/* Of the event loop: files that grow, and the memory of who writes them. */
	struct file_reader *following, *writers;
	struct kept_files files;
	struct file_store_counts counts;
	int debuginfod_error; /* set by the symbol worker's thread */
};

DEFINE_CLEANUP(struct file_store *, file_store_destroy);

int file_store_create(const struct file_store_options *options, struct file_store **ret)
{
	static const role_fn functions[ROLE_COUNT] = {
		[ROLE_OPENER] = file_service_run,
		[ROLE_FETCHER] = file_service_run_fetcher,
	};
	CLEANUP(file_store_destroyp) struct file_store *store = calloc(1, sizeof(*store));
	const struct broker *broker = options->broker;
	int err = 0;

	if (!store)
		return -ENOMEM;
	store->options = *options;
	store->options.debuginfod = options->debuginfod && debuginfod_wanted();
	kept_files_init(&store->files);
	store->own_broker.socket = -1;
	store->naming.store = store->unwinding.store = store;
	if (!broker) {
		broker = &store->own_broker;
		err = broker_start(functions, &store->own_broker);
	}
	err = err ?: file_reader_create(broker, meeting_patience, &store->meeting);
	err = err ?: file_reader_create(broker, reading_patience, &store->naming.reader);
	err = err ?: file_reader_create(broker, unwinding_patience, &store->unwinding.reader);
	err = err ?: file_reader_create(broker, unwinding_patience, &store->memory);
	err = err ?: file_reader_create(broker, following_patience, &store->following);
	err = err ?: file_reader_create(broker, following_patience, &store->writers);
	if (err)
		return err;
	/* One second more than the library's own limit, so that the library reports the cause. */
	file_reader_set_servers(store->naming.reader,
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
	kept_files_deinit(&store->files);
	file_reader_destroy(store->meeting);
	file_reader_destroy(store->naming.reader);
	file_reader_destroy(store->unwinding.reader);
	file_reader_destroy(store->memory);
	file_reader_destroy(store->following);
	file_reader_destroy(store->writers);
	broker_stop(&store->own_broker);
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

static int find_mapped(struct file_reader *reader, enum file_request_kind kind,
		       const struct jitbpf_mapping *mapping, struct found_file *ret)
{
	struct file_request request = {
		.kind = kind,
		.pid = mapping->pid,
		.inode = mapping->inode,
		.address = mapping->address,
		.size_bytes = mapping->size_bytes,
	};

	if (!set_path(&request, mapping->path))
		return -ENAMETOOLONG;
	return file_reader_find(reader,
				file_place_of_device(mapping->dev_major, mapping->dev_minor),
				&request, ret);
}

uint32_t file_store_meet(struct file_store *store, const struct jitbpf_mapping *mapping,
			 uint8_t ret[JITBPF_BUILD_ID_MAX])
{
	struct file_key key = {mapping->dev_major, mapping->dev_minor, mapping->inode,
			       mapping->path};
	uint64_t now_ns = clock_now_ns();
	const struct kept_file *known = kept_files_find(&store->files, &key, now_ns);
	struct found_file found = {.fd = -1};
	int err;

	if (known && !known->unanswered) {
		memcpy(ret, known->found.build_id, sizeof(known->found.build_id));
		return known->found.build_id_bytes;
	}
	if (!known && kept_files_full(&store->files)) {
		store->counts.over_budget++;
		return 0;
	}
	err = find_mapped(store->meeting, FILE_FIND_MAPPED, mapping, &found);
	memcpy(ret, found.build_id, sizeof(found.build_id));
	/* on -ENOMEM, the file is opened again next time */
	if (!known) {
		store->counts.unanswered += err == -ETIMEDOUT;
		kept_files_add(&store->files, &key, err == -ETIMEDOUT ? NULL : &found, now_ns);
	} else if (err != -ETIMEDOUT) {
		kept_files_answer(&store->files, &key, &found);
	}
	return found.build_id_bytes;
}

void file_store_forget(struct file_store *store, const struct module_table *modules)
{
	kept_files_forget(&store->files, modules, clock_now_ns());
}

int file_store_open_mapped(struct file_store *store, const struct jitbpf_mapping *mapping,
			   int *ret_fd, struct blob *ret)
{
	struct found_file found;
	int err = find_mapped(store->meeting, FILE_FIND_MAPPED, mapping, &found), fd;

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

int file_store_follow(struct file_store *store, const struct jitbpf_mapping *mapping,
		      struct followed_file *ret)
{
	ret->place = file_place_of_device(mapping->dev_major, mapping->dev_minor);
	return find_mapped(store->following, FILE_FIND_GROWING, mapping, &ret->found);
}

int file_store_read_followed(struct file_store *store, const struct followed_file *file,
			     uint64_t offset, void *buf, size_t size_bytes, size_t *ret_bytes,
			     uint64_t *ret_file_bytes)
{
	return file_reader_growing(store->following, file->place, &file->found, offset, buf,
				   size_bytes, ret_bytes, ret_file_bytes);
}

int file_store_read_writer(struct file_store *store, uint32_t pid, uint64_t address, void *buf,
			   size_t size_bytes)
{
	size_t got;
	int err = file_reader_memory(store->writers, pid, address, buf, size_bytes, &got);

	return err ?: got == size_bytes ? 0 : -EFAULT;
}

struct file_store_counts file_store_counts(const struct file_store *store)
{
	struct file_store_counts counts = store->counts;

	counts.known = store->files.files.size;
	return counts;
}

static bool is_same(const struct module *module, const struct found_file *found)
{
	return found->build_id_bytes == module->build_id_bytes &&
	       !memcmp(found->build_id, module->build_id, module->build_id_bytes);
}

/*
 * Find the file at a module's path if it is the one that was mapped. The path
 * is tried in the process's root, by inode, and in our own root, by build ID if
 * that is known.
 */
static int find_same(const struct file_user *user, const struct module *module,
		     struct found_file *ret)
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
	if (user->store->options.live)
		err = file_reader_find(user->reader, place, &request, &found);
	if (err && err != -ETIMEDOUT) {
		request.kind = FILE_FIND_PATH;
		request.pid = 0;
		request.inode = module->build_id_bytes ? 0 : module->inode;
		err = file_reader_find(user->reader, place, &request, &found);
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

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	const struct file_user *user = context;
	struct file_key key = {module->dev_major, module->dev_minor, module->inode, module->path};
	struct found_file found;
	int err;

	if (begins_with(module->path, "[vdso"))
		return user->store->options.live ? open_vdso(ret) : -ENOENT;
	err = kept_files_open(&user->store->files, &key, &found);
	if (err)
		err = find_same(user, module, &found);
	if (err)
		return err;
	return open_found(user, file_place_of_device(module->dev_major, module->dev_minor), &found,
			  ret);
}

/*
 * Open a possible debug file; the caller checks its identity. It is searched in
 * the root of the module's process while that lives. If the pid has been
 * reused, the wrong file fails the check.
 */
static int open_debug(void *context, const struct module *module, const char *path, bool ours,
		      struct blob *ret)
{
	const struct file_user *user = context;
	struct file_request request = {.kind = FILE_FIND_PATH, .pid = ours ? 0 : module->pid};
	struct file_place place = file_place_of_debug(request.pid, path);
	struct found_file found;
	int err;

	if (!ours && (!user->store->options.live || !module->pid))
		return -ENOENT;
	if (!set_path(&request, path))
		return -ENAMETOOLONG;
	err = file_reader_find(user->reader, place, &request, &found);
	return err ?: open_found(user, place, &found, ret);
}

static int fetch_debug(void *context, const uint8_t *build_id, uint32_t build_id_bytes,
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
	err = file_reader_find(user->reader, servers, &request, &found);
	if (err == -ENOSYS || err == -EPERM)
		store->debuginfod_error = err;
	/* The file is now in the local cache. */
	return err ?: open_found(user, (struct file_place){.kind = FILE_PLACE_ROOT}, &found, ret);
}

void file_store_source(struct file_store *store, struct file_source *ret)
{
	*ret = (struct file_source){
		.open_module = open_module,
		.open_debug = open_debug,
		.fetch_debug = fetch_debug,
		.context = &store->naming,
	};
}

void file_store_unwind_source(struct file_store *store, struct file_source *ret)
{
	*ret = (struct file_source){.open_module = open_module, .context = &store->unwinding};
}

static int read_memory(void *context, uint32_t pid, uint64_t address, void *buf, size_t size_bytes,
		       size_t *ret_bytes)
{
	struct file_store *store = context;

	return file_reader_memory(store->memory, pid, address, buf, size_bytes, ret_bytes);
}

void file_store_memory_source(struct file_store *store, struct memory_source *ret)
{
	*ret = (struct memory_source){.read = read_memory, .context = store};
}

const char *file_store_given_up(const struct file_store *store, uint32_t number)
{
	const struct file_reader *readers[] = {
		store->meeting, store->naming.reader, store->unwinding.reader,
		store->memory,	store->following,     store->writers,
	};

	for (size_t i = 0; i < ARRAY_SIZE(readers); i++) {
		uint32_t count = 0;

		while (file_reader_given_up(readers[i], count))
			count++;
		if (number < count)
			return file_reader_given_up(readers[i], number);
		number -= count;
	}
	return NULL;
}

int file_store_debuginfod_error(const struct file_store *store)
{
	return store->debuginfod_error;
}
