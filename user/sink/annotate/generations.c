/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include <stdlib.h>

#include "sink/annotate/annotation_output.h"
#include "sink/annotate/code_history.h"
#include "state/code/code_region.h"

void generation_init(struct generation *ret, const struct view *view, const struct sink *history,
		     const struct sampled_function *function)
{
	const struct code_region *region = function->region;

	*ret = (struct generation){.function = function};
	if (!region)
		return;
	/* The time of the load event. With late loads, code is in force before that. */
	ret->loaded_ns =
		region->claims[0].before_run ? view->info->start_ns - 1 : region->claims[0].time_ns;
	if (history)
		ret->ended_ns = code_history_end(history, function->owner);
}

static int compare(const void *a_, const void *b_)
{
	const struct generation *a = a_, *b = b_;

	if (a->loaded_ns != b->loaded_ns)
		return a->loaded_ns < b->loaded_ns ? -1 : 1;
	if (a->function->owner != b->function->owner)
		return a->function->owner < b->function->owner ? -1 : 1;
	return a->function->start < b->function->start ? -1
						       : a->function->start > b->function->start;
}

void generations_sort(struct generation *generations, size_t count)
{
	qsort(generations, count, sizeof(*generations), compare);
}

/*
 * Those with most samples come first. Samples of the code that ran for source lines are in the
 * total of these, so the lines come before such code.
 */
static bool is_before(const struct generation *a, const struct generation *b)
{
	bool a_lines = a->function->kind == LOCATION_RUNTIME;
	bool b_lines = b->function->kind == LOCATION_RUNTIME;
	uint64_t a_samples = a_lines ? a->function->total : a->function->samples;
	uint64_t b_samples = b_lines ? b->function->total : b->function->samples;

	return a_samples != b_samples ? a_samples > b_samples : a_lines && !b_lines;
}

/* Returns true if generation `i` is shown after generation `last`; equal ones keep their order. */
static bool is_after(const struct generation *generations, size_t i, size_t last)
{
	return is_before(&generations[last], &generations[i]) ||
	       (!is_before(&generations[i], &generations[last]) && i > last);
}

size_t generations_next(const struct generation *generations, size_t count, size_t last)
{
	size_t next = count;

	for (size_t i = 0; i < count; i++) {
		if (last < count && !is_after(generations, i, last))
			continue;
		if (next == count || is_before(&generations[i], &generations[next]))
			next = i;
	}
	return next;
}
