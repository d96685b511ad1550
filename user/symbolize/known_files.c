/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/known_files.h"

#include <errno.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/scope.h"
#include "decode/elf/section_reader.h"

void known_files_init(struct known_files *files, const struct file_source *source,
		      uint64_t symbol_bytes_max)
{
	*files = (struct known_files){
		.source = *source,
		.sweep_at = KNOWN_FILES_SWEEP,
		.symbol_bytes_max = symbol_bytes_max,
		.debug_bytes_max = DEBUG_INFO_BYTES_MAX,
	};
}

static void deinit(struct known_file *file)
{
	symbol_file_destroy(file->symbols);
	debug_info_destroy(file->debug);
	module_release(file->module);
}

void known_files_deinit(struct known_files *files)
{
	vec_for_each (file, &files->files)
		deinit(file);
	vec_deinit(&files->files);
	index_map_deinit(&files->index);
}

static uint64_t hash_of(const struct module *module)
{
	return hash_mix(module->number, 0);
}

static bool is_same_module(const void *files, uint32_t item, const void *key)
{
	return ((const struct known_file *)files)[item].module ==
	       ((const struct known_file *)key)->module;
}

/* Remove a file from the memory budgets. */
static void discharge(struct known_files *files, const struct known_file *file)
{
	files->symbol_bytes -= file->symbol_bytes;
	files->debug_bytes -= file->debug_bytes;
	files->symbol_open -= file->symbols && symbol_file_open(file->symbols);
	files->debug_open -= !!file->debug;
}

/*
 * Remove the files whose modules have no other holder: no location can refer to these files any
 * more.
 */
static void remove_unused(struct known_files *files)
{
	size_t kept = 0;

	vec_for_each (file, &files->files) {
		uint32_t number = (uint32_t)(file - files->files.data);

		index_map_remove(&files->index, hash_of(file->module), number);
		if (module_is_last(file->module)) {
			discharge(files, file);
			deinit(file);
			continue;
		}
		/* Cannot fail: the removal above has made room. */
		(void)index_map_insert(&files->index, hash_of(file->module), (uint32_t)kept);
		files->files.data[kept++] = *file;
	}
	files->files.size = kept;
	files->sweep_at = 2 * kept > KNOWN_FILES_SWEEP ? 2 * kept : KNOWN_FILES_SWEEP;
}

void known_files_forget(struct known_files *files, const struct module *module)
{
	struct known_file key = {.module = module}, *file, *last;
	uint32_t item = index_map_find(&files->index, hash_of(module), is_same_module,
				       files->files.data, &key);

	if (item == INDEX_MAP_NONE)
		return;
	file = &files->files.data[item];
	last = &files->files.data[files->files.size - 1];
	index_map_remove(&files->index, hash_of(module), item);
	discharge(files, file);
	deinit(file);
	if (file != last) {
		index_map_remove(&files->index, hash_of(last->module),
				 (uint32_t)files->files.size - 1);
		*file = *last;
		/* Cannot fail: the removals have made room. */
		(void)index_map_insert(&files->index, hash_of(file->module), item);
	}
	files->files.size--;
}

/* Find or add the file of a module. Borrowed until the next file is added. */
static int file_of_module(struct known_files *files, const struct module *module,
			  struct known_file **ret)
{
	struct known_file key = {.module = module};
	uint32_t item;
	int added;

	if (files->files.size >= files->sweep_at)
		remove_unused(files);
	added = vec_intern(&files->files, &files->index, hash_of(module), is_same_module, &key,
			   &item);
	if (added < 0)
		return added;
	if (added)
		module_hold(module);
	files->counts.files += added;
	*ret = &files->files.data[item];
	return 0;
}

static void free_symbols(struct known_files *files, struct known_file *file)
{
	files->symbol_bytes -= file->symbol_bytes;
	files->symbol_open -= symbol_file_open(file->symbols);
	symbol_file_destroy(file->symbols);
	file->symbols = NULL;
	file->symbol_bytes = 0;
}

