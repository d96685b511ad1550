/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/life_search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/scope.h"
#include "base/search.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"
#include "state/code/code_region.h"

int life_search_begin(struct life_search *ret, const struct view *view,
		      const struct lives_wanted *wanted)
{
	*ret = (struct life_search){.wanted = *wanted};
	return view->epoch == wanted->epoch ? 0 : -ESTALE;
}

void life_search_deinit(struct life_search *search)
{
	vec_deinit(&search->counts);
	vec_deinit(&search->regions);
	index_map_deinit(&search->identities);
	vec_deinit(&search->found);
	*search = (struct life_search){0};
}

void life_list_deinit(struct life_list *list)
{
	vec_deinit(&list->lives);
	if (list->strings)
		string_pool_destroy(list->strings);
	*list = (struct life_list){0};
}

/* --- samples ------------------------------------------------------------------------------- */

static int count_nodes(struct life_search *search, const struct view *view, uint32_t end)
{
	while (search->counts.size < view->locations->locations.size) {
		if (vec_push(&search->counts, 0))
			return -ENOMEM;
	}
	for (; search->next_node < end; search->next_node++) {
		uint64_t self = view->profile->nodes.data[search->next_node].self;
		const struct profile_node *shown;

		search->total += self;
		if (!self)
			continue;
		shown = &view->profile->nodes.data[shown_profile_code(view, search->next_node)];
		if (shown->parent != PROFILE_NODE_NONE && shown->location < search->counts.size)
			search->counts.data[shown->location] += self;
	}
	return 0;
}

static uint64_t identity_hash(uint64_t identity)
{
	return hash_mix(identity, 1);
}

static bool has_identity(const void *regions, uint32_t item, const void *key)
{
	return ((const struct sampled_region *)regions)[item].identity == *(const uint64_t *)key;
}

static struct sampled_region *find_region(const struct life_search *search, uint64_t identity)
{
	uint32_t number = index_map_find(&search->identities, identity_hash(identity), has_identity,
					 search->regions.data, &identity);

	return number == INDEX_MAP_NONE ? NULL : &search->regions.data[number];
}

static int add_location(struct life_search *search, uint32_t number,
			const struct location *location)
{
	uint64_t identity = code_region_identity((const struct code_region *)location->code);
	struct sampled_region *region = find_region(search, identity);

	if (!region) {
		if (vec_push(&search->regions, (struct sampled_region){.identity = identity}))
			return -ENOMEM;
		if (index_map_insert(&search->identities, identity_hash(identity),
				     (uint32_t)search->regions.size - 1))
			return -ENOMEM;
		region = &search->regions.data[search->regions.size - 1];
	}
	region->samples += search->counts.data[number];
	region->location = number;
	return 0;
}

static int count_locations(struct life_search *search, const struct view *view, uint32_t end)
{
	for (; search->next_location < end; search->next_location++) {
		uint32_t number = search->next_location;
		const struct location *location = &view->locations->locations.data[number];

		if (search->counts.data[number] && location->kind == LOCATION_JIT &&
		    location->code && add_location(search, number, location))
			return -ENOMEM;
	}
	return 0;
}

/* --- lives --------------------------------------------------------------------------------- */

/* Numbers count modulo 2^32. */
static bool is_after(uint32_t number, uint32_t other)
{
	return (int32_t)(number - other) > 0;
}

/* Returns the index of the first life after a number: lives are in order of their numbers. */
static size_t first_after(const struct code_lives *lives, uint32_t number)
{
	return partition_point((size_t)0, lives->lives.size, at,
			       !is_after(lives->lives.data[at].number, number));
}

static const struct code_life *find_life(const struct code_lives *lives, uint32_t number)
{
	size_t at = first_after(lives, number - 1);

	return at < lives->lives.size && lives->lives.data[at].number == number
		       ? &lives->lives.data[at]
		       : NULL;
}

static bool is_in(const struct life_search *search, const struct view *view, uint64_t time_ns)
{
	uint64_t start_ns = view->info->start_ns;

	return time_ns >= start_ns && time_ns != UINT64_MAX &&
	       time_ns - start_ns >= search->wanted.from_ns &&
	       time_ns - start_ns < search->wanted.to_ns;
}

static bool is_wanted(const struct life_search *search, const struct view *view,
		      const struct code_life *method, const struct code_life *life)
{
	if (life->ended_ns < view->info->start_ns)
		return false;
	if (method)
		return life->name == method->name && life->class_name == method->class_name &&
		       life->module == method->module;
	return is_in(search, view, life->loaded_ns) || is_in(search, view, life->ended_ns);
}

