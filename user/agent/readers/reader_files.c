/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/readers/reader_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/files/helper/file_blob.h"
#include "agent/files/reading/window_blob.h"
#include "agent/readers/reader_message.h"
#include "base/hash.h"
#include "base/scope.h"

/* A file that the recorder reads for us. */
struct remote_file {
	struct reader_files *files;
	uint32_t number;
};

/* Send a call. If the recorder has ended, this process exits. */
static void call(struct reader_files *files, enum reader_message kind, const void *bytes,
		 size_t size_bytes)
{
	if (reader_send(files->socket, kind, bytes, size_bytes, -1, NULL))
		_exit(1);
}

static void await(struct reader_files *files, enum reader_message kind, int *ret_fd)
{
	if (reader_receive(files->socket, &files->in, ret_fd, NULL) != (int)kind)
		_exit(1);
}

static int read_remote(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	const struct remote_file *file = context;
	struct reader_piece piece = {
		.offset = offset,
		.size_bytes = size_bytes,
		.file = file->number,
	};
	int none;

	call(file->files, READER_READ, &piece, sizeof(piece));
	await(file->files, READER_BYTES, &none);
	if (file->files->in.size != size_bytes)
		return -EIO;
	memcpy(buf, file->files->in.data, size_bytes);
	return 0;
}

static void close_remote(void *context)
{
	struct remote_file *file = context;

	call(file->files, READER_CLOSE, &file->number, sizeof(file->number));
	free(file);
}

static int open_remote(struct reader_files *files, const struct reader_opened *opened,
		       struct blob *ret)
{
	struct remote_file *file = malloc(sizeof(*file));
	int err;

	if (!file)
		return -ENOMEM;
	*file = (struct remote_file){.files = files, .number = opened->file};
	err = window_blob_create(&(struct window_source){read_remote, close_remote, file},
				 opened->size_bytes, ret);
	if (err)
		free(file);
	return err;
}

static int await_opened(struct reader_files *files, struct blob *ret)
{
	struct reader_opened opened;
	int fd;

	await(files, READER_OPENED, &fd);
	if (files->in.size != sizeof(opened))
		_exit(1);
	memcpy(&opened, files->in.data, sizeof(opened));
	if (opened.err)
		return opened.err;
	if (fd < 0)
		return open_remote(files, &opened, ret);
	*ret = file_blob_of_size(fd, opened.size_bytes);
	return 0;
}

static int open_module(void *context, const struct module *module, struct blob *ret)
{
	call(context, READER_OPEN_MODULE, &module->number, sizeof(module->number));
	return await_opened(context, ret);
}

static int open_debug(void *context, const struct module *module, const char *path, bool ours,
		      struct blob *ret)
{
	struct {
		struct reader_debug head;
		char path[MODULE_PATH_MAX];
	} message = {.head = {.module = module->number, .ours = ours}};
	size_t length = strlen(path);

	if (length >= sizeof(message.path))
		return -ENAMETOOLONG;
	memcpy(message.path, path, length + 1);
	call(context, READER_OPEN_DEBUG, &message, sizeof(message.head) + length + 1);
	return await_opened(context, ret);
}

static int allow_check(void *context, const struct module *module, uint64_t size_bytes)
{
	struct reader_check check = {.size_bytes = size_bytes, .module = module->number};
	struct reader_files *files = context;
	int32_t err;
	int none;

	call(files, READER_CHECK, &check, sizeof(check));
	await(files, READER_CHECKED, &none);
	if (files->in.size != sizeof(err))
		_exit(1);
	memcpy(&err, files->in.data, sizeof(err));
	return err;
}

static int fetch_debug(void *context, const struct module *module, const uint8_t *build_id,
		       uint32_t build_id_bytes, struct blob *ret)
{
	call(context, READER_FETCH_DEBUG, build_id, build_id_bytes);
	return await_opened(context, ret);
}

void reader_files_source(struct reader_files *files, struct file_source *ret)
{
	*ret = (struct file_source){
		.open_module = open_module,
		.open_debug = open_debug,
		.allow_check = allow_check,
		.fetch_debug = fetch_debug,
		.context = files,
	};
}

static bool has_number(const void *modules, uint32_t item, const void *number)
{
	return ((struct module *const *)modules)[item]->number == *(const uint32_t *)number;
}

static uint32_t find(const struct reader_files *files, uint32_t number)
{
	return index_map_find(&files->index, hash_mix(number, 0), has_number, files->modules.data,
			      &number);
}

const struct module *reader_files_find(const struct reader_files *files, uint32_t number)
{
	uint32_t at = find(files, number);

	return at != INDEX_MAP_NONE ? files->modules.data[at] : NULL;
}

static struct module *make_module(const struct reader_module *from, const char *path)
{
	size_t path_bytes = strlen(path) + 1;
	struct module *module = calloc(1, sizeof(*module) + path_bytes);

	if (!module)
		return NULL;
	memcpy(module + 1, path, path_bytes);
	module->number = from->number;
	module->path = (const char *)(module + 1);
	module->build_id_bytes = from->build_id_bytes;
	memcpy(module->build_id, from->build_id, sizeof(module->build_id));
	return module;
}

const struct module *reader_files_module(struct reader_files *files, const void *module_,
					 const char *path)
{
	AUTO_FREE struct module *made = NULL;
	uint32_t at = (uint32_t)files->modules.size, known;
	struct reader_module module;

	memcpy(&module, module_, sizeof(module));
	known = find(files, module.number);
	if (known != INDEX_MAP_NONE)
		return files->modules.data[known];
	made = make_module(&module, path);
	if (!made || vec_reserve(&files->modules, at + 1) ||
	    index_map_insert(&files->index, hash_mix(module.number, 0), at))
		return NULL;
	files->modules.data[files->modules.size++] = made;
	return TAKE_PTR(made);
}

void reader_files_forget(struct reader_files *files, uint32_t number)
{
	uint32_t at = find(files, number), last = (uint32_t)files->modules.size - 1;
	struct module *module;

	if (at == INDEX_MAP_NONE)
		return;
	module = files->modules.data[at];
	index_map_remove(&files->index, hash_mix(number, 0), at);
	files->modules.size--;
	if (at != last) {
		struct module *moved = files->modules.data[last];

		index_map_remove(&files->index, hash_mix(moved->number, 0), last);
		files->modules.data[at] = moved;
		/* Two entries were removed, so there is room. */
		(void)index_map_insert(&files->index, hash_mix(moved->number, 0), at);
	}
	module_release(module);
}
