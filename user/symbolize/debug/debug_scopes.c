/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "symbolize/debug/debug_scopes.h"

#include "base/scope.h"
#include "base/search.h"
#include "symbolize/debug/debug_unit.h"
#include "symbolize/debug/die_nesting.h"

/* A walk over the children of one scope. */
struct look {
	struct debug_scopes *scopes;
	uint32_t into;
	struct dwarf_walk walk;
	struct die_nesting nesting;
};

static void look_deinit(struct look *look)
{
	die_nesting_deinit(&look->nesting);
}

/* Add a DIE if it is a scope, and skip its children if possible. *ret is its index then. */
static int add(struct look *look, struct dwarf_die *die, uint32_t *ret)
{
	struct debug_scopes *scopes = look->scopes;
	struct debug_enclosure added = {
		.die = die->offset,
		.end = scopes->enclosures.data[look->into].end,
		.parent = die_nesting_item(&look->nesting),
		.tag = die->tag,
	};
	uint32_t number = (uint32_t)scopes->enclosures.size;
	int err;

	if (!die->children || !dwarf_tag_is_scope(die->tag))
		return 0;
	if (number >= DEBUG_SCOPES_MAX)
		return -E2BIG;
	err = dwarf_walk_pass(&look->walk, die, &added.passed);
	if (err)
		return err;
	if (added.passed)
		added.end = look->walk.base + cursor_offset(&look->walk.c);
	*ret = number;
	return vec_push(&scopes->enclosures, added);
}

static int look_walk(struct look *look)
{
	struct dwarf_walk *walk = &look->walk;
	struct dwarf_die die;
	uint32_t item;
	/* The first DIE is the scope itself. */
	int err = dwarf_walk_next(walk, &die);

	err = err ?: die_nesting_enter(&look->nesting, &die, DIE_NO_ITEM);
	while (!err && look->nesting.depth && cursor_left(&walk->c)) {
		item = DIE_NO_ITEM;
		err = dwarf_walk_next(walk, &die);
		if (err)
			break;
		if (die.tag) {
			err = add(look, &die, &item);
			err = err ?: die_nesting_enter(&look->nesting, &die, item);
			continue;
		}
		die_nesting_leave(&look->nesting, &item);
		if (item != DIE_NO_ITEM)
			look->scopes->enclosures.data[item].end =
				walk->base + cursor_offset(&walk->c);
	}
	return err;
}

static int look_into(struct debug_scopes *scopes, uint32_t number, struct dwarf_file *file,
		     const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs)
{
	struct debug_enclosure *into = &scopes->enclosures.data[number];
	uint64_t size_bytes = into->end - into->die;
	struct section_reader *info = &file->sections[DWARF_INFO];
	CLEANUP(look_deinit)
	struct look look = {
		.scopes = scopes,
		.into = number,
		.walk =
			{
				.keep = DWARF_KEEP_SCOPES,
				.unit = unit,
				.abbrevs = abbrevs,
				.base = into->die,
				.budget = info->budget,
			},
	};
	int err = size_bytes <= DEBUG_UNIT_BYTES_MAX ? 0 : -E2BIG;

	if (!section_view_held(info, into->die, size_bytes, &look.walk.c))
		info = &file->sections[DWARF_INFO_AGAIN];
	into->first = (uint32_t)scopes->enclosures.size;
	err = err ?: section_view(info, into->die, size_bytes, &look.walk.c);
	err = err ?: look_walk(&look);
	into = &scopes->enclosures.data[number];
	if (err == -ENOMEM) {
		scopes->enclosures.size = into->first;
		return err;
	}
	into->count = (uint32_t)scopes->enclosures.size - into->first;
	into->passed = false;
	return 0;
}

/* Returns the innermost scope around an offset among the children of one scope. */
static uint32_t innermost(const struct debug_scopes *scopes, uint32_t number, uint64_t offset)
{
	const struct debug_enclosure *all = scopes->enclosures.data;
	uint32_t first = all[number].first, end = first + all[number].count;
	uint32_t after = partition_point(first, end, i, all[i].die < offset);
	uint32_t at = after > first ? after - 1 : DEBUG_SCOPE_NONE;

	/* A parent precedes its children. */
	while (at != DEBUG_SCOPE_NONE && offset >= all[at].end)
		at = all[at].parent;
	return at;
}

int debug_scopes_find(struct debug_scopes *scopes, struct dwarf_file *file,
		      const struct dwarf_unit *unit, const struct dwarf_abbrevs *abbrevs,
		      uint64_t offset, struct debug_enclosure *ret)
{
	struct debug_enclosure root = {.die = unit->dies, .end = unit->end, .passed = true};
	uint32_t around = 0, next;
	int err;

	if (!scopes->enclosures.size && vec_push(&scopes->enclosures, root))
		return -ENOMEM;
	/* Each iteration descends one level. */
	for (;;) {
		if (scopes->enclosures.data[around].passed) {
			err = look_into(scopes, around, file, unit, abbrevs);
			if (err)
				return err;
		}
		next = innermost(scopes, around, offset);
		if (next == DEBUG_SCOPE_NONE)
			break;
		around = next;
	}
	if (!around)
		return -ENOENT;
	*ret = scopes->enclosures.data[around];
	return 0;
}

void debug_scopes_deinit(struct debug_scopes *scopes)
{
	vec_deinit(&scopes->enclosures);
}

size_t debug_scopes_bytes(const struct debug_scopes *scopes)
{
	return scopes->enclosures.capacity * sizeof(*scopes->enclosures.data);
}
