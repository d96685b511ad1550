/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/machine/memory_limit.h"

#include <limits.h>
#include <mntent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scope.h"

#define MOUNT_LINE_MAX 8192

DEFINE_CLEANUP(FILE *, endmntent);

/* The hierarchy of cgroups that has limits of memory. */
struct hierarchy {
	bool unified; /* cgroup version 2 */
	char mount[PATH_MAX];
	char path[PATH_MAX]; /* of our cgroup, below the mount point; "/": the root */
};

/* A line is "NUMBER:CONTROLLERS:PATH"; version 2 has no controllers there. */
static bool has_memory(char *line, bool unified, const char **ret_path)
{
	char *controllers = strchr(line, ':'), *path, *rest = NULL;

	path = controllers ? strchr(++controllers, ':') : NULL;
	if (!path)
		return false;
	*path++ = '\0';
	path[strcspn(path, "\n")] = '\0';
	*ret_path = path;
	if (unified)
		return !*controllers;
	for (char *one = strtok_r(controllers, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
		if (!strcmp(one, "memory"))
			return true;
	}
	return false;
}

static bool find_path(const char *root, struct hierarchy *hierarchy)
{
	char line[PATH_MAX + 256];
	AUTO_FCLOSE FILE *file = NULL;
	const char *path;

	snprintf(line, sizeof(line), "%s/proc/self/cgroup", root);
	file = fopen(line, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (!has_memory(line, hierarchy->unified, &path))
			continue;
		snprintf(hierarchy->path, sizeof(hierarchy->path), "%s", path);
		return true;
	}
	return false;
}

static bool find_mount(const char *root, struct hierarchy *hierarchy)
{
	CLEANUP(endmntentp) FILE *mounts = NULL;
	char text[MOUNT_LINE_MAX], path[PATH_MAX];
	struct mntent mount;

	snprintf(path, sizeof(path), "%s/proc/self/mounts", root);
	mounts = setmntent(path, "re");
	while (mounts && getmntent_r(mounts, &mount, text, sizeof(text))) {
		if (strcmp(mount.mnt_type, hierarchy->unified ? "cgroup2" : "cgroup") ||
		    (!hierarchy->unified && !hasmntopt(&mount, "memory")))
			continue;
		snprintf(hierarchy->mount, sizeof(hierarchy->mount), "%s%s", root, mount.mnt_dir);
		return true;
	}
	return false;
}

static uint64_t read_limit(const struct hierarchy *hierarchy, const char *path)
{
	char name[2 * PATH_MAX + 32];
	AUTO_FCLOSE FILE *file = NULL;
	unsigned long long bytes;

	snprintf(name, sizeof(name), "%s%s/%s", hierarchy->mount, path,
		 hierarchy->unified ? "memory.max" : "memory.limit_in_bytes");
	file = fopen(name, "re");
	return file && fscanf(file, "%llu", &bytes) == 1 ? bytes : UINT64_MAX;
}

/* In a container, the path may be one of the machine, while the mount point is our cgroup itself.
 */
static uint64_t limit_in(const char *root, bool unified)
{
	struct hierarchy hierarchy = {.unified = unified};
	uint64_t least = UINT64_MAX;
	char *end = hierarchy.path;

	if (!find_path(root, &hierarchy) || !find_mount(root, &hierarchy))
		return least;
	while (end) {
		uint64_t bytes = read_limit(&hierarchy, hierarchy.path);

		least = bytes < least ? bytes : least;
		end = strrchr(hierarchy.path, '/');
		if (end)
			*end = '\0';
	}
	return least;
}

uint64_t memory_limit_bytes(const char *root)
{
	uint64_t least = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);

	for (int unified = 0; unified < 2; unified++) {
		uint64_t bytes = limit_in(root, unified);

		least = bytes < least ? bytes : least;
	}
	return least;
}

uint64_t memory_free_bytes(const char *root)
{
	uint64_t limit = memory_limit_bytes(root);
	unsigned long long kilobytes;
	AUTO_FCLOSE FILE *file = NULL;
	char line[128], path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/proc/meminfo", root);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "MemAvailable: %llu kB", &kilobytes) == 1)
			return kilobytes < limit >> 10 ? kilobytes << 10 : limit;
	}
	return limit;
}
