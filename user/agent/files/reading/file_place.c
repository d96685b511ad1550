/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/reading/file_place.h"

#include <string.h>

#include "base/hash.h"
#include "base/text.h"

#define DEBUG_FOLDER "/usr/lib/debug/"
#define TREE_DEPTH   2

struct path_part {
	const char *start;
	size_t length;
};

/* Returns the next component of a path other than "" and "."; length 0 at the end. */
static struct path_part next_part(const char **path)
{
	struct path_part part;

	do {
		*path += strspn(*path, "/");
		part = (struct path_part){.start = *path, .length = strcspn(*path, "/")};
		*path += part.length;
	} while (part.length == 1 && *part.start == '.');
	return part;
}

static bool climbs(struct path_part part)
{
	return part.length == 2 && !memcmp(part.start, "..", 2);
}

/*
 * Returns true if a path stays in the folder of debug files by its text. Links in the folder may
 * lead out of it, since root has made them.
 */
static bool is_in_debug_folder(const char *path)
{
	struct path_part part;
	int64_t depth = 0;

	if (!begins_with(path, DEBUG_FOLDER))
		return false;
	path += sizeof(DEBUG_FOLDER) - 1;
	while (depth >= 0 && (part = next_part(&path)).length)
		depth += climbs(part) ? -1 : 1;
	return depth >= 0;
}

static uint64_t tree_hash(const char *path)
{
	struct path_part part;
	uint64_t hash = 0;

	for (unsigned depth = 0; (part = next_part(&path)).length; depth++) {
		if (climbs(part))
			return 0; /* depends on links */
		if (depth < TREE_DEPTH)
			hash = hash_bytes(part.start, part.length, hash);
	}
	return hash;
}

struct file_place file_place_of_debug(uint32_t pid, const char *path, struct owner_key owner)
{
	uint64_t hash;

	if (pid || is_in_debug_folder(path))
		return file_place_of(FILE_PLACE_ROOT, pid, 0, owner);
	hash = tree_hash(path);
	return file_place_of(FILE_PLACE_TREE, (uint32_t)(hash >> 32), (uint32_t)hash, owner);
}

struct file_place file_place_of_user(struct file_place place, uint32_t uid, uint32_t gid)
{
	const uint32_t parts[] = {place.kind, place.a, place.b, uid, gid};
	uint64_t hash = hash_bytes(parts, sizeof(parts), 0);

	return file_place_of(FILE_PLACE_USER, (uint32_t)(hash >> 32), (uint32_t)hash, place.owner);
}
