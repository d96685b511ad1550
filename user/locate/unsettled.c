/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "locate/unsettled.h"

static void note(struct unsettled *unsettled, const struct unsettled_range *noted)
{
	struct unsettled_range *range = unsettled->ranges, *oldest = range;

	for (; range < unsettled->ranges + unsettled->count; range++) {
		if (noted->start < range->end && range->start < noted->end)
			break;
		if (range->until_ns < oldest->until_ns)
			oldest = range;
	}
	if (range < unsettled->ranges + unsettled->count) {
		range->start = noted->start < range->start ? noted->start : range->start;
		range->end = noted->end > range->end ? noted->end : range->end;
		range->until_ns = noted->until_ns;
	} else if (unsettled->count < UNSETTLED_MAX) {
		unsettled->ranges[unsettled->count++] = *noted;
	} else {
		*oldest = *noted;
	}
}

/* Of two that overlap: whether a place in both is the same in its owner. */
static bool is_same(const struct unwind_mapping *a, const struct unwind_mapping *b)
{
	return a->owner == b->owner && a->offset - a->start == b->offset - b->start;
}

void unsettled_note(struct unsettled *unsettled, const struct unwind_mapping *published,
		    uint32_t count, const struct mapping_list *now, uint64_t now_ns)
{
	const struct unwind_mapping *was = published, *was_end = published + count;
	const struct unwind_mapping *is = now->mappings, *is_end = now->mappings + now->count;

	while (was < was_end && is < is_end) {
		struct unsettled_range both = {
			.start = was->start > is->start ? was->start : is->start,
			.end = was->end < is->end ? was->end : is->end,
			.until_ns = now_ns + UNSETTLED_NS,
		};

		if (both.start < both.end && !is_same(was, is) && !(is->owner & UNWIND_OWNER_CODE))
			note(unsettled, &both);
		if (was->end <= is->end)
			was++;
		else
			is++;
	}
}

static bool is_unsettled(const struct unsettled *unsettled, const struct unwind_mapping *mapping)
{
	for (uint32_t i = 0; i < unsettled->count; i++) {
		const struct unsettled_range *range = &unsettled->ranges[i];

		if (mapping->start < range->end && range->start < mapping->end)
			return true;
	}
	return false;
}

void unsettled_take_out(const struct unsettled *unsettled, struct mapping_list *list)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < list->count; i++) {
		if (!is_unsettled(unsettled, &list->mappings[i]))
			list->mappings[kept++] = list->mappings[i];
	}
	list->count = kept;
}

bool unsettled_forget(struct unsettled *unsettled, uint64_t now_ns)
{
	uint32_t kept = 0, before = unsettled->count;

	for (uint32_t i = 0; i < before; i++) {
		if (unsettled->ranges[i].until_ns > now_ns)
			unsettled->ranges[kept++] = unsettled->ranges[i];
	}
	unsettled->count = kept;
	return kept < before;
}
