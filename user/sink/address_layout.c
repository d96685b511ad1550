/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/address_layout.h"

#include <errno.h>
#include <string.h>

#include "base/hash.h"
#include "base/intern.h"
#include "base/path.h"
#include "base/scope.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"

#define PAGE_BYTES	   4096ull
#define RANGE_ALIGN_BYTES  (1ull << 32)
#define REGION_ALIGN_BYTES 64ull

/* No real file or code is larger; a forged offset must not use up the addresses. */
#define OFFSET_MAX ((1ull << 40) - 1)

/* Readers regard addresses from 2^63 on as the kernel's. The end of a range is rounded up. */
#define FREE_END ((1ull << 63) - RANGE_ALIGN_BYTES)

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return value > UINT64_MAX - (unit - 1) ? UINT64_MAX : (value + unit - 1) & ~(unit - 1);
}

static bool is_shifted(enum location_space space)
{
	return space == LOCATION_SPACE_FILE || space == LOCATION_SPACE_REGION;
}

/* Returns the offset of a location in its part; for generated kernel code, its address. */
static uint64_t offset_of(const struct location *location)
{
	uint64_t base;

	if (location_kind_info(location->kind)->space != LOCATION_SPACE_KERNEL ||
	    !location_base(location, &base))
		base = 0;
	return base + location->offset;
}

static bool range_equal(const void *items, uint32_t item, const void *key_)
{
	const struct address_range *range = (const struct address_range *)items + item;
	const struct address_range *key = key_;

	return range->space == key->space && range->owner == key->owner &&
	       !strcmp(range->name, key->name);
}

static int find_range(struct address_layout *layout, const struct address_range *key, uint32_t *ret)
{
	uint64_t hash = hash_bytes(key->name, strlen(key->name), hash_mix(key->space, key->owner));
	int err = vec_intern(&layout->ranges, &layout->range_index, hash, range_equal, key, ret);

	return err < 0 ? err : 0;
}

static bool part_equal(const void *items, uint32_t item, const void *key_)
{
	const struct address_part *part = (const struct address_part *)items + item;
	const struct address_part *key = key_;

	return part->range == key->range && part->owner == key->owner;
}

static int find_part(struct address_layout *layout, const struct address_part *key, uint32_t *ret)
{
	uint64_t hash = hash_mix(key->range, key->owner);
	struct address_range *range = &layout->ranges.data[key->range];
	int added = vec_intern(&layout->parts, &layout->part_index, hash, part_equal, key, ret);

	if (added > 0) {
		if (range->first_part == ADDRESS_LAYOUT_NONE)
			range->first_part = *ret;
		else
			layout->parts.data[range->last_part].next = *ret;
		range->last_part = *ret;
	}
	return added < 0 ? added : 0;
}

/* Returns true unless the path is a shared library or a name like [vdso]. */
static bool looks_like_program(const char *path)
{
	return strchr(path, '/') && !strstr(path_file(path), ".so");
}

/* Get the range of a location by its outermost frame. Returns false if it has none. */
static bool range_of(const struct view *view, uint32_t number, const struct location *location,
		     struct address_range *ret)
{
	struct frame_text frame;

	frame_text_get(view, number, frame_text_count(view, number) - 1, &frame);
	*ret = (struct address_range){
		.space = location_kind_info(location->kind)->space,
		.name = frame.module,
		.first_part = ADDRESS_LAYOUT_NONE,
		.last_part = ADDRESS_LAYOUT_NONE,
	};
	switch (ret->space) {
	case LOCATION_SPACE_FILE:
		ret->owner = (uint32_t)location->owner;
		ret->module = module_table_get(view->modules, ret->owner);
		if (ret->module)
			ret->name = ret->module->path;
		ret->is_program = looks_like_program(ret->name);
		return location->offset <= OFFSET_MAX;
	case LOCATION_SPACE_REGION:
		return location->offset <= OFFSET_MAX;
	case LOCATION_SPACE_KERNEL:
	case LOCATION_SPACE_ANON:
		return true;
	case LOCATION_SPACE_NONE:
		break;
	}
	return false;
}

static void note_frames(struct address_range *range, const struct view *view, uint32_t location)
{
	uint32_t count = frame_text_count(view, location);

	for (uint32_t i = 0; i < count; i++) {
		struct frame_text frame;

		frame_text_get(view, location, i, &frame);
		range->has_files |= *frame.file != 0;
		range->has_lines |= frame.line != 0;
		range->has_inlined |= frame.inlined;
	}
}

/* Enter a used location, unless it was entered before. */
static int enter(struct address_layout *layout, const struct view *view, uint32_t number)
{
	const struct location *location = frame_text_location(view, number);
	struct address_part key = {.next = ADDRESS_LAYOUT_NONE}, *part;
	struct address_range range;

	if (!location || layout->part_of[number] != ADDRESS_LAYOUT_NONE ||
	    !range_of(view, number, location, &range))
		return 0;
	key.first = key.last = offset_of(location);
	if (range.space == LOCATION_SPACE_REGION)
		key.owner = location->owner;
	if (find_range(layout, &range, &key.range) ||
	    find_part(layout, &key, &layout->part_of[number]))
		return -ENOMEM;
	part = &layout->parts.data[layout->part_of[number]];
	if (key.first < part->first)
		part->first = key.first;
	if (key.last > part->last)
		part->last = key.last;
	note_frames(&layout->ranges.data[key.range], view, number);
	return 0;
}