static void drop_debug(struct known_files *files, struct known_file *file)
{
	files->debug_bytes -= file->debug_bytes;
	files->debug_open--;
	debug_info_destroy(file->debug);
	file->debug = NULL;
	file->debug_bytes = 0;
	file->debug_cached = false;
	file->splits_missing = 0;
	files->counts.debug_dropped++;
}

static void make_room_of_symbols(struct known_files *files, const struct known_file *but)
{
	while (files->symbol_bytes > files->symbol_bytes_max ||
	       files->symbol_open > SYMBOL_OPEN_MAX) {
		struct known_file *oldest = NULL;

		vec_for_each (file, &files->files) {
			if (file->symbols && file != but && (!oldest || file->used < oldest->used))
				oldest = file;
		}
		if (!oldest)
			return;
		free_symbols(files, oldest);
		files->counts.dropped++;
	}
}

static void drop_debug_cache(struct known_files *files, struct known_file *file)
{
	debug_info_drop_cache(file->debug);
	file->debug_cached = false;
	files->debug_bytes -= file->debug_bytes;
	file->debug_bytes = debug_info_bytes(file->debug);
	files->debug_bytes += file->debug_bytes;
}

/*
 * Returns the age for eviction, in uses. Parsed data cost work, so they count as used
 * DEBUG_WORTH_USES look-ups later than caches.
 */
static uint64_t debug_age(const struct known_file *file)
{
	return file->debug_cached ? file->used : file->used + DEBUG_WORTH_USES;
}

static struct known_file *oldest_debug(struct known_files *files, const struct known_file *but)
{
	struct known_file *oldest = NULL;

	vec_for_each (file, &files->files) {
		if (file->debug && file != but && (!oldest || debug_age(file) < debug_age(oldest)))
			oldest = file;
	}
	return oldest;
}

static void make_room_of_debug(struct known_files *files, const struct known_file *but)
{
	struct known_file *oldest;

	while ((files->debug_bytes > files->debug_bytes_max ||
		files->debug_open > DEBUG_INFO_OPEN_MAX) &&
	       (oldest = oldest_debug(files, but))) {
		if (oldest->debug_cached)
			drop_debug_cache(files, oldest);
		else
			drop_debug(files, oldest);
	}
}

static void settle_symbols(struct known_files *files, struct known_file *file)
{
	files->symbol_bytes -= file->symbol_bytes;
	file->symbol_bytes = symbol_file_bytes(file->symbols);
	files->symbol_bytes += file->symbol_bytes;
	make_room_of_symbols(files, file);
}

static void settle_debug(struct known_files *files, struct known_file *file)
{
	files->debug_bytes -= file->debug_bytes;
	file->debug_bytes = debug_info_bytes(file->debug);
	file->debug_cached = true;
	files->debug_bytes += file->debug_bytes;
	files->counts.splits_missing +=
		debug_info_splits_missing(file->debug) - file->splits_missing;
	file->splits_missing = debug_info_splits_missing(file->debug);
	if (debug_info_exhausted(file->debug) && !file->debug_exhausted) {
		file->debug_exhausted = true;
		files->counts.debug_refused++;
	}
	make_room_of_debug(files, file);
}

void known_files_settle(struct known_files *files, struct known_file *file)
{
	if (file->symbols)
		settle_symbols(files, file);
	if (file->debug)
		settle_debug(files, file);
}

void known_files_set_budget(struct known_files *files, uint64_t symbol_bytes_max)
{
	files->symbol_bytes_max = symbol_bytes_max;
	files->debug_bytes_max = symbol_bytes_max < DEBUG_INFO_BYTES_MAX / 2 ? 2 * symbol_bytes_max
									     : DEBUG_INFO_BYTES_MAX;
	if (files->debug_bytes_max < DEBUG_INFO_BYTES_MIN)
		files->debug_bytes_max = DEBUG_INFO_BYTES_MIN;
	make_room_of_symbols(files, NULL);
	make_room_of_debug(files, NULL);
}

static bool has_debug_info(const struct blob *blob)
{
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	bool legacy;

	return !elf_file_init_any(&elf, blob) && section_find(&elf, ".debug_info", &legacy);
}

static int read_symbols(struct known_files *files, struct known_file *file, struct blob *blob,
			struct blob *debug)
{
	int err = symbol_file_create(blob, debug, &file->symbols);

