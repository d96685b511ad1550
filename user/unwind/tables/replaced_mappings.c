/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "unwind/tables/replaced_mappings.h"

static void note(struct replaced_mappings *replaced_mappings,
		 const struct replaced_mappings_range *noted)
{
	struct replaced_mappings_range *range = replaced_mappings->ranges, *oldest = range;

	for (; range < replaced_mappings->ranges + replaced_mappings->count; range++) {
		if (noted->start < range->end && range->start < noted->end)
			break;
		if (range->until_ns < oldest->until_ns)
			oldest = range;
	}
	if (range < replaced_mappings->ranges + replaced_mappings->count) {
		range->start = noted->start < range->start ? noted->start : range->start;
		range->end = noted->end > range->end ? noted->end : range->end;
		range->until_ns = noted->until_ns;
	} else if (replaced_mappings->count < REPLACED_MAPPINGS_MAX) {
		replaced_mappings->ranges[replaced_mappings->count++] = *noted;
	} else {
		*oldest = *noted;
	}
}

/* Returns true if an address in both mappings has the same owner and offset. */
static bool is_same(const struct unwind_mapping *a, const struct unwind_mapping *b)
{
	return a->owner == b->owner && a->offset - a->start == b->offset - b->start;
}

void replaced_mappings_note(struct replaced_mappings *replaced_mappings,
			    const struct unwind_mapping *published, uint32_t count,
			    const struct mapping_list *now, uint64_t now_ns)
{
	const struct unwind_mapping *was = published, *was_end = published + count;
	const struct unwind_mapping *is = now->mappings, *is_end = now->mappings + now->count;

	while (was < was_end && is < is_end) {
		struct replaced_mappings_range both = {
			.start = was->start > is->start ? was->start : is->start,
			.end = was->end < is->end ? was->end : is->end,
			.until_ns = now_ns + REPLACED_MAPPINGS_NS,
		};

		if (both.start < both.end && !is_same(was, is) && !(is->owner & UNWIND_OWNER_CODE))
			note(replaced_mappings, &both);
		if (was->end <= is->end)
			was++;
		else
			is++;
	}
}

static bool overlaps_replaced(const struct replaced_mappings *replaced_mappings,
			      const struct unwind_mapping *mapping)
{
	for (uint32_t i = 0; i < replaced_mappings->count; i++) {
		const struct replaced_mappings_range *range = &replaced_mappings->ranges[i];

		if (mapping->start < range->end && range->start < mapping->end)
			return true;
	}
	return false;
}

void replaced_mappings_exclude(const struct replaced_mappings *replaced_mappings,
			       struct mapping_list *list)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		if (!overlaps_replaced(replaced_mappings, &list->mappings[i]))
			list->mappings[kept++] = list->mappings[i];
	}
	list->count = kept;
}

bool replaced_mappings_forget(struct replaced_mappings *replaced_mappings, uint64_t now_ns)
{
	uint32_t kept = 0, before = replaced_mappings->count;

	for (uint32_t i = 0; i < before; i++) {
		if (replaced_mappings->ranges[i].until_ns > now_ns)
			replaced_mappings->ranges[kept++] = replaced_mappings->ranges[i];
	}
	replaced_mappings->count = kept;
	return kept < before;
}
