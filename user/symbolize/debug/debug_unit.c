/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_unit.h"

#include "base/scope.h"
#include "base/search.h"
#include "base/sort_keys.h"
#include "decode/dwarf/dwarf_constants.h"
#include "symbolize/debug/die_nesting.h"

#define OVERLAPS_MAX 16 /* limit of functions before an address that a look-up checks */

DEFINE_CLEANUP(struct debug_unit *, debug_unit_destroy);

/* Find the DIEs: in the split unit if it can be found, else with the skeleton. */
static int find_dies(struct debug_unit *unit, struct debug_splits *splits)
{
	int err;

	unit->header = unit->skeleton;
	unit->file = unit->skeleton_file;
	if (!dwarf_unit_is_skeleton(&unit->skeleton))
		return 0;
	err = debug_splits_find(splits, unit->skeleton_file, &unit->skeleton, &unit->split,
				&unit->file, &unit->header);
	return err == -ENOENT ? 0 : err;
}

int debug_unit_create(struct dwarf_file *file, uint64_t offset, struct debug_splits *splits,
		      struct debug_unit **ret)
{
	CLEANUP(debug_unit_destroyp) struct debug_unit *unit = calloc(1, sizeof(*unit));
	int err;

	if (!unit)
		return -ENOMEM;
	unit->skeleton_file = file;
	err = dwarf_unit_read(file, offset, &unit->skeleton);
	err = err ?: dwarf_unit_root(file, &unit->skeleton);
	err = err ?: find_dies(unit, splits);
	err = err ?: dwarf_abbrevs_read(unit->file, unit->header.abbrev_offset, 0, &unit->abbrevs);
	if (err)
		return err;
	*ret = TAKE_PTR(unit);
	return 0;
}

void debug_unit_destroy(struct debug_unit *unit)
{
	if (!unit)
		return;
	vec_for_each (function, &unit->functions)
		debug_inlines_destroy(function->inlines);
	vec_deinit(&unit->functions);
	vec_deinit(&unit->ranges);
	dwarf_abbrevs_deinit(&unit->abbrevs);
	dwarf_lines_deinit(&unit->lines);
	debug_scopes_deinit(&unit->scopes);
	debug_split_destroy(unit->split);
	free(unit);
}

size_t debug_unit_bytes(const struct debug_unit *unit)
{
	return sizeof(*unit) + dwarf_abbrevs_bytes(&unit->abbrevs) +
	       unit->functions.capacity * sizeof(*unit->functions.data) +
	       unit->ranges.capacity * sizeof(*unit->ranges.data) + unit->inlines_bytes +
	       dwarf_lines_bytes(&unit->lines) + debug_scopes_bytes(&unit->scopes) +
	       (unit->split ? sizeof(*unit->split) + dwarf_file_bytes(&unit->split->file) : 0);
}

struct scan {
	struct debug_unit *unit;
	uint64_t text_start;
	bool whole;
	uint64_t ranges_left;
	struct dwarf_ranges ranges; /* of the current function */
	struct die_nesting nesting;
};

static void scan_deinit(struct scan *scan)
{
	vec_deinit(&scan->ranges.ranges);
	die_nesting_deinit(&scan->nesting);
}

/* Add a function that has code. *ret is its index. */
static int scan_function(struct scan *scan, const struct dwarf_die *die, uint32_t *ret)
{
	struct debug_unit *unit = scan->unit;
	struct debug_function function = {.die = die->offset, .end = unit->header.end};
	uint32_t number = (uint32_t)unit->functions.size;
	size_t before = unit->ranges.size;
	int err;

	scan->ranges.ranges.size = 0;
	err = dwarf_ranges_read(unit->file, &unit->header, die->values[DWARF_SLOT_LOW_PC],
				die->values[DWARF_SLOT_HIGH_PC], die->values[DWARF_SLOT_RANGES],
				&scan->ranges_left, &scan->ranges);
	if (err == -ENOMEM)
		return err;
	vec_for_each (range, &scan->ranges.ranges) {
		struct debug_function_range added = {range->start, range->end, number};

		if (range->start >= scan->text_start && vec_push(&unit->ranges, added))
			return -ENOMEM;
	}
	if (unit->ranges.size == before)
		return 0;
	if (number >= DEBUG_UNIT_SCOPES_MAX)
		return -E2BIG;
	*ret = number;
	return vec_push(&unit->functions, function);
}

/*
 * Process the DIE of a function or type. Its children are most of a unit but
 * seldom contain functions with code, so they are skipped.
 */
