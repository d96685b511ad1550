/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/stack_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"
#include "sink/frame_text.h"
#include "sink/shown_profile.h"

/* State of building a table. */
struct builder {
	struct stack_table *table;
	const struct view *view;
	stack_frame_fn frame;
	void *context;
	uint32_t *first;      /* by location: index in frames + 1; 0: no numbers yet */
	VEC(uint32_t) frames; /* of the frames of a location, innermost first */
};

static void builder_deinit(struct builder *b)
{
	free(b->first);
	vec_deinit(&b->frames);
}

/* Get the numbers of a location's frames. Valid until the next call. */
static int frames_of(struct builder *b, uint32_t location, uint32_t count, const uint32_t **ret)
{
	bool cached = location < b->view->locations->locations.size;
	size_t begin = b->frames.size;

	if (cached && b->first[location]) {
		*ret = b->frames.data + b->first[location] - 1;
		return 0;
	}
	for (uint32_t i = 0; i < count; i++) {
		uint32_t number;

		if (b->frame(b->context, location, i, &number) || vec_push(&b->frames, number))
			return -ENOMEM;
	}
	if (cached && begin < UINT32_MAX)
		b->first[location] = (uint32_t)begin + 1;
	*ret = b->frames.data + begin;
	return 0;
}

static int place(struct builder *b, uint32_t number)
{
	const struct profile_node *node = &b->view->profile->nodes.data[number];
	struct stack_row row = {.caller = ROW_NONE};
	const uint32_t *frames;
	uint32_t count;

	if (node->parent == PROFILE_NODE_NONE)
		return 0;
	if (shown_profile_hides(b->view, number)) {
		b->table->of_node[number] = b->table->of_node[node->parent];
		return 0;
	}
	count = frame_text_count(b->view, node->location);
	if (frames_of(b, node->location, count, &frames))
		return -ENOMEM;
	row.caller = b->table->of_node[node->parent];
	for (uint32_t i = count; i--;) {
		row.frame = frames[i];
		if (row_table_add(&b->table->rows, &row, &row.caller))
			return -ENOMEM;
	}
	b->table->of_node[number] = row.caller;
	return 0;
}

int stack_table_build(struct stack_table *table, const struct view *view,
		      const struct timeline *timeline, stack_frame_fn frame, void *context)
{
	const struct profile *profile = view->profile;
	CLEANUP(builder_deinit)
	struct builder b = {
		.table = table,
		.view = view,
		.frame = frame,
		.context = context,
		.first = calloc(view->locations->locations.size + 1, sizeof(*b.first)),
	};
	AUTO_FREE bool *used = calloc(profile->nodes.size + 1, sizeof(*used));

	table->rows.row_bytes = sizeof(struct stack_row);
	table->of_node = malloc((profile->nodes.size + 1) * sizeof(*table->of_node));
	if (!b.first || !used || !table->of_node)
		return -ENOMEM;
	for (size_t i = 0; i < timeline->used.size; i++)
		used[i] = timeline->used.data[i];
	for (size_t i = profile->nodes.size; i--;) {
		if (used[i] && profile->nodes.data[i].parent != PROFILE_NODE_NONE)
			used[profile->nodes.data[i].parent] = true;
	}
	for (size_t i = 0; i < profile->nodes.size; i++) {
		table->of_node[i] = ROW_NONE;
		if (used[i] && place(&b, (uint32_t)i))
			return -ENOMEM;
	}
	return 0;
}

void stack_table_deinit(struct stack_table *table)
{
	row_table_deinit(&table->rows);
	free(table->of_node);
	table->of_node = NULL;
}
