/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/late_files.h"

#include <stdlib.h>
#include <string.h>

struct told_file told_file_of(const struct jitbpf_mapping *mapping)
{
	struct told_file told = {
		.generation = mapping->inode_generation,
		.build_id_bytes = mapping->build_id_bytes,
	};

	memcpy(told.build_id, mapping->build_id, sizeof(told.build_id));
	return told;
}

void told_file_restore(struct jitbpf_mapping *mapping, const struct told_file *told)
{
	mapping->inode_generation = told->generation;
	mapping->build_id_bytes = told->build_id_bytes;
	memcpy(mapping->build_id, told->build_id, sizeof(told->build_id));
}

void late_files_init(struct late_files *files)
{
	*files = (struct late_files){.budget.limit = LATE_FILES_MAX};
}

void late_files_deinit(struct late_files *files)
{
	vec_for_each (file, &files->files)
		free(file->mapping);
	vec_deinit(&files->files);
	owner_budget_deinit(&files->budget);
}

/* Charge a mapping, which is taken over, to an owner, and append it. */
static void append(struct late_files *files, struct jitbpf_mapping *mapping, struct owner_key key)
{
	struct late_file file = {.mapping = mapping};

	if (vec_reserve(&files->files, files->files.size + 1) ||
	    owner_budget_get(&files->budget, key, &file.owner)) {
		free(mapping);
		return;
	}
	if (owner_budget_charge(&files->budget, file.owner, 1)) {
		owner_budget_put(&files->budget, file.owner);
		free(mapping);
		return;
	}
	files->files.data[files->files.size++] = file;
}

void late_files_add(struct late_files *files, const struct jitbpf_mapping *mapping,
		    const struct told_file *told, struct owner_key owner, uint64_t now_ns)
{
	struct jitbpf_mapping *copy = malloc(mapping->h.size_bytes);

	if (!copy)
		return;
	memcpy(copy, mapping, mapping->h.size_bytes);
	copy->h.time_ns = now_ns;
	told_file_restore(copy, told);
	append(files, copy, owner);
}

bool late_files_take(struct late_files *files, struct late_file *ret)
{
	if (!files->files.size)
		return false;
	*ret = files->files.data[0];
	files->files.size--;
	memmove(files->files.data, files->files.data + 1,
		files->files.size * sizeof(*files->files.data));
	return true;
}

void late_files_put_back(struct late_files *files, struct late_file file, uint64_t now_ns)
{
	if (now_ns - file.mapping->h.time_ns < LATE_FILES_NS)
		files->files.data[files->files.size++] = file; /* the room that it had */
	else
		free(late_files_drop(files, file));
}

struct jitbpf_mapping *late_files_drop(struct late_files *files, struct late_file file)
{
	owner_budget_release(&files->budget, file.owner, 1);
	owner_budget_put(&files->budget, file.owner);
	return file.mapping;
}
