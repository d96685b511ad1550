/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The store as the source of files and memory that the stages without access to them are given. */
#include <errno.h>

#include "agent/files/code_ranges.h"
#include "agent/files/file_store.h"
#include "agent/files/file_store_state.h"
#include "agent/files/shared_code.h"

void file_store_source(struct file_store *store, struct file_source *ret)
{
	*ret = (struct file_source){
		.open_module = module_files_open,
		.open_debug = module_files_open_debug,
		.allow_check = module_files_allow_check,
		.fetch_debug = module_files_fetch_debug,
		.context = &store->naming,
	};
}

void file_store_code_source(struct file_store *store, struct file_source *ret)
{
	*ret = (struct file_source){
		.open_module = module_files_open,
		.open_debug = module_files_open_debug,
		.allow_check = module_files_allow_check,
		.context = &store->annotating,
	};
}

static void begin_unwinding(void *context)
{
	const struct file_user *user = context;

	file_reader_begin(user->reader);
	file_reader_begin(user->memory);
}

static int read_memory(void *context, uint32_t pid, struct owner_key owner, uint64_t address,
		       void *buf, size_t size_bytes, size_t *ret_bytes)
{
	const struct file_user *user = context;

	return file_reader_memory(user->memory, pid, owner, address, buf, size_bytes, ret_bytes);
}

/*
 * Read the text of /proc/PID/maps. A later request takes the answer of a process that holds the
 * lock of its maps.
 */
static int read_maps(const struct file_user *user, uint32_t pid, process_text *ret)
{
	struct process_maps *maps = user->store->runtime_maps;
	int err;

	process_maps_begin_turn(maps);
	err = process_maps_read(maps, pid, ret);
	return err == -EINPROGRESS ? -ETIMEDOUT : err;
}

static int shared_code(void *context, uint32_t pid, struct runtime_range *ret, size_t max,
		       size_t *ret_count)
{
	process_text text = {0};
	int err = read_maps(context, pid, &text);

	if (!err)
		*ret_count = shared_code_find(text.data, text.size, ret, max);
	vec_deinit(&text);
	return err;
}

static int code_ranges(void *context, uint32_t pid, uint64_t address,
		       struct runtime_code_range *ret, size_t max, size_t *ret_count)
{
	process_text text = {0};
	int err = read_maps(context, pid, &text);

	if (!err)
		*ret_count = code_ranges_find(text.data, text.size, address, ret, max);
	vec_deinit(&text);
	return err;
}

static void set_sources(struct file_user *user, struct file_source *ret_files,
			struct memory_source *ret_memory)
{
	*ret_files = (struct file_source){
		.open_module = module_files_open,
		.begin = begin_unwinding,
		.context = user,
	};
	*ret_memory = (struct memory_source){.read = read_memory, .context = user};
}

void file_store_unwind_sources(struct file_store *store, struct file_source *ret_files,
			       struct memory_source *ret_memory)
{
	set_sources(&store->unwinding, ret_files, ret_memory);
}

void file_store_runtime_sources(struct file_store *store, struct file_source *ret_files,
				struct memory_source *ret_memory)
{
	set_sources(&store->runtimes, ret_files, ret_memory);
	ret_memory->shared_code = shared_code;
	ret_memory->code_ranges = code_ranges;
}
