/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/annotate/function_samples.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"
#include "state/code/code_region.h"

/* A location with samples, and the function that it is in. */
struct found_place {
	struct sampled_function function; /* without samples and places */
	struct place_samples place;
};

typedef VEC(struct found_place) place_list;

void function_samples_deinit(struct function_samples *samples)
{
	vec_deinit(&samples->places);
	vec_deinit(&samples->functions);
}

/* Count the samples of a view by the location of their innermost frame that is shown. */
static int count_samples(const struct view *view, uint64_t **ret, uint64_t *ret_total)
{
	size_t count = view->locations->locations.size;
	uint64_t *counts = calloc(count ?: 1, sizeof(*counts));

	if (!counts)
		return -ENOMEM;
	*ret_total = 0;
	for (uint32_t i = 0; i < view->profile->nodes.size; i++) {
		const struct profile_node *shown;
		uint64_t self = view->profile->nodes.data[i].self;

		*ret_total += self;
		if (!self)
			continue;
		shown = &view->profile->nodes.data[shown_profile_node(view, i)];
		if (shown->parent != PROFILE_NODE_NONE && shown->location < count)
			counts[shown->location] += self;
	}
	*ret = counts;
	return 0;
}

/* Returns false if the location has no function: it is unknown, or has no name. */
static bool find_function(const struct view *view, uint32_t number, struct found_place *ret)
{
	const struct location *location = frame_text_location(view, number);
	struct sampled_function *function = &ret->function;
	struct frame_text frame;

	frame_text_get(view, number, frame_text_count(view, number) - 1, &frame);
	*function = (struct sampled_function){.kind = location->kind,
					      .name = frame.name,
					      .module = frame.module,
					      .function = frame.function};
	ret->place.offset = location->offset;
	switch (location->kind) {
	case LOCATION_JIT:
		function->region = (const struct code_region *)location->code;
		if (!function->region)
			return false;
		function->owner = code_region_identity(function->region);
		return true;
	case LOCATION_KERNEL_CODE:
		function->owner = location->owner;
		return frame.named;
	case LOCATION_NATIVE:
		function->owner = location->owner;
		/* fall through */
	case LOCATION_KERNEL:
		if (!frame.named || frame.symbol_offset > location->offset)
			return false;
		function->start = location->offset - frame.symbol_offset;
		ret->place.offset = frame.symbol_offset;
		return true;
	default:
		return false;
	}
}

static int compare_functions(const struct sampled_function *a, const struct sampled_function *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	/* Several symbols have one address, or the recording was edited. */
	return a->name == b->name ? 0 : strcmp(a->name, b->name);
}

static int compare_places(const void *a_, const void *b_)
{
	const struct found_place *a = a_, *b = b_;
	int order = compare_functions(&a->function, &b->function);

	if (order)
		return order;
	if (a->place.offset != b->place.offset)
		return a->place.offset < b->place.offset ? -1 : 1;
	return a->place.location < b->place.location ? -1 : a->place.location > b->place.location;
}

static int add_place(struct function_samples *samples, const struct found_place *found)
{
	struct sampled_function *last = NULL;

	if (samples->functions.size)
		last = &samples->functions.data[samples->functions.size - 1];
	if (!last || compare_functions(last, &found->function)) {
		if (vec_push(&samples->functions, found->function))
			return -ENOMEM;
		last = &samples->functions.data[samples->functions.size - 1];
		last->first = (uint32_t)samples->places.size;
	}
	if (found->function.region && last->region->number < found->function.region->number)
		last->region = found->function.region;
	last->samples += found->place.samples;
	last->count++;
	return vec_push(&samples->places, found->place);
}

static int add_places(struct function_samples *ret, place_list *found)
{
	int err = 0;

	if (found->size)
		qsort(found->data, found->size, sizeof(*found->data), compare_places);
	vec_for_each (place, found)
		err = err ?: add_place(ret, place);
	return err;
}

int function_samples_of(struct function_samples *ret, const struct view *view,
			const uint32_t *locations, const uint64_t *counts, size_t count)
{
	AUTO_FREE struct found_place *owned = NULL;
	place_list found = {0};
	int err = 0;

	*ret = (struct function_samples){0};
	for (size_t i = 0; i < count && !err; i++) {
		struct found_place place = {
			.place = {.location = locations[i], .samples = counts[i]}};

		if (counts[i] && find_function(view, locations[i], &place))
			err = vec_push(&found, place);
	}
	owned = found.data;
	return err ?: add_places(ret, &found);
}

int function_samples_init(struct function_samples *ret, const struct view *view)
{
	AUTO_FREE struct found_place *owned = NULL;
	AUTO_FREE uint64_t *counts = NULL;
	place_list found = {0};
	int err;

	*ret = (struct function_samples){0};
	err = count_samples(view, &counts, &ret->total);
	for (uint32_t i = 0; i < view->locations->locations.size && !err; i++) {
		struct found_place place = {.place = {.location = i, .samples = counts[i]}};

		if (counts[i] && find_function(view, i, &place))
			err = vec_push(&found, place);
	}
	owned = found.data;
	return err ?: add_places(ret, &found);
}

/* --- names ---------------------------------------------------------------------------- */

/* Returns the length of a name without its arguments: "a::b(int)" is "a::b". */
static size_t bare_bytes(const char *name)
{
	const char *end = strchr(name, '(');

	/* "(anonymous namespace)::f(int)", "operator()(int)" */
	while (end && (end == name || !strncmp(end, "(anonymous", 10) || end[1] == ')'))
		end = strchr(end + 1, '(');
	return end ? (size_t)(end - name) : strlen(name);
}

enum name_match name_match_of(const char *name, const char *function, const char *wanted)
{
	size_t bytes = bare_bytes(name), wanted_bytes = strlen(wanted);
	const char *rest;

	if (!strcmp(name, wanted))
		return NAME_EQUAL;
	if (!strcmp(function, wanted))
		return NAME_FUNCTION;
	if (wanted_bytes <= bytes && wanted_bytes) {
		rest = name + bytes - wanted_bytes;
		if (!strncmp(rest, wanted, wanted_bytes) &&
		    (rest == name || rest[-1] == ':' || rest[-1] == '.' || rest[-1] == '$'))
			return NAME_PART;
	}
	return strcasestr(name, wanted) ? NAME_WITHIN : NAME_OTHER;
}

struct ranked {
	uint32_t number;
	uint64_t samples;
};

static int compare_ranked(const void *a_, const void *b_)
{
	const struct ranked *a = a_, *b = b_;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

int function_samples_find(const struct function_samples *samples, const char *name,
			  const char *module, function_list *ret)
{
	AUTO_FREE struct ranked *ranked =
		reallocarray(NULL, samples->functions.size ?: 1, sizeof(*ranked));
	enum name_match best = NAME_OTHER;
	size_t count = 0;
	int err = ranked ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < samples->functions.size && !err; i++) {
		const struct sampled_function *function = &samples->functions.data[i];
		enum name_match match = name_match_of(function->name, function->function, name);

		if (match == NAME_OTHER || match > best ||
		    (module && !strstr(function->module, module)))
			continue;
		if (match < best)
			count = 0;
		best = match;
		ranked[count++] = (struct ranked){i, function->samples};
	}
	if (count)
		qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count && !err; i++)
		err = vec_push(ret, ranked[i].number);
	return err;
}
