/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* The inlined calls of a function. */
#include <string.h>

#include "base/scope.h"
#include "decode/dwarf/dwarf_constants.h"
#include "symbolize/debug/debug_unit.h"
#include "symbolize/debug/die_nesting.h"

void debug_inlines_destroy(struct debug_inlines *inlines)
{
	if (!inlines)
		return;
	vec_deinit(&inlines->scopes);
	vec_deinit(&inlines->ranges.ranges);
	free(inlines);
}

DEFINE_CLEANUP(struct debug_inlines *, debug_inlines_destroy);

static uint32_t call_number(struct dwarf_value value)
{
	return value.class == DWARF_NUMBER && value.u < UINT32_MAX ? (uint32_t)value.u : 0;
}

static int scope_add(const struct debug_unit *unit, const struct dwarf_die *die,
		     uint64_t *ranges_left, struct debug_inlines *inlines)
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
	/* A nested function has no code of the outer one, so its ranges are ignored. */
	if (die->tag == DWARF_TAG_INLINED_SUBROUTINE || !inlines->scopes.size) {
		err = dwarf_ranges_read(unit->file, &unit->header, die->values[DWARF_SLOT_LOW_PC],
					die->values[DWARF_SLOT_HIGH_PC],
					die->values[DWARF_SLOT_RANGES], ranges_left,
					&inlines->ranges);
		if (err)
			return err;
	}
	scope.range_count = (uint32_t)inlines->ranges.ranges.size - scope.first_range;
	return vec_push(&inlines->scopes, scope);
}

static int inlines_walk(const struct debug_unit *unit, struct dwarf_walk *walk,
			struct debug_inlines *inlines)
{
	CLEANUP(die_nesting_deinit) struct die_nesting nesting = {0};
	uint64_t ranges_left = DEBUG_UNIT_RANGES_MAX;
	struct dwarf_die die;
	uint32_t item;
	int err;

	do {
		item = DIE_NO_ITEM;
		err = dwarf_walk_next(walk, &die);
		if (err)
			return err;
		if (!die.tag) {
			if (!die_nesting_leave(&nesting, &item))
				return -EBADMSG;
			if (item != DIE_NO_ITEM)
				inlines->scopes.data[item].next = (uint32_t)inlines->scopes.size;
			continue;
		}
		if (die.tag == DWARF_TAG_SUBPROGRAM || die.tag == DWARF_TAG_INLINED_SUBROUTINE) {
			item = (uint32_t)inlines->scopes.size;
			err = scope_add(unit, &die, &ranges_left, inlines);
		}
		err = err ?: die_nesting_enter(&nesting, &die, item);
		if (err)
			return err;
	} while (nesting.depth);
	return 0;
}

static int inlines_read(struct debug_unit *unit, struct debug_function *function)
{
	CLEANUP(debug_inlines_destroyp) struct debug_inlines *inlines = calloc(1, sizeof(*inlines));
	struct dwarf_walk walk = {
		.keep = DWARF_KEEP_CALLS,
		.unit = &unit->header,
		.abbrevs = &unit->abbrevs,
		.base = function->die,
		.budget = unit->file->sections[DWARF_INFO].budget,
	};
	int err;

	if (!inlines)
		return -ENOMEM;
	err = section_view(&unit->file->sections[DWARF_INFO], function->die,
			   function->end - function->die, &walk.c);
	err = err ?: inlines_walk(unit, &walk, inlines);
	if (err)
		return err;
	vec_fit(&inlines->scopes);
	vec_fit(&inlines->ranges.ranges);
	unit->inlines_bytes +=
		sizeof(*inlines) + inlines->scopes.capacity * sizeof(*inlines->scopes.data) +
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

/*
 * Collect the scopes at an address, from the function inwards. If there are too many, drop the
 * outermost inlined calls, next to the function.
 */
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

int debug_unit_chain(struct debug_unit *unit, uint64_t address, struct debug_chain *ret)
{
	struct debug_function *function = debug_unit_function(unit, address);
	int err;

	if (!function)
		return -ENOENT;
	if (!function->inlines && !function->damaged) {
		err = inlines_read(unit, function);
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
