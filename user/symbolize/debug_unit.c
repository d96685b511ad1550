/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug_unit.h"

#include <string.h>

#include "base/scope.h"
#include "base/sort_keys.h"
#include "decode/dwarf_constants.h"

#define OVERLAPS_MAX 16 /* how many functions that begin before an address are looked at */

DEFINE_CLEANUP(struct debug_unit *, debug_unit_destroy);

int debug_unit_create(struct dwarf_file *file, uint64_t offset, struct debug_unit **ret)
{
	CLEANUP(debug_unit_destroyp) struct debug_unit *unit = calloc(1, sizeof(*unit));
	int err;

	if (!unit)
		return -ENOMEM;
	err = dwarf_unit_read(file, offset, &unit->header);
	err = err ?: dwarf_unit_root(file, &unit->header);
	err = err ?: dwarf_abbrevs_read(file, unit->header.abbrev_offset, 0, &unit->abbrevs);
	if (err)
		return err;
	unit->bytes = sizeof(*unit) + dwarf_abbrevs_bytes(&unit->abbrevs);
	*ret = TAKE_PTR(unit);
	return 0;
}

static void inlines_destroy(struct debug_inlines *inlines)
{
	if (!inlines)
		return;
	vec_deinit(&inlines->scopes);
	vec_deinit(&inlines->ranges.ranges);
	free(inlines);
}

DEFINE_CLEANUP(struct debug_inlines *, inlines_destroy);

void debug_unit_destroy(struct debug_unit *unit)
{
	if (!unit)
		return;
	vec_for_each (function, &unit->functions)
		inlines_destroy(function->inlines);
	vec_deinit(&unit->functions);
	vec_deinit(&unit->ranges);
	dwarf_abbrevs_deinit(&unit->abbrevs);
	dwarf_lines_deinit(&unit->lines);
	free(unit);
}

/* A walk that knows which of the DIEs with an item (a function, a scope) are open. */
struct open_item {
	uint32_t item;
	uint32_t depth;
};

struct nesting {
	uint32_t depth;
	VEC(struct open_item) open;
};

static void nesting_deinit(struct nesting *nesting)
{
	vec_deinit(&nesting->open);
}

/* A DIE was read. item: the number of what it is, or UINT32_MAX. */
static int nesting_enter(struct nesting *nesting, const struct dwarf_die *die, uint32_t item)
{
	struct open_item open = {item, nesting->depth};

	if (!die->children)
		return 0;
	nesting->depth++;
	return item == UINT32_MAX ? 0 : vec_push(&nesting->open, open);
}

/* Siblings ended: false where they never began. *ret is the item that is closed by it. */
static bool nesting_leave(struct nesting *nesting, uint32_t *ret)
{
	*ret = UINT32_MAX;
	if (!nesting->depth)
		return false;
	nesting->depth--;
	if (nesting->open.size &&
	    nesting->open.data[nesting->open.size - 1].depth == nesting->depth)
		*ret = nesting->open.data[--nesting->open.size].item;
	return true;
}

struct scan {
	struct dwarf_file *file;
	struct debug_unit *unit;
	uint64_t text_start;
	uint64_t ranges_left;
	struct dwarf_ranges ranges; /* of the function at hand */
	struct nesting nesting;
};

static void scan_deinit(struct scan *scan)
{
	vec_deinit(&scan->ranges.ranges);
	nesting_deinit(&scan->nesting);
}