static int compare_found(const void *a_, const void *b_)
{
	const struct found_life *a = a_, *b = b_;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

/* Keep the first LIFE_SEARCH_ROWS_MAX in order, and count the others. */
static void keep_first(struct life_search *search)
{
	if (search->found.size)
		qsort(search->found.data, search->found.size, sizeof(*search->found.data),
		      compare_found);
	while (search->found.size > LIFE_SEARCH_ROWS_MAX)
		code_left_out_add(&search->left_out,
				  search->found.data[--search->found.size].bytes);
}

static int add_life(struct life_search *search, const struct code_life *life)
{
	const struct sampled_region *region = find_region(search, life->identity);
	struct found_life found = {
		.number = life->number,
		.location = region ? region->location : 0,
		.samples = region ? region->samples : 0,
		.bytes = life->size_bytes,
	};

	if (vec_push(&search->found, found))
		return -ENOMEM;
	if (search->found.size == 2 * LIFE_SEARCH_ROWS_MAX)
		keep_first(search);
	return 0;
}

static int look_at_lives(struct life_search *search, const struct view *view,
			 const struct code_lives *lives, uint32_t max)
{
	const struct code_life *method = NULL;
	size_t at, end;

	if (search->wanted.method) {
		method = find_life(lives, search->wanted.method);
		if (!method)
			return -ENOENT;
	}
	if (search->phase == SEARCH_LIVES && lives->lives.size)
		search->last_number = lives->lives.data[0].number - 1;
	search->phase = SEARCH_MORE_LIVES;
	at = first_after(lives, search->last_number);
	end = lives->lives.size - at < max ? lives->lives.size : at + max;
	for (; at < end; at++) {
		const struct code_life *life = &lives->lives.data[at];

		search->last_number = life->number;
		if (is_wanted(search, view, method, life) && add_life(search, life))
			return -ENOMEM;
	}
	return end < lives->lives.size;
}

int life_search_step(struct life_search *search, const struct view *view,
		     const struct code_lives *lives, uint32_t max)
{
	uint32_t left;
	int err;

	if (view->epoch != search->wanted.epoch)
		return -ESTALE;
	if (search->phase == SEARCH_NODES) {
		left = (uint32_t)view->profile->nodes.size - search->next_node;
		err = count_nodes(search, view, search->next_node + (left < max ? left : max));
	} else if (search->phase == SEARCH_LOCATIONS) {
		left = (uint32_t)search->counts.size - search->next_location;
		err = count_locations(search, view,
				      search->next_location + (left < max ? left : max));
	} else {
		return look_at_lives(search, view, lives, max);
	}
	if (left <= max)
		search->phase++;
	return err ?: 1;
}

/* --- the list ------------------------------------------------------------------------------ */

static int copy_string(struct life_list *list, const char *text, uint32_t *ret)
{
	return string_pool_add(list->strings, text, strlen(text), ret);
}

/*
 * Set *ret to the outermost frame of a life's location. Returns false if the life has no samples,
 * or the frame has no name yet; then the names in struct code_life are used.
 */
static bool frame_name(const struct view *view, const struct found_life *found,
		       struct frame_text *ret)
{
	if (!found->samples)
		return false;
	frame_text_get(view, found->location, frame_text_count(view, found->location) - 1, ret);
	return ret->named;
}

/* Returns 0, -ENOMEM, or -EDQUOT: there is no room for the names. */
static int copy_life(struct life_list *list, const struct view *view,
		     const struct code_lives *lives, const struct found_life *found,
		     const struct code_life *life, size_t *text_bytes)
{
	const char *name = string_pool_get(lives->strings, life->name);
	const char *class_name = string_pool_get(lives->strings, life->class_name);
	const char *module = string_pool_get(lives->strings, life->module);
	const char *comm = string_pool_get(lives->strings, life->comm);
	struct listed_life listed = {
		.number = life->number,
		.pid = life->pid,
		.address = life->address,
		.bytes = life->size_bytes,
		.samples = found->samples,
		.loaded_ns = life->loaded_ns,
		.ended_ns = life->ended_ns,
	};
	struct frame_text frame;

	listed.framed = frame_name(view, found, &frame);
	if (listed.framed) {
		name = frame.name;
		class_name = "";
		module = frame.module;
	}
	*text_bytes += strlen(name) + strlen(class_name) + strlen(module) + strlen(comm);
	if (*text_bytes > LIFE_SEARCH_TEXT_BYTES)
		return -EDQUOT;
	return copy_string(list, name, &listed.name)
		       ?: copy_string(list, class_name, &listed.class_name)
		       ?: copy_string(list, module, &listed.module)
		       ?: copy_string(list, comm, &listed.comm)
		       ?: vec_push(&list->lives, listed);
}

int life_search_result(struct life_search *search, const struct view *view,
		       const struct code_lives *lives, struct life_list *ret)
{
	size_t text_bytes = 0;
	bool full = false;

	*ret = (struct life_list){0};
	if (view->epoch != search->wanted.epoch)
		return -ESTALE;
	if (string_pool_create(&ret->strings))
		return -ENOMEM;
	keep_first(search);
	ret->left_out = search->left_out;
	ret->forgotten = lives->forgotten;
	ret->total = search->total;
	ret->start_ns = view->info->start_ns;
	vec_for_each (found, &search->found) {
		const struct code_life *life = find_life(lives, found->number);

		int err = life && !full ? copy_life(ret, view, lives, found, life, &text_bytes)
					: -EDQUOT;

		if (err && err != -EDQUOT)
			return err;
		full = full || (life && err);
		if (err)
			code_left_out_add(&ret->left_out, found->bytes);
	}
	return 0;
}
