/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "profile/hidden_totals.h"

#include <errno.h>

#include "base/hash.h"
#include "base/intern.h"

static bool equal(const void *items, uint32_t item, const void *key_)
{
	const struct hidden_total *totals = items, *key = key_;

	return totals[item].function == key->function;
}

int hidden_totals_add(struct hidden_totals *hidden, const struct hidden_frame *frame,
		      uint64_t amount)
{
	const struct hidden_total key = {
		.function = frame->function,
		.location = frame->location,
		.index = frame->index,
		.outer_location = frame->location,
	};
	struct hidden_total *total;
	uint32_t number;
	int added = vec_intern(&hidden->totals, &hidden->index, hash_mix(frame->function, 0), equal,
			       &key, &number);

	if (added < 0)
		return added;
	total = &hidden->totals.data[number];
	if (total->met != hidden->serial)
		total->samples += frame->is_shown ? 0 : amount;
	total->met = hidden->serial;
	if (!frame->outermost)
		return added;
	if (total->outer_met != hidden->serial)
		total->outer_samples += frame->is_shown ? 0 : amount;
	if (!total->outer_met)
		total->outer_location = frame->location;
	total->outer_met = hidden->serial;
	return added;
}

void hidden_totals_deinit(struct hidden_totals *hidden)
{
	vec_deinit(&hidden->totals);
	index_map_deinit(&hidden->index);
}
