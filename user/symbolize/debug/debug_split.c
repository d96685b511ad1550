/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_split.h"

#include <stdio.h>
#include <string.h>

#include "base/path.h"

#define SPLIT_PATH_MAX 4096

void debug_split_destroy(struct debug_split *split)
{
	if (!split)
		return;
	dwarf_file_deinit(&split->file);
	blob_close(&split->blob);
	free(split);
}

int debug_splits_init(struct debug_splits *ret, const struct file_source *source,
		      const struct module *module, const char *path, struct section_budget *budget)
{
	char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	*ret = (struct debug_splits){
		.source = *source, .module = module, .path = copy, .budget = budget};
	return 0;
}

void debug_splits_deinit(struct debug_splits *splits)
{
	debug_split_destroy(splits->package);
	free(splits->path);
	*splits = (struct debug_splits){0};
}

static int split_open(struct debug_splits *splits, struct dwarf_file *skeletons, const char *path,
		      bool ours, struct debug_split **ret)
{
	CLEANUP(debug_split_destroyp) struct debug_split *split = calloc(1, sizeof(*split));
	CLEANUP(elf_file_deinit) struct elf_file elf = {0};
	int err;

	if (!split)
		return -ENOMEM;
	err = splits->source.open_debug(splits->source.context, splits->module, path, ours,
					&split->blob);
	err = err ?: elf_file_init_any(&elf, &split->blob);
	err = err ?: dwarf_file_init(&split->file, &elf, splits->budget, skeletons);
	if (err)
		return err;
	*ret = TAKE_PTR(split);
	return 0;
}

/* Find the unit in the file at path, in the process's mount namespace or in our own. */
static int find_at(struct debug_splits *splits, struct dwarf_file *file,
		   const struct dwarf_unit *skeleton, const char *path, struct debug_split **ret,
		   struct dwarf_unit *ret_unit)
{
	for (int ours = 0; ours < 2; ours++) {
		CLEANUP(debug_split_destroyp) struct debug_split *split = NULL;
		int err = split_open(splits, file, path, ours, &split);

		err = err ?: dwarf_split_find(&split->file, skeleton, ret_unit);
		if (err == -ENOMEM)
			return err;
		if (err)
			continue;
		*ret = TAKE_PTR(split);
		return 0;
	}
	return -ENOENT;
}

/*
 * Find the unit in a package beside the debug file or the module. A package is
 * accepted only if it contains the unit.
 */
static int find_in_package(struct debug_splits *splits, struct dwarf_file *file,
			   const struct dwarf_unit *skeleton, struct dwarf_unit *ret)
{
	const char *const beside[] = {splits->path, splits->module->path};
	char path[SPLIT_PATH_MAX];
	int err = -ENOENT;

	if (splits->package)
		return dwarf_split_find(&splits->package->file, skeleton, ret);
	if (splits->package_sought)
		return -ENOENT;
	splits->package_sought = true;
	for (unsigned i = 0; i < ARRAY_SIZE(beside) && err == -ENOENT; i++) {
		if (*beside[i] == '/' &&
		    snprintf(path, sizeof(path), "%s.dwp", beside[i]) < (int)sizeof(path))
			err = find_at(splits, file, skeleton, path, &splits->package, ret);
	}
	return err;
}

/* Returns the string of a value, borrowed from file until its next string; "" if none. */
static const char *string_of(struct dwarf_file *file, const struct dwarf_unit *unit,
			     struct dwarf_value value)
{
	const char *s;

	return dwarf_string(file, unit, value, &s) ? "" : s;
}

/* Find the unit in the file `name` of a directory. */
static int find_in_folder(struct debug_splits *splits, struct dwarf_file *file,
			  const struct dwarf_unit *skeleton, const char *folder, int folder_bytes,
			  const char *name, struct debug_split **ret_split, struct dwarf_unit *ret)
{
	char path[SPLIT_PATH_MAX];
	int length = snprintf(path, sizeof(path), "%.*s/%s", folder_bytes, folder, name);

	if (length >= (int)sizeof(path) || *path != '/')
		return -ENOENT;
	return find_at(splits, file, skeleton, path, ret_split, ret);
}

/*
 * Find the unit in a .dwo file: at the path where the compiler wrote it, and,
 * since builds are moved, by its path and its name in the directory of the
 * skeleton file.
 */
static int find_in_file(struct debug_splits *splits, struct dwarf_file *file,
			const struct dwarf_unit *skeleton, struct debug_split **ret_split,
			struct dwarf_unit *ret)
{
	int folder_bytes = path_folder_bytes(splits->path);
	const char *folder = "";
	AUTO_FREE char *name = strdup(string_of(file, skeleton, skeleton->dwo_name));
	int err;

	if (!name || !*name)
		return name ? -ENOENT : -ENOMEM;
	if (*name != '/')
		folder = string_of(file, skeleton, skeleton->comp_dir);
	err = find_in_folder(splits, file, skeleton, folder, (int)strlen(folder),
			     *name == '/' ? name + 1 : name, ret_split, ret);
	if (err == -ENOENT)
		err = find_in_folder(splits, file, skeleton, splits->path, folder_bytes, name,
				     ret_split, ret);
	if (err == -ENOENT && strchr(name, '/'))
		err = find_in_folder(splits, file, skeleton, splits->path, folder_bytes,
				     path_file(name), ret_split, ret);
	return err;
}

int debug_splits_find(struct debug_splits *splits, struct dwarf_file *file,
		      const struct dwarf_unit *skeleton, struct debug_split **ret_split,
		      struct dwarf_file **ret_file, struct dwarf_unit *ret)
{
	struct debug_split *split = NULL;
	int err;

	if (!splits->source.open_debug)
		return -ENOENT;
	err = find_in_package(splits, file, skeleton, ret);
	if (err && err != -ENOMEM) {
		err = find_in_file(splits, file, skeleton, &split, ret);
		err = err && err != -ENOMEM ? -ENOENT : err;
	}
	splits->missing += err == -ENOENT;
	if (err)
		return err;
	*ret_file = split ? &split->file : &splits->package->file;
	*ret_split = split;
	return 0;
}
