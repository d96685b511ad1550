/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/epoch/cut_paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "locate/locate.h"
#include "pipeline/analysis/epoch/epoch.h"

/* Parts of the reserve, beside EPOCH_LEAF_SHARE: for sets of callers, and for some in order. */
#define SETS_SHARE    4
#define CALLERS_SHARE 8

/* Find the node of a path or, if there is room in the reserve, add it. */
static int node_from_reserve(struct epoch *epoch, struct event_counts *counts,
			     const struct epoch_path *path, uint64_t share, uint32_t *ret)
{
	bool room = epoch_has_reserve(epoch, (path->count + 1ul) * PROFILE_NODE_BYTES, share);
	size_t nodes = counts->profile.nodes.size;
	uint32_t before = epoch->payer;
	int err;

	epoch->payer = room ? EPOCH_FREE : EPOCH_FULL;
	err = profile_node_of(&counts->profile, path->row, path->comm, path->locations, path->count,
			      ret);
	epoch->payer = before;
	epoch_pay_from_reserve(epoch, (counts->profile.nodes.size - nodes) * PROFILE_NODE_BYTES);
	return err > 0 ? -EDQUOT : err;
}

/* Parts of a path that has no room for all of its frames in order. */
struct path_part {
	uint32_t user_kept; /* frames of user space that are in order, as those of the kernel */
	bool leaf_only;	    /* in place of these: the innermost frame */
	bool callers;	    /* the other frames, in no order */
	uint32_t share;	    /* of the reserve */
};

/* From most to least. What a view without the kernel's frames shows as SELF is kept for long. */
static const struct path_part path_parts[] = {
	{.user_kept = 8, .callers = true, .share = CALLERS_SHARE},
	{.user_kept = 4, .callers = true, .share = CALLERS_SHARE},
	{.user_kept = 2, .callers = true, .share = CALLERS_SHARE},
	{.user_kept = 1, .callers = true, .share = SETS_SHARE},
	{.user_kept = 1, .share = SETS_SHARE},
	{.leaf_only = true, .share = EPOCH_LEAF_SHARE},
};

/* The callers of a path, without an order: their different locations between two marks. */
struct caller_set {
	uint32_t locations[LOCATED_FRAMES_MAX + 3];
	uint32_t count;
};

static int compare_numbers(const void *a_, const void *b_)
{
	uint32_t a = *(const uint32_t *)a_, b = *(const uint32_t *)b_;

	return (a > b) - (a < b);
}

/*
 * Get the locations of all but the innermost frame of user space and those of the kernel. The
 * outermost ones were mostly seen first, so that sets that begin with them share nodes.
 */
static int get_callers(struct epoch *epoch, const struct epoch_path *path, struct caller_set *ret)
{
	uint32_t mark, unknown, from = path->kernel_count + 1, last = PROFILE_NO_LOCATION;
	uint32_t *set = ret->locations + 1, count = 0;
	int err = epoch_location(epoch, LOCATION_UNORDERED, &mark);

	err = err ?: epoch_location(epoch, LOCATION_OTHERS, &unknown);
	if (err)
		return err;
	for (uint32_t i = from; i < path->count; i++) {
		bool known = path->locations[i] != PROFILE_NO_LOCATION;

		set[count++] = known ? path->locations[i] : unknown;
	}
	qsort(set, count, sizeof(*set), compare_numbers);
	ret->count = 0;
	ret->locations[ret->count++] = mark;
	for (uint32_t i = 0; i < count; i++) {
		if (set[i] != last)
			ret->locations[ret->count++] = set[i];
		last = ret->locations[ret->count - 1];
	}
	/* Leaf first. */
	for (uint32_t i = 1, j = ret->count - 1; i < j; i++, j--) {
		uint32_t swapped = ret->locations[i];

		ret->locations[i] = ret->locations[j];
		ret->locations[j] = swapped;
	}
	ret->locations[ret->count++] = mark;
	return 0;
}

int epoch_inner_node(struct epoch *epoch, struct event_counts *counts,
		     const struct epoch_path *path, struct epoch_inner *ret)
{
	uint32_t locations[2 * LOCATED_FRAMES_MAX + 4], others;
	struct caller_set callers;
	int err = get_callers(epoch, path, &callers);

	err = err ?: epoch_location(epoch, LOCATION_OTHERS, &others);
	if (err)
		return err;
	err = -EDQUOT;
	for (size_t i = 0; i < ARRAY_SIZE(path_parts) && err == -EDQUOT; i++) {
		const struct path_part *part = &path_parts[i];
		uint32_t kept = part->leaf_only ? 1 : path->kernel_count + part->user_kept;
		struct epoch_path inner = *path;

		inner.locations = locations;
		kept = kept < path->count ? kept : path->count;
		memcpy(locations, path->locations, kept * sizeof(*locations));
		inner.count = kept;
		if (kept < path->count && part->callers) {
			memcpy(locations + kept, callers.locations,
			       callers.count * sizeof(*locations));
			inner.count += callers.count;
		} else if (kept < path->count) {
			locations[inner.count++] = others;
		}
		ret->kept = kept;
		ret->hides = kept < path->count && !part->callers;
		err = node_from_reserve(epoch, counts, &inner, part->share, &ret->node);
	}
	return err;
}
