/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "tests/conformance/shim_truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "profile/profile.h"

void shim_truth_deinit(struct shim_truth *truth)
{
	vec_deinit(&truth->queries);
	vec_deinit(&truth->doubts);
}

int shim_truth_add(struct shim_truth *truth, const struct shim_query *query)
{
	return vec_push(&truth->queries, *query);
}

int shim_truth_doubt(struct shim_truth *truth, const struct shim_doubt *doubt)
{
	return vec_push(&truth->doubts, *doubt);
}

static const struct shim_doubt *doubt_at(const struct shim_truth *truth, uint64_t time_ns)
{
	const struct shim_doubt *found = NULL;

	vec_for_each (doubt, &truth->doubts) {
		if (time_ns >= doubt->from_ns && time_ns <= doubt->to_ns &&
		    (!found || doubt->left_out))
			found = doubt;
	}
	return found;
}

/* Returns true if code is known there. */
static bool text_of(const struct view *view, const struct profile_node *node,
		    char text[SHIM_TEXT_BYTES])
{
	const struct location *location = &view->locations->locations.data[node->location];
	const struct code_region *region = (const struct code_region *)location->code;

	if (location->kind != LOCATION_JIT)
		return false;
	code_text(region, region->address + location->offset, text);
	return true;
}

/* Returns the region's part of a text, which follows the inlined methods. */
static const char *region_in(const char *text)
{
	const char *at = text, *next;

	while ((next = strstr(at, " < ")))
		at = next + 3;
	return at;
}

/* Returns true for the region's name, without source and line, which may be unknown. */
static bool is_name_of(const struct shim_query *query, size_t place, const char *region)
{
	char name[SHIM_TEXT_BYTES + 2];

	snprintf(name, sizeof(name), "|%.*s|", (int)strcspn(region, "@"), region);
	return strstr(query->names[place], name);
}

/*
 * Returns true for a level that is inlined there, or that was reported after
 * the region's load and is missing only because of another level that was
 * reported before and lost.
 */
static bool is_level_of(const struct shim_query *query, size_t place, const char *level,
			size_t bytes)
{
	const char *wanted = query->text[place], *names = query->names[place];
	const char *own = names + strlen(names) - 2; /* "|m1|m7||": the last name */

	for (; wanted; wanted = strstr(wanted, " < ")) {
		wanted += *wanted == ' ' ? 3 : 0;
		if (strncmp(wanted, level, bytes) == 0)
			return true;
	}
	while (own > names && *own != 'm')
		own--;
	return strtoul(level + 1, NULL, 10) > strtoul(own + 1, NULL, 10);
}

static bool are_levels_of(const struct shim_query *query, size_t place, const char *text,
			  const char *region)
{
	while (text < region) {
		const char *next = strstr(text, " < ") + 3;

		if (!is_level_of(query, place, text, (size_t)(next - text)))
			return false;
		text = next;
	}
	return true;
}

static bool is_part(const struct shim_query *query, size_t place, const char *text,
		    const struct shim_doubt *doubt)
{
	const char *region = region_in(text);

	return is_name_of(query, place, region) &&
	       (doubt->left_out || are_levels_of(query, place, text, region));
}

static void compare(struct shim_truth *truth, const struct shim_query *query, size_t place,
		    bool known, const char *text)
{
	const char *wanted = query->known[place] ? query->text[place] : "nothing";
	const struct shim_doubt *doubt = doubt_at(truth, query->time_ns);

	if (known == query->known[place] && (!known || strcmp(text, wanted) == 0)) {
		truth->right++;
		truth->named += known;
	} else if (!known && doubt) {
		truth->unknown++;
	} else if (known && query->known[place] && doubt && is_part(query, place, text, doubt)) {
		truth->partial++;
	} else if (!truth->wrong++) {
		snprintf(truth->says, sizeof(truth->says),
			 "after event %zu, at %llu, frame %zu: %s, and not %s", query->event,
			 (unsigned long long)query->time_ns, place, known ? text : "nothing",
			 wanted);
	}
}

static int truth_sample(struct sink *sink, const struct view *view,
			const struct sink_sample *sample)
{
	struct shim_truth *truth = (struct shim_truth *)sink;
	const struct profile_node *nodes = view->profile->nodes.data, *node = &nodes[sample->node];
	const struct shim_query *query = &truth->queries.data[truth->answered++];

	if (truth->answered > truth->queries.size || query->time_ns != sample->time_ns ||
	    sample->user_frames != SHIM_PLACES)
		return -EPROTO;
	for (size_t i = 0; i < SHIM_PLACES; i++, node = &nodes[node->parent]) {
		char text[SHIM_TEXT_BYTES];
		bool known = text_of(view, node, text);

		compare(truth, query, i, known, text);
	}
	return 0;
}

static int truth_create(FILE *out, struct sink **ret)
{
	*ret = (struct sink *)out;
	return 0;
}

static int truth_finish(struct sink *sink, const struct view *view)
{
	return 0;
}

static void truth_destroy(struct sink *sink)
{
}

const struct sink_ops shim_truth_sink = {
	.name = "truth",
	.extension = ".truth",
	.create = truth_create,
	.sample = truth_sample,
	.finish = truth_finish,
	.destroy = truth_destroy,
};