/* A function that has code becomes an item. */
static int scan_function(struct scan *scan, const struct dwarf_die *die, uint32_t *ret)
{
	struct debug_unit *unit = scan->unit;
	struct debug_function function = {.die = die->offset, .end = unit->header.end};
	uint32_t number = (uint32_t)unit->functions.size;
	size_t before = unit->ranges.size;
	int err;

	scan->ranges.ranges.size = 0;
	err = dwarf_ranges_read(scan->file, &unit->header, die->values[DWARF_SLOT_LOW_PC],
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

static int scan_run(struct scan *scan)
{
	struct debug_unit *unit = scan->unit;
	struct dwarf_walk walk = {
		.unit = &unit->header,
		.abbrevs = &unit->abbrevs,
		.base = unit->header.dies,
		.budget = scan->file->sections[DWARF_INFO].budget,
	};
	uint64_t size_bytes = unit->header.end - unit->header.dies;
	struct dwarf_die die;
	uint32_t item;
	int err;

	if (size_bytes > DEBUG_UNIT_BYTES_MAX)
		return -E2BIG;
	err = section_view(&scan->file->sections[DWARF_INFO], unit->header.dies, size_bytes,
			   &walk.c);
	while (!err && cursor_left(&walk.c)) {
		item = UINT32_MAX;
		err = dwarf_walk_next(&walk, false, &die);
		if (err)
			break;
		if (!die.tag) {
			if (!nesting_leave(&scan->nesting, &item))
				break;
			if (item != UINT32_MAX)
				unit->functions.data[item].end = walk.base + cursor_offset(&walk.c);
			continue;
		}
		if (die.tag == DWARF_TAG_SUBPROGRAM)
			err = scan_function(scan, &die, &item);
		err = err ?: nesting_enter(&scan->nesting, &die, item);
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

int debug_unit_scan(struct dwarf_file *file, struct debug_unit *unit, uint64_t text_start)
{
	CLEANUP(scan_deinit)
	struct scan scan = {
		.file = file,
		.unit = unit,
		.text_start = text_start,
		.ranges_left = DEBUG_UNIT_RANGES_MAX,
	};
	int err;

	if (unit->scanned)
		return 0;
	err = scan_run(&scan);
	if (err != -ENOMEM)
		err = sort_ranges(unit);
	if (!err)
		err = dwarf_lines_read(file, &unit->header, &unit->lines);
	if (err == -ENOMEM)
		return err;
	unit->scanned = true;
	unit->bytes += unit->functions.capacity * sizeof(*unit->functions.data) +
		       unit->ranges.capacity * sizeof(*unit->ranges.data) +
		       dwarf_lines_bytes(&unit->lines);
	return 0;
}

static struct debug_function *find_function(struct debug_unit *unit, uint64_t address)
{
	const struct debug_function_range *ranges = unit->ranges.data;
	size_t low = 0, high = unit->ranges.size;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (size_t i = low; i > 0 && low - i < OVERLAPS_MAX; i--) {
		if (address < ranges[i - 1].end)
			return &unit->functions.data[ranges[i - 1].function];
	}
	return NULL;
}

static uint32_t call_number(struct dwarf_value value)
{
	return value.class == DWARF_NUMBER && value.u < UINT32_MAX ? (uint32_t)value.u : 0;
}

static int scope_add(struct dwarf_file *file, const struct dwarf_unit *unit,
		     const struct dwarf_die *die, uint64_t *ranges_left,
		     struct debug_inlines *inlines)
{
	struct debug_scope scope = {
		.die = die->offset,
		.next = (uint32_t)inlines->scopes.size + 1,
		.first_range = (uint32_t)inlines->ranges.ranges.size,
		.call_file = call_number(die->values[DWARF_SLOT_CALL_FILE]),
		.call_line = call_number(die->values[DWARF_SLOT_CALL_LINE]),
	};
	int err;

	if (inlines->scopes.size >= DEBUG_UNIT_SCOPES_MAX)
		return -E2BIG;
	/* What is another function, inside of this one, holds nothing of it. */
	if (die->tag == DWARF_TAG_INLINED_SUBROUTINE || !inlines->scopes.size) {
		err = dwarf_ranges_read(
			file, unit, die->values[DWARF_SLOT_LOW_PC], die->values[DWARF_SLOT_HIGH_PC],
			die->values[DWARF_SLOT_RANGES], ranges_left, &inlines->ranges);
		if (err)
			return err;
	}
	scope.range_count = (uint32_t)inlines->ranges.ranges.size - scope.first_range;
	return vec_push(&inlines->scopes, scope);
}

static int inlines_walk(struct dwarf_file *file, const struct debug_unit *unit,
			struct dwarf_walk *walk, struct debug_inlines *inlines)
{
	CLEANUP(nesting_deinit) struct nesting nesting = {0};
	uint64_t ranges_left = DEBUG_UNIT_RANGES_MAX;
	struct dwarf_die die;
	uint32_t item;
	int err;

	do {
		item = UINT32_MAX;
		err = dwarf_walk_next(walk, false, &die);
		if (err)
			return err;
		if (!die.tag) {
			if (!nesting_leave(&nesting, &item))
				return -EBADMSG;
			if (item != UINT32_MAX)
				inlines->scopes.data[item].next = (uint32_t)inlines->scopes.size;
			continue;
		}
		if (die.tag == DWARF_TAG_SUBPROGRAM || die.tag == DWARF_TAG_INLINED_SUBROUTINE) {
			item = (uint32_t)inlines->scopes.size;
			err = scope_add(file, &unit->header, &die, &ranges_left, inlines);
		}
		err = err ?: nesting_enter(&nesting, &die, item);
		if (err)
			return err;
	} while (nesting.depth);
	return 0;
}

static int inlines_read(struct dwarf_file *file, struct debug_unit *unit,
			struct debug_function *function)
{
	CLEANUP(inlines_destroyp) struct debug_inlines *inlines = calloc(1, sizeof(*inlines));
	struct dwarf_walk walk = {
		.unit = &unit->header,
		.abbrevs = &unit->abbrevs,
		.base = function->die,
		.budget = file->sections[DWARF_INFO].budget,
	};
	int err;

	if (!inlines)
		return -ENOMEM;
	err = section_view(&file->sections[DWARF_INFO], function->die,
			   function->end - function->die, &walk.c);
	err = err ?: inlines_walk(file, unit, &walk, inlines);
	if (err)
		return err;
	unit->bytes += sizeof(*inlines) + inlines->scopes.capacity * sizeof(*inlines->scopes.data) +
		       inlines->ranges.ranges.capacity * sizeof(*inlines->ranges.ranges.data);
	function->inlines = TAKE_PTR(inlines);
	return 0;
}

static bool scope_holds(const struct debug_inlines *inlines, const struct debug_scope *scope,
			uint64_t address)
{
	for (uint32_t i = 0; i < scope->range_count; i++) {
		const struct dwarf_range *range =
			&inlines->ranges.ranges.data[scope->first_range + i];

		if (address >= range->start && address < range->end)
			return true;
	}
	return false;
}

/* Down from the function, which comes first; where there is no room, what is next to it goes. */
static void chain_gather(const struct debug_inlines *inlines, uint64_t address,
			 struct debug_chain *chain)
{
	const struct debug_scope *scopes = inlines->scopes.data;
	uint32_t i = 1, end = scopes[0].next;

	*chain = (struct debug_chain){.scopes = {&scopes[0]}, .count = 1};
	while (i < end) {
		if (!scope_holds(inlines, &scopes[i], address)) {
			i = scopes[i].next;
			continue;
		}
		if (chain->count == DEBUG_CHAIN_MAX) {
			chain->count--;
			chain->cut = true;
			memmove(chain->scopes + 1, chain->scopes + 2,
				(chain->count - 1) * sizeof(*chain->scopes));
		}
		chain->scopes[chain->count++] = &scopes[i];
		end = scopes[i].next;
		i++;
	}
}

static void chain_reverse(struct debug_chain *chain)
{
	for (uint32_t i = 0, j = chain->count - 1; i < j; i++, j--) {
		const struct debug_scope *swapped = chain->scopes[i];

		chain->scopes[i] = chain->scopes[j];
		chain->scopes[j] = swapped;
	}
}

int debug_unit_chain(struct dwarf_file *file, struct debug_unit *unit, uint64_t address,
		     struct debug_chain *ret)
{
	struct debug_function *function = find_function(unit, address);
	int err;

	if (!function)
		return -ENOENT;
	if (!function->inlines && !function->damaged) {
		err = inlines_read(file, unit, function);
		if (err == -ENOMEM)
			return err;
		function->damaged = err;
	}
	if (function->damaged)
		return -EBADMSG;
	chain_gather(function->inlines, address, ret);
	chain_reverse(ret);
	return 0;
}
