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

/* By location, while the samples of a view are counted. */
struct counter {
	struct served {
		uint64_t samples;
		uint64_t lead; /* of the served location over all others, as in a majority vote */
		uint32_t location;
	} * counts;
	size_t count;
	uint64_t total;
	struct line_totals totals;
};

static void counter_deinit(struct counter *c)
{
	free(c->counts);
	line_totals_deinit(&c->totals);
}

static void vote(struct served *count, uint32_t location, uint64_t samples)
{
	if (!count->lead || count->location == location) {
		count->location = location;
		count->lead += samples;
	} else if (count->lead >= samples) {
		count->lead -= samples;
	} else {
		count->location = location;
		count->lead = samples - count->lead;
	}
}

/* Count the samples of a node for the machine code that ran, and the runtime's function. */
static void count_node(struct counter *c, const struct view *view, uint32_t node)
{
	const struct profile_node *nodes = view->profile->nodes.data;
	uint64_t self = nodes[node].self;
	uint32_t code = shown_profile_code(view, node), runtime;

	if (nodes[code].parent == PROFILE_NODE_NONE || nodes[code].location >= c->count)
		return;
	c->counts[nodes[code].location].samples += self;
	runtime = shown_profile_runtime(view, code);
	if (runtime == PROFILE_NODE_NONE)
		return;
	c->counts[nodes[runtime].location].samples += self;
	vote(&c->counts[nodes[code].location], nodes[runtime].location, self);
}

static int count_samples(struct counter *c, const struct view *view)
{
	int err;

	c->count = view->locations->locations.size;
	c->counts = calloc(c->count ?: 1, sizeof(*c->counts));
	err = line_totals_init(&c->totals, (uint32_t)c->count);
	for (uint32_t i = 0; i < c->count && !err && c->counts; i++) {
		if (view->locations->locations.data[i].kind == LOCATION_RUNTIME)
			err = line_totals_add(&c->totals, view, i);
	}
	if (err || !c->counts)
		return -ENOMEM;
	for (uint32_t i = 0; i < view->profile->nodes.size; i++) {
		uint64_t self = view->profile->nodes.data[i].self;

		c->total += self;
		if (!self)
			continue;
		count_node(c, view, i);
		if (c->totals.lines.size)
			line_totals_count(&c->totals, view->profile, i);
	}
	return 0;
}

/* Set the parts of a function of a runtime. Returns false if its name is not known. */
static bool find_runtime_function(const struct view *view, uint32_t number,
				  const struct frame_text *text, struct found_place *ret)
{
	uint32_t count;
	const struct frame *frame = frame_table_get(view->frames, number, &count);

	if (!frame || !text->named || frame->function == NAMED_FUNCTION_NONE)
		return false;
	ret->function.owner = frame->function;
	ret->function.file = text->file;
	ret->function.tier = CODE_TIER_PLAIN;
	ret->place.offset = text->line;
	return true;
}

