/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/naming.h"

#include <string.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"

bool naming_of_node(const struct view *view, uint32_t node)
{
	const struct profile_node *shown =
		&view->profile->nodes.data[shown_profile_node(view, node)];
	struct frame_text frame;

	if (shown->parent == PROFILE_NODE_NONE)
		return true;
	frame_text_get(view, shown->location, 0, &frame);
	return frame.named;
}

static void count(struct naming_count *at, uint64_t samples, bool named)
{
	at->samples += samples;
	at->named += named ? samples : 0;
}

int naming_count(const struct view *view, struct naming *ret)
{
	const struct profile *profile = view->profile;
	size_t nodes = profile->nodes.size, processes = view->ledger->processes.size;
	AUTO_FREE uint32_t *process_of = calloc(nodes + 1, sizeof(*process_of));

	if (!process_of || vec_reserve(&ret->processes, processes + 1))
		return -ENOMEM;
	memset(ret->processes.data, 0, (processes + 1) * sizeof(*ret->processes.data));
	ret->processes.size = processes;
	for (uint32_t i = 0; i < nodes; i++) { /* parents come before their children */
		const struct profile_node *node = &profile->nodes.data[i];
		bool named;

		process_of[i] = node->parent == PROFILE_NODE_NONE ? node->location
								  : process_of[node->parent];
		if (!node->self)
			continue;
		named = naming_of_node(view, i);
		count(&ret->all, node->self, named);
		if (process_of[i] < processes)
			count(&ret->processes.data[process_of[i]], node->self, named);
	}
	return 0;
}

void naming_deinit(struct naming *naming)
{
	vec_deinit(&naming->processes);
}
