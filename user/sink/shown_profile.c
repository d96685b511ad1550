/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/shown_profile.h"

#include <errno.h>

#include "sink/frame_text.h"

bool shown_profile_hides(const struct view *view, uint32_t node)
{
	const struct profile_node *at = &view->profile->nodes.data[node];
	const struct location *location;

	if (view->options.kernel != VIEW_KERNEL_HIDDEN || at->parent == PROFILE_NODE_NONE)
		return false;
	location = frame_text_location(view, at->location);
	return location && location_kind_info(location->kind)->frame == FRAME_KIND_KERNEL;
}

uint32_t shown_profile_node(const struct view *view, uint32_t node)
{
	while (shown_profile_hides(view, node))
		node = view->profile->nodes.data[node].parent;
	return node;
}

int shown_profile_counts(const struct view *view, struct thread_counts *scratch,
			 const struct thread_counts **ret)
{
	uint32_t number;

	if (view->options.kernel != VIEW_KERNEL_HIDDEN) {
		*ret = view->threads;
		return 0;
	}
	vec_for_each (thread, &view->threads->threads) {
		if (thread_counts_thread(scratch, thread, &number))
			return -ENOMEM;
	}
	vec_for_each (count, &view->threads->counts) {
		if (thread_counts_add(scratch, shown_profile_node(view, count->node), count->thread,
				      count->samples, &number))
			return -ENOMEM;
	}
	*ret = scratch;
	return 0;
}