static int scan_die(struct scan *scan, struct dwarf_walk *walk, struct dwarf_die *die)
{
	struct debug_unit *unit = scan->unit;
	uint32_t item = DIE_NO_ITEM;
	bool skipped = false;
	int err = die->tag == DWARF_TAG_SUBPROGRAM ? scan_function(scan, die, &item) : 0;

	if (!err && !scan->whole)
		err = dwarf_walk_pass(walk, die, &skipped);
	if (err)
		return err;
	unit->skipped |= skipped;
	if (skipped && item != DIE_NO_ITEM)
		unit->functions.data[item].end = walk->base + cursor_offset(&walk->c);
	return die_nesting_enter(&scan->nesting, die, item);
}

static int scan_run(struct scan *scan)
{
	struct debug_unit *unit = scan->unit;
	struct dwarf_walk walk = {
		.keep = DWARF_KEEP_FUNCTIONS,
		.unit = &unit->header,
		.abbrevs = &unit->abbrevs,
		.base = unit->header.dies,
		.budget = unit->file->sections[DWARF_INFO].budget,
	};
	uint64_t size_bytes = unit->header.end - unit->header.dies;
	struct dwarf_die die;
	uint32_t item;
	int err;

	if (size_bytes > DEBUG_UNIT_BYTES_MAX)
		return -E2BIG;
	err = section_view(&unit->file->sections[DWARF_INFO], unit->header.dies, size_bytes,
			   &walk.c);
	while (!err && cursor_left(&walk.c)) {
		err = dwarf_walk_next(&walk, &die);
		if (err)
			break;
		if (!die.tag) {
			if (!die_nesting_leave(&scan->nesting, &item))
				break;
			if (item != DIE_NO_ITEM)
				unit->functions.data[item].end = walk.base + cursor_offset(&walk.c);
			continue;
		}
		if (die.tag == DWARF_TAG_SUBPROGRAM || dwarf_tag_is_type(die.tag))
			err = scan_die(scan, &walk, &die);
		else
			err = die_nesting_enter(&scan->nesting, &die, DIE_NO_ITEM);
	}
	return err;
}

static int sort_ranges(struct debug_unit *unit)
{
	size_t count = unit->ranges.size;
	AUTO_FREE struct sort_key *keys = calloc(count ? count : 1, sizeof(*keys));
	struct debug_function_range *sorted = calloc(count ? count : 1, sizeof(*sorted));
	int err;

	if (!keys || !sorted) {
		free(sorted);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){.key = unit->ranges.data[i].start, .item = i};
	err = sort_keys(keys, count);
	for (size_t i = 0; i < count && !err; i++)
		sorted[i] = unit->ranges.data[keys[i].item];
	if (err) {
		free(sorted);
		return err;
	}
	free(unit->ranges.data);
	unit->ranges.data = sorted;
	unit->ranges.capacity = count;
	return 0;
}

static int scan_functions(struct debug_unit *unit, uint64_t text_start, bool whole)
{
	CLEANUP(scan_deinit)
	struct scan scan = {
		.unit = unit,
		.text_start = text_start,
		.whole = whole,
		.ranges_left = DEBUG_UNIT_RANGES_MAX,
	};
	int err = scan_run(&scan);

	vec_fit(&unit->functions);
	return err == -ENOMEM ? err : sort_ranges(unit);
}

static void forget_functions(struct debug_unit *unit)
{
	vec_for_each (function, &unit->functions)
		debug_inlines_destroy(function->inlines);
	unit->functions.size = unit->ranges.size = 0;
	unit->inlines_bytes = 0;
}

int debug_unit_read_lines(struct debug_unit *unit)
{
	int err;

	if (unit->lines_read)
		return 0;
	err = dwarf_lines_read(unit->skeleton_file, &unit->skeleton, &unit->lines);
	unit->lines_read = err != -ENOMEM;
	return err == -ENOMEM ? err : 0;
}

int debug_unit_scan(struct debug_unit *unit, uint64_t text_start)
{
	int err;

	if (unit->scanned)
		return 0;
	err = scan_functions(unit, text_start, false);
	if (!err)
		err = debug_unit_read_lines(unit);
	if (err == -ENOMEM)
		return err;
	unit->scanned = true;
	return 0;
}

int debug_unit_scan_inside(struct debug_unit *unit, uint64_t text_start)
{
	int err;

	if (!unit->skipped)
		return -ENOENT;
	forget_functions(unit);
	err = scan_functions(unit, text_start, true);
	unit->skipped = err == -ENOMEM;
	return err;
}

struct debug_function *debug_unit_function(struct debug_unit *unit, uint64_t address)
{
	const struct debug_function_range *ranges = unit->ranges.data;
	size_t after = partition_point(0, unit->ranges.size, i, ranges[i].start <= address);

	for (size_t i = after; i > 0 && after - i < OVERLAPS_MAX; i--) {
		if (address < ranges[i - 1].end)
			return &unit->functions.data[ranges[i - 1].function];
	}
	return NULL;
}
