/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/shown_profile.h"

#include <errno.h>

#include "sink/frame_text.h"

/* Returns true if the view may hide some nodes. */
static bool hides_any(const struct view *view)
{
	return view->options.kernel == VIEW_KERNEL_HIDDEN ||
	       (view->options.interpreter == VIEW_INTERPRETER_HIDDEN &&
		view->locations->interpreters);
}

bool shown_profile_hides(const struct view *view, uint32_t node)
{
	const struct profile_node *at = &view->profile->nodes.data[node];
	const struct location *location;

	if (!hides_any(view) || at->parent == PROFILE_NODE_NONE)
		return false;
	location = frame_text_location(view, at->location);
	if (!location)
		return false;
	if (location->is_interpreter)
		return view->options.interpreter == VIEW_INTERPRETER_HIDDEN;
	return view->options.kernel == VIEW_KERNEL_HIDDEN &&
	       location_kind_info(location->kind)->frame == FRAME_KIND_KERNEL;
}

uint32_t shown_profile_node(const struct view *view, uint32_t node)
{
	while (shown_profile_hides(view, node))
		node = view->profile->nodes.data[node].parent;
	return node;
}

static bool is_interpreter(const struct view *view, uint32_t node)
{
	const struct location *location =
		frame_text_location(view, view->profile->nodes.data[node].location);

	return location && location->is_interpreter;
}

uint32_t shown_profile_code(const struct view *view, uint32_t node)
{
	while (shown_profile_hides(view, node) && !is_interpreter(view, node))
		node = view->profile->nodes.data[node].parent;
	return node;
}

uint32_t shown_profile_runtime(const struct view *view, uint32_t node)
{
	const struct location *location;
	bool serves = false;

	while (view->profile->nodes.data[node].parent != PROFILE_NODE_NONE &&
	       is_interpreter(view, node)) {
		serves = true;
		node = view->profile->nodes.data[node].parent;
	}
	if (!serves || view->profile->nodes.data[node].parent == PROFILE_NODE_NONE)
		return PROFILE_NODE_NONE;
	location = frame_text_location(view, view->profile->nodes.data[node].location);
	return location && location->kind == LOCATION_RUNTIME ? node : PROFILE_NODE_NONE;
}

int shown_profile_counts(const struct view *view, struct thread_counts *scratch,
			 const struct thread_counts **ret)
{
	uint32_t number;

	if (!hides_any(view)) {
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
