/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug_scopes.h"

#include "base/scope.h"
#include "decode/dwarf_constants.h"
#include "symbolize/debug_unit.h"
#include "symbolize/die_nesting.h"

static bool is_scope(const struct dwarf_die *die)
{
	switch (die->tag) {
	case DWARF_TAG_CLASS_TYPE:
	case DWARF_TAG_STRUCTURE_TYPE:
	case DWARF_TAG_UNION_TYPE:
	case DWARF_TAG_INTERFACE_TYPE:
	case DWARF_TAG_NAMESPACE:
	case DWARF_TAG_SUBPROGRAM:
		return die->children;
	default:
		return false;
	}
}

static int add(struct debug_scopes *scopes, const struct dwarf_die *die,
	       const struct dwarf_unit *unit, struct die_nesting *nesting)
{
	struct debug_enclosure added = {
		.die = die->offset,
		.end = unit->end,
		.parent = die_nesting_item(nesting),
		.tag = die->tag,
	};
	uint32_t item = DIE_NO_ITEM;

	if (is_scope(die)) {
		item = (uint32_t)scopes->enclosures.size;
		if (item >= DEBUG_SCOPES_MAX)
			return -E2BIG;
		if (vec_push(&scopes->enclosures, added))
			return -ENOMEM;
	}
	return die_nesting_enter(nesting, die, item);
}

static int walk_unit(struct debug_scopes *scopes, struct dwarf_walk *walk,
		     struct die_nesting *nesting)
{
	struct dwarf_die die;
	uint32_t item;
	int err = 0;

	while (!err && cursor_left(&walk->c)) {
		err = dwarf_walk_next(walk, &die);
		if (err)
			return err;
		if (die.tag) {
			err = add(scopes, &die, walk->unit, nesting);
			continue;
		}
		if (!die_nesting_leave(nesting, &item))
			break;
		if (item != DIE_NO_ITEM)
			scopes->enclosures.data[item].end = walk->base + cursor_offset(&walk->c);
	}
	return err;
}

int debug_scopes_read(struct debug_scopes *scopes, struct dwarf_file *file,
		      const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs)
{
	CLEANUP(die_nesting_deinit) struct die_nesting nesting = {0};
	struct dwarf_walk walk = {
		.keep = DWARF_KEEP_NONE,
		.unit = unit,
		.abbrevs = abbrevs,
		.base = unit->dies,
		.budget = file->sections[DWARF_INFO].budget,
	};
	int err = 0;

	if (scopes->read)
		return 0;
	scopes->enclosures.size = 0;
	if (unit->end - unit->dies <= DEBUG_UNIT_BYTES_MAX)
		err = section_view(&file->sections[DWARF_INFO], unit->dies, unit->end - unit->dies,
				   &walk.c);
	err = err ?: walk_unit(scopes, &walk, &nesting);
	if (err == -ENOMEM)
		return err;
	scopes->read = true;
	return 0;
}

void debug_scopes_deinit(struct debug_scopes *scopes)
{
	vec_deinit(&scopes->enclosures);
}

const struct debug_enclosure *debug_scopes_around(const struct debug_scopes *scopes,
						  uint64_t offset)
{
	const struct debug_enclosure *all = scopes->enclosures.data;
	size_t low = 0, high = scopes->enclosures.size;
	uint32_t at;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all[middle].die < offset)
			low = middle + 1;
		else
			high = middle;
	}
	/* A parent comes before what is in it. */
	for (at = (uint32_t)low - 1; at != DEBUG_SCOPE_NONE; at = all[at].parent) {
		if (offset < all[at].end)
			return &all[at];
	}
	return NULL;
}

size_t debug_scopes_bytes(const struct debug_scopes *scopes)
{
	return scopes->enclosures.capacity * sizeof(*scopes->enclosures.data);
}
