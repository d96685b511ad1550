/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_index.h"

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"
#include "decode/dwarf/dwarf_aranges.h"
#include "decode/dwarf/dwarf_constants.h"
#include "decode/dwarf/dwarf_ranges.h"

#define OVERLAPS_MAX 16 /* limit of ranges before an address that a look-up checks */
#define GAP_MAX	     16 /* padding between functions of one unit, in bytes */

struct build {
	struct debug_index *index;
	struct dwarf_file *file;
	uint64_t ranges_left;
	struct dwarf_ranges ranges; /* of the current unit */
};

static void build_deinit(struct build *build)
{
	vec_deinit(&build->ranges.ranges);
}

static int add_ranges(struct build *build, struct dwarf_unit *unit, uint32_t number)
{
	int err;

	if (unit->type == DWARF_UNIT_TYPE || unit->type == DWARF_UNIT_SPLIT_TYPE)
		return 0;
	build->ranges.ranges.size = 0;
	err = dwarf_unit_root(build->file, unit);
	err = err
		      ?: dwarf_ranges_read(build->file, unit, unit->low_pc, unit->high_pc,
					   unit->ranges, &build->ranges_left, &build->ranges);
	if (err == -ENOMEM)
		return err;
	vec_for_each (range, &build->ranges.ranges) {
		struct debug_index_range added = {range->start, range->end, number};

		if (range->start >= build->index->text_start &&
		    vec_push(&build->index->ranges, added))
			return -ENOMEM;
	}
	return 0;
}

static int add_units(struct build *build)
{
	uint64_t size_bytes = build->file->sections[DWARF_INFO].size_bytes;
	struct dwarf_unit unit = {0};
	uint32_t number;
	int err;

	for (uint64_t offset = 0; offset < size_bytes; offset = unit.end) {
		struct debug_index_unit added = {.offset = offset};

		err = dwarf_unit_read(build->file, offset, &unit);
		/* unsupported version: continue after it */
		if (err == -ENOTSUP)
			continue;
		if (err)
			return err == -ENOMEM ? err : 0;
		number = (uint32_t)build->index->units.size;
		if (number >= DEBUG_INDEX_UNITS_MAX)
			return 0;
		added.end = unit.end;
		err = vec_push(&build->index->units, added);
		err = err ?: add_ranges(build, &unit, number);
		if (err)
			return err;
	}
	return 0;
}

/* Sort the ranges, and join adjacent ones of one unit. */
static int settle_ranges(struct debug_index *index)
{
	size_t count = index->ranges.size, kept = 0;
	AUTO_FREE struct sort_key *keys = calloc(count ? count : 1, sizeof(*keys));
	AUTO_FREE struct debug_index_range *sorted = calloc(count ? count : 1, sizeof(*sorted));
	int err;

	if (!keys || !sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){.key = index->ranges.data[i].start, .item = i};
	err = sort_keys(keys, count);
	if (err)
		return err;
	for (size_t i = 0; i < count; i++) {
		struct debug_index_range range = index->ranges.data[keys[i].item];
		struct debug_index_range *last = kept ? &sorted[kept - 1] : NULL;

		if (last && last->unit == range.unit && range.start >= last->end &&
		    range.start - last->end < GAP_MAX)
			last->end = range.end;
		else
			sorted[kept++] = range;
	}
	vec_deinit(&index->ranges);
	if (vec_reserve(&index->ranges, kept))
		return -ENOMEM;
	for (size_t i = 0; i < kept; i++)
		index->ranges.data[i] = sorted[i];
	index->ranges.size = kept;
	return 0;
}

/*
 * Move a loaded unit of the old index to the new one, by its offset. A unit that the new index
 * lacks may be in use, so it is kept behind all other units.
 */
static int keep_loaded(struct debug_index *index, const struct debug_index_unit *loaded)
{
	struct debug_index_unit *units = index->units.data, stray = *loaded;
	size_t at = partition_point(0, index->units.size, i, units[i].offset < loaded->offset);

	if (at < index->units.size && units[at].offset == loaded->offset) {
		units[at].unit = loaded->unit;
		units[at].used = loaded->used;
		return 0;
	}
	stray.offset = stray.end = UINT64_MAX;
	return vec_push(&index->units, stray);
}

int debug_index_complete(struct debug_index *index, struct dwarf_file *file)
{
	CLEANUP(debug_index_deinit)
	struct debug_index all = {.text_start = index->text_start, .complete = true};
	CLEANUP(build_deinit)
	struct build build = {
		.index = &all,
		.file = file,
		.ranges_left = DEBUG_INDEX_RANGES_MAX,
	};
	struct debug_index before;
	int err = add_units(&build);

	err = err ?: settle_ranges(&all);
	vec_for_each (unit, &index->units) {
		if (unit->unit)
			err = err ?: keep_loaded(&all, unit);
	}
	if (err)
		return err;
	before = *index;
	*index = all;
	all = before;
	return 0;
}

/* Add the units of .debug_aranges, whose offsets are in ascending order. */
static int add_aranges(struct debug_index *index, const dwarf_aranges *aranges)
{
	vec_for_each (arange, aranges) {
		struct debug_index_unit unit = {.offset = arange->unit};
		struct debug_index_range range = {arange->start, arange->end, 0};
		size_t count = index->units.size;

		if (!count || index->units.data[count - 1].offset != unit.offset) {
			if (count >= DEBUG_INDEX_UNITS_MAX)
				return -E2BIG;
			if (vec_push(&index->units, unit))
				return -ENOMEM;
		}
		range.unit = (uint32_t)index->units.size - 1;
		if (range.start >= index->text_start && vec_push(&index->ranges, range))
			return -ENOMEM;
	}
	return 0;
}

int debug_index_init(struct debug_index *ret, struct dwarf_file *file, uint64_t text_start)
{
	CLEANUP(debug_index_deinit) struct debug_index index = {.text_start = text_start};
	dwarf_aranges aranges = {0};
	int err = dwarf_aranges_read(file, DEBUG_INDEX_RANGES_MAX, &aranges);

	err = err ?: add_aranges(&index, &aranges);
	err = err ?: settle_ranges(&index);
	vec_deinit(&aranges);
	if (err == -ENOMEM)
		return err;
	if (err) {
		debug_index_deinit(&index);
		index = (struct debug_index){.text_start = text_start};
		err = debug_index_complete(&index, file);
	}
	if (err)
		return err;
	*ret = index;
	index = (struct debug_index){0};
	return 0;
}

void debug_index_deinit(struct debug_index *index)
{
	vec_deinit(&index->units);
	vec_deinit(&index->ranges);
}

struct debug_index_unit *debug_index_find(struct debug_index *index, uint64_t address,
					  uint32_t number)
{
	const struct debug_index_range *ranges = index->ranges.data;
	size_t after = partition_point(0, index->ranges.size, i, ranges[i].start <= address);

	for (size_t i = after; i > 0 && after - i < OVERLAPS_MAX; i--) {
		if (address < ranges[i - 1].end && !number--)
			return &index->units.data[ranges[i - 1].unit];
	}
	return NULL;
}

struct debug_index_unit *debug_index_at(struct debug_index *index, uint64_t offset)
{
	struct debug_index_unit *units = index->units.data;
	size_t after = partition_point(0, index->units.size, i, units[i].offset <= offset);

	return after && offset < units[after - 1].end ? &units[after - 1] : NULL;
}

size_t debug_index_bytes(const struct debug_index *index)
{
	return index->units.capacity * sizeof(*index->units.data) +
	       index->ranges.capacity * sizeof(*index->ranges.data);
}