/* Returns false if the location has no function: it is unknown, or has no name. */
static bool find_function(const struct view *view, uint32_t number, struct found_place *ret)
{
	const struct location *location = frame_text_location(view, number);
	struct sampled_function *function = &ret->function;
	struct frame_text frame;

	frame_text_get(view, number, frame_text_count(view, number) - 1, &frame);
	*function = (struct sampled_function){.kind = location->kind,
					      .frame = frame.kind,
					      .name = frame.name,
					      .module = frame.module,
					      .function = frame.function,
					      .function_file = frame.function_file,
					      .file = "",
					      .tier = frame.tier,
					      .serves = SERVES_NONE};
	ret->place.offset = location->offset;
	switch (location->kind) {
	case LOCATION_JIT:
		function->region = (const struct code_region *)location->code;
		if (!function->region)
			return false;
		function->owner = code_region_identity(function->region);
		return true;
	case LOCATION_RUNTIME:
		return find_runtime_function(view, number, &frame, ret);
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
	if (last->kind == LOCATION_RUNTIME)
		last->total = found->function.total;
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

/* Returns true if code that ran for a runtime's function is of it: an interpreter's is of all. */
static bool is_for_one(const struct view *view, uint32_t served)
{
	return served != LOCATION_NO_ROOM &&
	       view->locations->locations.data[served].offset & JITBPF_POSITION_COMPILED;
}

/* Add a location to the list, unless it has no samples, or no function. */
static int find_place(place_list *found, const struct view *view,
		      const struct counted_location *counted, const struct line_totals *totals)
{
	struct found_place place = {
		.place = {.location = counted->location, .samples = counted->samples}};
	uint64_t whole = 0, total = line_totals_get(totals, counted->location, &whole);
	uint32_t count;

	if ((!counted->samples && !total) || !find_function(view, counted->location, &place))
		return 0;
	place.place.total = total;
	place.function.total = whole;
	if (place.function.kind == LOCATION_JIT && is_for_one(view, counted->served)) {
		const struct frame *frame = frame_table_get(view->frames, counted->served, &count);

		if (frame && frame->function != NAMED_FUNCTION_NONE)
			place.function.serves = frame->function;
	}
	return vec_push(found, place);
}

int function_samples_of(struct function_samples *ret, const struct view *view,
			const counted_locations *locations, const struct line_totals *totals)
{
	AUTO_FREE struct found_place *owned = NULL;
	place_list found = {0};
	int err = 0;

	*ret = (struct function_samples){0};
	vec_for_each (counted, locations)
		err = err ?: find_place(&found, view, counted, totals);
	owned = found.data;
	return err ?: add_places(ret, &found);
}

int function_samples_init(struct function_samples *ret, const struct view *view)
{
	AUTO_FREE struct counted_location *owned = NULL;
	CLEANUP(counter_deinit) struct counter counter = {0};
	counted_locations locations = {0};
	int err = count_samples(&counter, view);

	*ret = (struct function_samples){0};
	for (uint32_t i = 0; i < counter.count && !err; i++) {
		const struct served *count = &counter.counts[i];

		if (count->samples || counter.totals.of_location[i])
			err = vec_push(&locations, ((struct counted_location){
							   .location = i,
							   .served = count->lead ? count->location
										 : LOCATION_NO_ROOM,
							   .samples = count->samples}));
	}
	owned = locations.data;
	err = err ?: function_samples_of(ret, view, &locations, &counter.totals);
	ret->total = counter.total;
	return err;
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
		    (module && !strstr(function->module, module) &&
		     !strstr(function->file, module) && !strstr(function->function_file, module)))
			continue;
		if (match < best)
			count = 0;
		best = match;
		ranked[count++] = (struct ranked){i, function->total ?: function->samples};
	}
	if (count)
		qsort(ranked, count, sizeof(*ranked), compare_ranked);
	for (size_t i = 0; i < count && !err; i++)
		err = vec_push(ret, ranked[i].number);
	return err;
}

/* Compiled code that runs without a frame of the runtime, as Java's, is known by name and file. */
static bool is_compiled(const struct sampled_function *code, const struct sampled_function *runtime)
{
	return code->kind == LOCATION_JIT && code->serves == SERVES_NONE && *code->function_file &&
	       !strcmp(code->function, runtime->function) &&
	       !strcmp(code->function_file, runtime->function_file);
}

bool sampled_function_is_same(const struct sampled_function *a, const struct sampled_function *b)
{
	if (a->kind == LOCATION_RUNTIME && b->kind == LOCATION_RUNTIME)
		return a->owner == b->owner;
	if (a->kind == LOCATION_RUNTIME)
		return b->serves == a->owner || is_compiled(b, a);
	if (b->kind == LOCATION_RUNTIME)
		return is_compiled(a, b);
	return a->kind == b->kind && !strcmp(a->function, b->function) &&
	       !strcmp(a->module, b->module) && !strcmp(a->function_file, b->function_file);
}

int function_samples_add_pieces(const struct function_samples *samples, const char *name,
				function_list *ret)
{
	const struct sampled_function *first;
	int err = 0;

	if (!ret->size)
		return 0;
	first = &samples->functions.data[ret->data[0]];
	if (first->kind != LOCATION_RUNTIME && !strcmp(first->name, name) &&
	    strcmp(first->function, name) != 0)
		return 0;
	for (uint32_t i = 0; i < samples->functions.size && !err; i++) {
		bool listed = !sampled_function_is_same(first, &samples->functions.data[i]);

		for (size_t k = 0; k < ret->size && !listed; k++)
			listed = ret->data[k] == i;
		if (!listed)
			err = vec_push(ret, i);
	}
	return err;
}
