/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/function_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sink/frame_text.h"
#include "sink/shown_profile.h"

/* The function that a location is in: its outermost frame. */
static void outermost(const struct view *view, uint32_t location, struct frame_text *ret)
{
	frame_text_get(view, location, frame_text_count(view, location) - 1, ret);
}

int function_search_begin(struct function_search *ret, const struct view *view, uint32_t epoch,
			  uint32_t location)
{
	const struct location *found;

	*ret = (struct function_search){.epoch = epoch, .location = location};
	if (view->epoch != epoch)
		return -ESTALE;
	found = location < view->locations->locations.size ? frame_text_location(view, location)
							   : NULL;
	if (!found || !location_kind_info(found->kind)->has_function)
		return -ENOENT;
	ret->location_count = (uint32_t)view->locations->locations.size;
	ret->matches = calloc(ret->location_count, sizeof(*ret->matches));
	return ret->matches ? 0 : -ENOMEM;
}

void function_search_deinit(struct function_search *search)
{
	free(search->matches);
	vec_deinit(&search->found);
	vec_deinit(&search->counts);
	*search = (struct function_search){0};
}

static int find_locations(struct function_search *search, const struct view *view, uint32_t end)
{
	const struct location *locations = view->locations->locations.data;
	struct frame_text wanted, text;

	outermost(view, search->location, &wanted);
	for (; search->next_location < end && search->found.size < FUNCTION_SEARCH_MAX;
	     search->next_location++) {
		uint32_t location = search->next_location;

		if (locations[location].kind != locations[search->location].kind)
			continue;
		outermost(view, location, &text);
		if (text.name != wanted.name && strcmp(text.name, wanted.name) != 0)
			continue;
		if (text.module != wanted.module && strcmp(text.module, wanted.module) != 0)
			continue;
		if (vec_push(&search->found, location) || vec_push(&search->counts, 0))
			return -ENOMEM;
		search->matches[location] = (uint32_t)search->found.size;
	}
	search->next_location = end;
	return 0;
}

static void count_nodes(struct function_search *search, const struct view *view, uint32_t end)
{
	for (; search->next_node < end; search->next_node++) {
		uint64_t self = view->profile->nodes.data[search->next_node].self;
		const struct profile_node *shown;

		search->total += self;
		if (!self)
			continue;
		shown = &view->profile->nodes.data[shown_profile_node(view, search->next_node)];
		if (shown->parent != PROFILE_NODE_NONE &&
		    shown->location < search->location_count && search->matches[shown->location])
			search->counts.data[search->matches[shown->location] - 1] += self;
	}
}

int function_search_step(struct function_search *search, const struct view *view, uint32_t max)
{
	uint32_t nodes = (uint32_t)view->profile->nodes.size;
	uint32_t left = search->location_count - search->next_location;

	if (view->epoch != search->epoch)
		return -ESTALE;
	if (left)
		return find_locations(search, view,
				      search->next_location + (left < max ? left : max))
			       ?: 1;
	left = nodes - search->next_node;
	count_nodes(search, view, search->next_node + (left < max ? left : max));
	return search->next_node < nodes;
}

int function_search_result(const struct function_search *search, const struct view *view,
			   struct function_samples *ret)
{
	int err;

	*ret = (struct function_samples){0};
	if (view->epoch != search->epoch)
		return -ESTALE;
	err = function_samples_of(ret, view, search->found.data, search->counts.data,
				  search->found.size);
	ret->total = search->total;
	return err ?: ret->functions.size ? 0 : -ENOENT;
}