/* Returns the range of an entered location, or NULL. */
static struct address_range *range_of_entered(struct address_layout *layout, uint32_t location)
{
	uint32_t part = ADDRESS_LAYOUT_NONE;

	if (location < layout->location_count)
		part = layout->part_of[location];
	return part == ADDRESS_LAYOUT_NONE ? NULL
					   : &layout->ranges.data[layout->parts.data[part].range];
}

static int enter_all(struct address_layout *layout, const struct view *view, const uint64_t *totals)
{
	const struct profile *profile = view->profile;
	/* By node: true if the node or a caller is in a program's file. */
	AUTO_FREE bool *in_program = calloc(profile->nodes.size + 1, sizeof(*in_program));

	if (!in_program)
		return -ENOMEM;
	for (size_t i = 0; i < profile->nodes.size; i++) {
		const struct profile_node *node = &profile->nodes.data[i];
		struct address_range *range;

		if (!totals[i] || node->parent == PROFILE_NODE_NONE)
			continue;
		in_program[i] = in_program[node->parent];
		if (shown_profile_hides(view, (uint32_t)i))
			continue;
		if (enter(layout, view, node->location))
			return -ENOMEM;
		range = range_of_entered(layout, node->location);
		if (in_program[i] || !range || !range->is_program)
			continue;
		in_program[i] = true;
		range->program_samples += totals[i];
	}
	return 0;
}

/*
 * Assign addresses from *next on to a range of a file or of JIT code, as long as addresses are
 * left. The range of a file begins at its code: readers take a mapping from offset 0 for the first
 * segment only.
 */
static void place(struct address_layout *layout, struct address_range *range, uint64_t *next)
{
	uint64_t at = *next;

	range->start = at;
	for (uint32_t i = range->first_part; i != ADDRESS_LAYOUT_NONE;
	     i = layout->parts.data[i].next) {
		struct address_part *part = &layout->parts.data[i];

		if (at > FREE_END || part->last >= FREE_END - at)
			break;
		if (range->space == LOCATION_SPACE_FILE)
			range->file_offset = part->first & -PAGE_BYTES;
		part->base = at;
		at = round_up(at + part->last + 1, REGION_ALIGN_BYTES);
	}
	range->start += range->file_offset;
	range->limit = round_up(at, PAGE_BYTES);
	*next = round_up(range->limit, RANGE_ALIGN_BYTES);
}

/* Set the range of code that keeps its addresses. */
static void enclose(struct address_layout *layout, struct address_range *range)
{
	const struct address_part *part = &layout->parts.data[range->first_part];

	range->start = part->first & -PAGE_BYTES;
	range->limit = part->last == UINT64_MAX ? UINT64_MAX : round_up(part->last + 1, PAGE_BYTES);
}

/* Guess the main program: the file that is the outermost program in most stacks. */
static uint32_t guess_main(const struct address_layout *layout)
{
	uint32_t best = ADDRESS_LAYOUT_NONE;
	uint64_t most = 0;

	for (uint32_t i = 0; i < layout->ranges.size; i++) {
		if (layout->ranges.data[i].program_samples > most) {
			most = layout->ranges.data[i].program_samples;
			best = i;
		}
	}
	return best;
}

int address_layout_build(struct address_layout *layout, const struct view *view,
			 const uint64_t *totals)
{
	uint64_t next = RANGE_ALIGN_BYTES;

	layout->location_count = view->locations->locations.size;
	layout->part_of = malloc((layout->location_count + 1) * sizeof(*layout->part_of));
	if (!layout->part_of)
		return -ENOMEM;
	/* All bits set: ADDRESS_LAYOUT_NONE. */
	memset(layout->part_of, 0xff, layout->location_count * sizeof(*layout->part_of));
	if (enter_all(layout, view, totals))
		return -ENOMEM;
	vec_for_each (range, &layout->ranges) {
		if (is_shifted(range->space))
			place(layout, range, &next);
		else
			enclose(layout, range);
	}
	layout->main = guess_main(layout);
	return 0;
}

uint32_t address_layout_find(const struct address_layout *layout, const struct view *view,
			     uint32_t location, uint64_t *ret_address)
{
	const struct location *known = frame_text_location(view, location);
	const struct address_part *part;

	*ret_address = 0;
	if (!known)
		return ADDRESS_LAYOUT_NONE;
	if (layout->part_of[location] == ADDRESS_LAYOUT_NONE) {
		if (known->kind == LOCATION_UNKNOWN)
			*ret_address = known->offset;
		return ADDRESS_LAYOUT_NONE;
	}
	part = &layout->parts.data[layout->part_of[location]];
	if (!part->base && is_shifted(layout->ranges.data[part->range].space))
		return ADDRESS_LAYOUT_NONE; /* no addresses were left for its range */
	*ret_address = part->base + offset_of(known);
	return part->range;
}

void address_layout_deinit(struct address_layout *layout)
{
	vec_deinit(&layout->ranges);
	vec_deinit(&layout->parts);
	index_map_deinit(&layout->range_index);
	index_map_deinit(&layout->part_index);
	free(layout->part_of);
	layout->part_of = NULL;
}
