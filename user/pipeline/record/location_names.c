/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/record/location_names.h"

#include <errno.h>
#include <stdlib.h>

#include "base/scope.h"

/* A copy of the location, since later rounds may move the table. */
struct location_order {
	struct location location;
	uint32_t number;
};

/* By module and offset: neighbours have much in common. */
static int compare_places(const void *a_, const void *b_)
{
	const struct location *a = &((const struct location_order *)a_)->location;
	const struct location *b = &((const struct location_order *)b_)->location;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	if (a->owner != b->owner)
		return a->owner < b->owner ? -1 : 1;
	return a->offset < b->offset ? -1 : a->offset > b->offset;
}

int location_names_init(struct location_names *ret, const struct view *view)
{
	size_t locations = view->locations->locations.size;
	struct location_names names = {
		.order = reallocarray(NULL, locations ?: 1, sizeof(*names.order)),
	};

	if (!names.order)
		return -ENOMEM;
	for (uint32_t i = 0; i < locations; i++) {
		const struct location *location = &view->locations->locations.data[i];

		/* The chunk of an unnamed location would only repeat its file, which a replay
		 * knows. */
		if (location_kind_info(location->kind)->has_symbols &&
		    frame_table_is_named(view->frames, i))
			names.order[names.count++] = (struct location_order){*location, i};
	}
	if (names.count)
		qsort(names.order, names.count, sizeof(*names.order), compare_places);
	*ret = names;
	return 0;
}

void location_names_deinit(struct location_names *names)
{
	free(names->order);
	vec_deinit(&names->chunk.bytes);
	*names = (struct location_names){0};
}

int location_names_next(struct location_names *names, const struct view *view,
			const struct module_table *modules, const struct jitbpf_record **ret)
{
	while (names->next < names->count) {
		const struct location_order *place = &names->order[names->next++];
		const struct location *location = &place->location;
		const struct module *module = NULL;
		const struct frame *frames;
		uint32_t count;
		int err;

		if (location->kind == LOCATION_NATIVE)
			module = module_table_get(modules, (uint32_t)location->owner);
		frames = frame_table_get(view->frames, place->number, &count);
		if (!frames || (!module && location->kind != LOCATION_KERNEL))
			continue;
		err = frames_chunk_make(&names->chunk, location, module, view->strings,
					view->frames, frames, count);
		if (err)
			return err;
		*ret = (const struct jitbpf_record *)names->chunk.bytes.data;
		return 1;
	}
	return 0;
}
