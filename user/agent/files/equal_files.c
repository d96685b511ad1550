/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/equal_files.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A file system that is not direct can be served by a user, who then says who owns a file. */
static bool is_trusted(const struct kept_file *file)
{
	return file->found.direct && (!file->found.owner || file->found.owner == geteuid());
}

/* Processes of root are told apart by their cgroups: they may be in containers. */
static bool is_same_owner(struct owner_key a, struct owner_key b)
{
	return a.uid == b.uid && a.uid != OWNER_UNKNOWN_UID && (a.uid || a.cgroup == b.cgroup);
}

static bool may_describe(const struct kept_file *file, const struct equal_wanted *wanted)
{
	if (is_trusted(file))
		return true;
	for (uint32_t i = 0; i < wanted->owner_count; i++) {
		if (is_same_owner(file->finder, wanted->owners[i]))
			return true;
	}
	return false;
}

static bool is_wanted(const struct kept_file *file, const struct equal_wanted *wanted)
{
	return !memcmp(file->found.build_id, wanted->build_id, JITBPF_BUILD_ID_MAX) &&
	       (!wanted->version || file->found.version == wanted->version) &&
	       may_describe(file, wanted);
}

/* An index_map_equal_fn. */
static bool is_wanted_and_open(const void *items, uint32_t item, const void *wanted)
{
	const struct kept_file *file = (const struct kept_file *)items + item;

	return file->held != HELD_NONE && is_wanted(file, wanted);
}

/* An index_map_equal_fn. The file may have been deleted since it was found. */
static bool is_wanted_and_lasting(const void *items, uint32_t item, const void *wanted)
{
	const struct kept_file *file = (const struct kept_file *)items + item;

	return file->found.flags & FILE_IS_LASTING && is_wanted(file, wanted);
}

static struct kept_file *find(struct kept_files *files, const struct equal_wanted *wanted)
{
	uint64_t hash = kept_build_id_hash(wanted->build_id);
	uint32_t number = index_map_find(&files->build_ids, hash, is_wanted_and_open,
					 files->files.data, wanted);

	if (number == INDEX_MAP_NONE)
		number = index_map_find(&files->build_ids, hash, is_wanted_and_lasting,
					files->files.data, wanted);
	return number == INDEX_MAP_NONE ? NULL : &files->files.data[number];
}

bool equal_files_find(struct kept_files *files, const struct equal_wanted *wanted, uint64_t now_ns,
		      struct kept_file *ret, char ret_path[FILE_PATH_MAX])
{
	struct kept_file *file;

	pthread_mutex_lock(&files->lock);
	file = find(files, wanted);
	if (file) {
		file->seen_ns = now_ns;
		if (file->held != HELD_NONE)
			files->held.files.data[file->held].used_ns = now_ns;
		*ret = *file;
		snprintf(ret_path, FILE_PATH_MAX, "%s", file->key.path);
	}
	pthread_mutex_unlock(&files->lock);
	return file;
}
