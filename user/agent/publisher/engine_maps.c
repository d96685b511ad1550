/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/engine_maps.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agent/jvm/jvm_evidence.h"
#include "agent/publisher/jitdump_file.h"
#include "agent/publisher/shim_copies.h"
#include "base/hash.h"
#include "base/path.h"
#include "base/scope.h"
#include "base/search.h"
#include "base/text.h"
#include "decode/text/proc_maps.h"

#define ENGINE_JITDUMPS_MAX 16 /* of a process */

void engine_maps_deinit(struct engine_maps *maps)
{
	vec_deinit(&maps->files);
	vec_deinit(&maps->jitdumps);
	index_map_deinit(&maps->index);
}

/* Returns true for memory that engines put code into: anonymous, private or shared. */
static bool is_generated(const struct proc_map *map)
{
	static const char *const memory[] = {"[anon",	"[heap]", "[stack]",
					     "/memfd:", "/SYSV",  "/dev/zero"};

	for (size_t i = 0; i < ARRAY_SIZE(memory); i++) {
		if (bytes_begin_with(map->path, map->path_bytes, memory[i]))
			return true;
	}
	return !map->path_bytes;
}

/* Returns true for a program that was started from a memfd; it counts as a file. */
static bool is_program(uint32_t pid, const struct proc_map *map)
{
	char path[64], link[PATH_MAX];
	ssize_t length;

	snprintf(path, sizeof(path), "/proc/%u/exe", pid);
	length = readlink(path, link, sizeof(link));
	return map->path_bytes && length >= (ssize_t)map->path_bytes &&
	       !memcmp(link, map->path, map->path_bytes);
}

static bool is_same(const void *items, uint32_t item, const void *key)
{
	const struct engine_mapping *a = (const struct engine_mapping *)items + item, *b = key;

	return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor;
}

static int add_jitdump(struct engine_maps *maps, uint32_t number, const char *path,
		       struct string_pool *strings)
{
	struct engine_jitdump dump = {.mapping = number};
	int err;

	if (maps->files.data[number].first != number || maps->jitdumps.size >= ENGINE_JITDUMPS_MAX)
		return 0;
	err = string_pool_add(strings, path, strlen(path), &dump.path);
	return err ?: vec_push(&maps->jitdumps, dump);
}

static int add_file(struct engine_maps *maps, const struct proc_map *map, uint32_t inner_pid,
		    struct string_pool *strings)
{
	struct engine_mapping file = {
		.start = map->start,
		.end = map->end,
		.inode = map->inode,
		.dev_major = map->dev_major,
		.dev_minor = map->dev_minor,
	};
	uint64_t hash = hash_mix(file.inode, (uint64_t)file.dev_major << 32 | file.dev_minor);
	struct engine_file known;
	char path[PATH_MAX];
	const char *name;
	uint32_t number, dump_pid;
	int err;

	proc_map_path(map, path, sizeof(path));
	known = engine_file_of(path);
	process_runtimes_map(&maps->runtimes, &known, 0);
	name = path_file(path);
	if (jvm_is_agent(name))
		maps->jvm_agent = true;
	else
		maps->shim |= shim_has_name(path);
	err = string_pool_add(strings, name, strlen(name), &file.name);
	if (err)
		return err;
	number = (uint32_t)maps->files.size;
	file.first = index_map_find(&maps->index, hash, is_same, maps->files.data, &file);
	if (file.first == INDEX_MAP_NONE) {
		file.first = number;
		err = index_map_insert(&maps->index, hash, number);
	}
	err = err ?: vec_push(&maps->files, file);
	if (!err && jitdump_file_has_name(path, &dump_pid) && dump_pid == inner_pid)
		err = add_jitdump(maps, number, path, strings);
	return err;
}

int engine_maps_read(struct process_maps *reader, process_text *text, uint32_t pid,
		     uint32_t inner_pid, struct string_pool *strings, struct engine_maps *ret)
{
	CLEANUP(engine_maps_deinit) struct engine_maps maps = {0};
	int err = process_maps_read(reader, pid, text), more;
	struct proc_map map;
	struct cursor lines;

	if (err)
		return err;
	lines = cursor_of(text->data, text->size);
	while ((more = proc_maps_next(&lines, &map))) {
		if (more < 0 || !(map.protection & PROT_EXEC))
			continue;
		if (is_generated(&map) && !is_program(pid, &map))
			maps.generated_bytes += map.end - map.start;
		else if (map.inode)
			err = add_file(&maps, &map, inner_pid, strings);
		if (err)
			return err;
	}
	*ret = maps;
	maps = (struct engine_maps){0};
	return 0;
}

uint32_t engine_maps_file_at(const struct engine_maps *maps, uint64_t address)
{
	const struct engine_mapping *files = maps->files.data;
	size_t at = partition_point(0, maps->files.size, i, files[i].end <= address);

	return at < maps->files.size && files[at].start <= address ? files[at].first : UINT32_MAX;
}
