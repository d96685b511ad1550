/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/module_blob.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "agent/files/module_search.h"
#include "agent/files/reading/read_window.h"
#include "base/scope.h"

struct module_blob {
	const struct file_user *user;
	const struct module *module;
	module_file_fn get;
	uint64_t size_bytes;
	struct read_window window;
};

static int read_file(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	const struct module_blob *file = context;
	const struct module *module = file->module;
	CLEANUP(blob_close) struct blob blob = {0};
	struct found_file found;
	int err = file->get(file->user, module, &found);

	if (err)
		return err;
	err = file_reader_blob(file->user->reader, module_search_place(file->user, module), &found,
			       &blob);
	if (err) {
		close(found.fd);
		return err;
	}
	return blob_read(&blob, offset, buf, size_bytes);
}

static int read_at(void *context, uint64_t offset, void *buf, size_t size_bytes)
{
	struct module_blob *file = context;

	return read_window_get(&file->window, file->size_bytes, read_file, file, offset, buf,
			       size_bytes);
}

static void close_blob(void *context)
{
	struct module_blob *file = context;

	module_release(file->module);
	free(file);
}

int module_blob_create(const struct file_user *user, const struct module *module,
		       module_file_fn get, uint64_t size_bytes, struct blob *ret)
{
	struct module_blob *file = malloc(sizeof(*file));

	if (!file)
		return -ENOMEM;
	file->user = user;
	file->module = module_hold(module);
	file->get = get;
	file->size_bytes = size_bytes;
	file->window.offset = file->window.bytes = 0;
	*ret = (struct blob){
		.size_bytes = size_bytes,
		.read = read_at,
		.close = close_blob,
		.context = file,
	};
	return 0;
}
