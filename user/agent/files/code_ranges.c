/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/files/code_ranges.h"

#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#include "decode/text/proc_maps.h"

#define ANON_PREFIX "[anon:" /* a name that the process gave to it */

/* Adjacent mappings. Their ranges are those from `first` on. */
struct run {
	uint64_t at;	     /* where the next mapping is adjacent */
	uint64_t start, end; /* of the current piece of anonymous memory; equal: none */
	size_t first;
	bool has_code;
};

struct finding {
	struct runtime_code_range *ranges;
	size_t count, max;
	struct run run;
};

static bool is_anonymous(const struct proc_map *map)
{
	return !map->inode && map->map_flags == MAP_PRIVATE &&
	       (!map->path_bytes || (map->path_bytes > strlen(ANON_PREFIX) &&
				     !memcmp(map->path, ANON_PREFIX, strlen(ANON_PREFIX))));
}

static bool is_file(const struct proc_map *map, const struct proc_map *file)
{
	return map->inode && map->inode == file->inode && map->dev_major == file->dev_major &&
	       map->dev_minor == file->dev_minor;
}

/* Returns true for a mapping of the file that is not where the loader has put that part of it. */
static bool is_copy(const struct proc_map *map, const struct proc_map *file)
{
	return map->protection & PROT_EXEC && is_file(map, file) &&
	       map->start - map->file_offset != file->start - file->file_offset;
}

static void add(struct finding *finding, struct runtime_code_range range)
{
	if (range.start < range.end && finding->count < finding->max)
		finding->ranges[finding->count++] = range;
}

static void end_piece(struct finding *finding)
{
	add(finding,
	    (struct runtime_code_range){finding->run.start, finding->run.end, RUNTIME_CODE_ANON});
	finding->run.start = finding->run.end = 0;
}

/* A run without code has no ranges but the copies of the file. */
static void end_run(struct finding *finding)
{
	size_t kept = finding->run.first;

	end_piece(finding);
	for (size_t i = finding->run.first; i < finding->count; i++) {
		if (finding->run.has_code || finding->ranges[i].file_offset != RUNTIME_CODE_ANON)
			finding->ranges[kept++] = finding->ranges[i];
	}
	finding->count = kept;
	finding->run = (struct run){.first = kept};
}

static void add_anonymous(struct finding *finding, const struct proc_map *map)
{
	struct run *run = &finding->run;
	bool is_data = map->protection && !(map->protection & PROT_EXEC);

	if (is_data && map->end - map->start > CODE_RANGE_DATA_MAX) {
		end_run(finding);
		return;
	}
	run->at = map->end;
	if (is_data)
		return;
	run->has_code |= !!(map->protection & PROT_EXEC);
	run->start = run->end ? run->start : map->start;
	run->end = map->end;
}

/* Find the mapping at an address. Returns false if there is none of a file. */
static bool find_file(const char *maps, size_t maps_bytes, uint64_t address, struct proc_map *ret)
{
	struct cursor text = cursor_of(maps, maps_bytes);
	int more;

	while ((more = proc_maps_next(&text, ret))) {
		if (more > 0 && address >= ret->start && address < ret->end)
			return ret->inode;
	}
	return false;
}

size_t code_ranges_find(const char *maps, size_t maps_bytes, uint64_t address,
			struct runtime_code_range *ret, size_t max)
{
	struct finding finding = {.ranges = ret, .max = max};
	struct cursor text = cursor_of(maps, maps_bytes);
	struct proc_map file, map;
	int more;

	if (!find_file(maps, maps_bytes, address, &file))
		return 0;
	while ((more = proc_maps_next(&text, &map))) {
		if (more < 0)
			continue;
		if (map.start != finding.run.at)
			end_run(&finding);
		if (is_anonymous(&map)) {
			add_anonymous(&finding, &map);
		} else if (is_copy(&map, &file)) {
			end_piece(&finding);
			add(&finding,
			    (struct runtime_code_range){map.start, map.end, map.file_offset});
			finding.run.at = map.end;
		} else {
			end_run(&finding);
		}
	}
	end_run(&finding);
	return finding.count;
}