	if (err) {
		file->failed = err != -ENOMEM;
		files->counts.refused += file->failed;
		return err;
	}
	if (!file->counted && !symbol_file_count(file->symbols))
		files->counts.without_names++;
	file->counted = true;
	files->symbol_open += symbol_file_open(file->symbols);
	settle_symbols(files, file);
	return 0;
}

/* Open dwz's common file. Without it, some names are missing, which is no error. */
static int read_alternate(struct known_files *files, const struct module *module,
			  const struct debug_search *found, struct debug_info **ret)
{
	struct blob blob = {0};
	int err;

	err = debug_search_alternate(&files->source, module, &found->blob, found->path, &blob);
	err = err ?: debug_info_create(&blob, 1, ret);
	return err == -ENOMEM ? err : 0;
}

/* Open the debug info of a file. Takes over the blob of found. */
static int read_debug(struct known_files *files, const struct module *module,
		      struct known_file *file, struct debug_search *found)
{
	CLEANUP(debug_info_destroyp) struct debug_info *alternate = NULL;
	bool again = file->used;
	int err;

	err = read_alternate(files, module, found, &alternate);
	if (err)
		return err;
	err = debug_info_create(&found->blob, symbol_file_text_start(file->symbols), &file->debug);
	if (err) {
		file->without_debug = err != -ENOMEM;
		files->counts.debug_refused += err != -ENOMEM && err != -ENOENT;
		return err == -ENOMEM ? err : 0;
	}
	debug_info_set_alternate(file->debug, TAKE_PTR(alternate));
	err = debug_info_set_splits(file->debug, &files->source, module, found->path);
	if (err) {
		debug_info_destroy(TAKE_PTR(file->debug));
		return err;
	}
	files->counts.with_debug += !again;
	files->debug_open++;
	return 0;
}

/* Count a file whose debug file may not be checked now, as long as that is so. */
static void note_search(struct known_files *files, struct known_file *file, bool postponed)
{
	files->counts.postponed += postponed;
	files->counts.debug_refused += postponed;
	files->counts.debug_refused -= file->unchecked;
	file->unchecked = postponed;
}

/* Read the parts of a file that are not in memory. */
static int file_read(struct known_files *files, const struct module *module,
		     struct known_file *file)
{
	CLEANUP(debug_search_deinit) struct debug_search found = {.blob = {0}};
	CLEANUP(blob_close) struct blob blob = {0};
	int err;

	err = files->source.open_module(files->source.context, module, &blob);
	if (err) {
		/* A file system that is slow now may answer a later request. */
		file->failed = err != -ENOMEM && err != -ETIMEDOUT;
		files->counts.postponed += err == -ETIMEDOUT;
		files->counts.without_file += err != -ENOMEM && !file->missed;
		file->missed |= err != -ENOMEM;
		return err;
	}
	if (!has_debug_info(&blob)) {
		err = debug_search_file(&files->source, module, &blob, &found);
		if (err == -ENOMEM)
			return err;
		/* Its symbols may be in the debug file that could not be checked before. */
		if (!err && file->unchecked && file->symbols)
			free_symbols(files, file);
		note_search(files, file, err && found.postponed);
		file->without_debug = err && !found.postponed;
	}
	if (!file->symbols)
		err = read_symbols(files, file, &blob, found.blob.read ? &found.blob : NULL);
	else
		err = 0;
	if (err || file->debug || file->without_debug || file->unchecked)
		return err;
	if (!found.blob.read) {
		found.blob = blob;
		blob = (struct blob){0};
		snprintf(found.path, sizeof(found.path), "%s", module->path);
	}
	return read_debug(files, module, file, &found);
}

int known_files_get(struct known_files *files, const struct module *module, struct known_file **ret)
{
	struct known_file *file;
	int err = file_of_module(files, module, &file);

	if (err)
		return err;
	if (!file->failed && (!file->symbols || (!file->debug && !file->without_debug)) &&
	    file_read(files, module, file) == -ENOMEM)
		return -ENOMEM;
	file->used = ++files->uses;
	*ret = file;
	return 0;
}
