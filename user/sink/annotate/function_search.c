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
	if (!ret->matches)
		return -ENOMEM;
	return 0;
}

void function_search_deinit(struct function_search *search)
{
	free(search->matches);
	vec_deinit(&search->found);
	line_totals_deinit(&search->totals);
	*search = (struct function_search){0};
}

/* Find samples of a location, too. */
static int add_location(struct function_search *search, uint32_t location)
{
	if (vec_push(&search->found,
		     ((struct counted_location){.location = location, .served = LOCATION_NO_ROOM})))
		return -ENOMEM;
	search->matches[location] = (uint32_t)search->found.size;
	return 0;
}

/* Count the lines of a function of a runtime. */
static int add_lines(struct function_search *search, const struct view *view, uint32_t location)
{
	int err = search->totals.lines.size
			  ? 0
			  : line_totals_init(&search->totals, search->location_count);

	return err ?: line_totals_add(&search->totals, view, location);
}

/* Locations of a function: of one kind, or those that interpreted and compiled it. */
static bool can_be_of_one(uint8_t kind, uint8_t other)
{
	return kind == other || (kind == LOCATION_JIT && other == LOCATION_RUNTIME) ||
	       (kind == LOCATION_RUNTIME && other == LOCATION_JIT);
}

static int find_locations(struct function_search *search, const struct view *view, uint32_t end)
{
	const struct location *locations = view->locations->locations.data;
	struct frame_text wanted, text;

	outermost(view, search->location, &wanted);
	for (; search->next_location < end && search->found.size < FUNCTION_SEARCH_MAX;
	     search->next_location++) {
		uint32_t location = search->next_location;

		if (!can_be_of_one(locations[location].kind, locations[search->location].kind))
			continue;
		outermost(view, location, &text);
		if (text.name != wanted.name && strcmp(text.name, wanted.name) != 0)
			continue;
		if (text.module != wanted.module && strcmp(text.module, wanted.module) != 0)
			continue;
		if (add_location(search, location) ||
		    (locations[location].kind == LOCATION_RUNTIME &&
		     add_lines(search, view, location)))
			return -ENOMEM;
	}
	search->next_location = end;
	return 0;
}

static struct counted_location *match(struct function_search *search, uint32_t location)
{
	uint32_t number = location < search->location_count ? search->matches[location] : 0;

	return number ? &search->found.data[number - 1] : NULL;
}

/* Count a node whose JIT code ran for the function. */
static int count_served(struct function_search *search, const struct view *view, uint32_t code,
			uint32_t runtime, uint64_t self)
{
	const struct profile_node *nodes = view->profile->nodes.data;
	struct counted_location *found = match(search, nodes[runtime].location);
	uint32_t location = nodes[code].location;

	if (!found)
		return 0;
	found->samples += self;
	if (location >= search->location_count ||
	    view->locations->locations.data[location].kind != LOCATION_JIT)
		return 0;
	if (!match(search, location) &&
	    (search->found.size >= FUNCTION_SEARCH_MAX || add_location(search, location)))
		return search->found.size >= FUNCTION_SEARCH_MAX ? 0 : -ENOMEM;
	found = match(search, location);
	found->served = nodes[runtime].location;
	found->samples += self;
	return 0;
}

static int count_node(struct function_search *search, const struct view *view, uint32_t node)
{
	const struct profile_node *nodes = view->profile->nodes.data;
	uint32_t code = shown_profile_code(view, node), runtime;
	struct counted_location *found;

	if (nodes[code].parent == PROFILE_NODE_NONE)
		return 0;
	runtime = search->totals.lines.size ? shown_profile_runtime(view, code) : PROFILE_NODE_NONE;
	if (runtime != PROFILE_NODE_NONE)
		return count_served(search, view, code, runtime, nodes[node].self);
	found = match(search, nodes[code].location);
	if (found)
		found->samples += nodes[node].self;
	return 0;
}

/* Count nodes until `max` of them, or of the frames of their stacks, were looked at. */
static int count_nodes(struct function_search *search, const struct view *view, uint32_t max)
{
	uint32_t nodes = (uint32_t)view->profile->nodes.size, seen = 0;

	for (; search->next_node < nodes && seen < max; search->next_node++, seen++) {
		uint64_t self = view->profile->nodes.data[search->next_node].self;

		search->total += self;
		if (!self)
			continue;
		if (search->totals.lines.size)
			seen += line_totals_count(&search->totals, view->profile,
						  search->next_node);
		if (count_node(search, view, search->next_node))
			return -ENOMEM;
	}
	return search->next_node < nodes;
}

int function_search_step(struct function_search *search, const struct view *view, uint32_t max)
{
	uint32_t left = search->location_count - search->next_location;

	if (view->epoch != search->epoch)
		return -ESTALE;
	if (left)
		return find_locations(search, view,
				      search->next_location + (left < max ? left : max))
			       ?: 1;
	return count_nodes(search, view, max);
}

int function_search_result(const struct function_search *search, const struct view *view,
			   struct function_samples *ret)
{
	int err;

	*ret = (struct function_samples){0};
	if (view->epoch != search->epoch)
		return -ESTALE;
	err = function_samples_of(ret, view, &search->found, &search->totals);
	ret->total = search->total;
	return err ?: ret->functions.size ? 0 : -ENOENT;
}
