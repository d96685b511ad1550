/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/naming.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "profile/ledger.h"
#include "sink/file_packages.h"
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

/* --- files ---------------------------------------------------------------------------------- */

/* Returns the file of the innermost frame that is shown of a node, if it lacks a name. */
static bool unnamed_file_of(const struct view *view, uint32_t node, struct unnamed_count *ret)
{
	uint32_t number = view->profile->nodes.data[shown_profile_node(view, node)].location, count;
	const struct location *location = frame_text_location(view, number);
	const struct frame *frames = frame_table_get(view->frames, number, &count);

	if (naming_of_node(view, node) || !location ||
	    location_kind_info(location->kind)->space != LOCATION_SPACE_FILE || !frames)
		return false;
	*ret = (struct unnamed_count){frames[0].module, (uint32_t)location->owner, 0};
	return *string_pool_get(view->strings, frames[0].module) == '/';
}

static int by_path(const void *a, const void *b)
{
	const struct unnamed_count *x = a, *y = b;

	return x->path == y->path ? 0 : x->path < y->path ? -1 : 1;
}

/* Files with equal samples are in order of paths. */
static int by_samples(const void *a, const void *b)
{
	const struct unnamed_file *x = a, *y = b;

	if (x->samples != y->samples)
		return x->samples > y->samples ? -1 : 1;
	return strcmp(x->path, y->path);
}

int unnamed_search_step(struct unnamed_search *search, const struct view *view, size_t max)
{
	const struct profile *profile = view->profile;
	int err = view->epoch == search->epoch ? 0 : -ESTALE;

	for (; max && search->next < profile->nodes.size && !err; search->next++, max--) {
		struct unnamed_count count;

		if (!profile->nodes.data[search->next].self ||
		    !unnamed_file_of(view, search->next, &count))
			continue;
		count.samples = profile->nodes.data[search->next].self;
		err = vec_push(&search->counts, count);
	}
	return err ?: search->next < profile->nodes.size;
}

/* Add up the counts of equal paths, and sort the files by samples. */
int unnamed_search_result(struct unnamed_search *search, const struct view *view,
			  unnamed_file_list *ret, struct unnamed_total *ret_total)
{
	struct unnamed_total total = {0};
	size_t size = search->counts.size;

	if (size)
		qsort(search->counts.data, size, sizeof(*search->counts.data), by_path);
	for (size_t i = 0; i < size; i++) {
		const struct unnamed_count *at = &search->counts.data[i];

		if (!i || at->path != at[-1].path) {
			struct unnamed_file file = {
				.path = string_pool_get(view->strings, at->path),
				.module = at->module,
			};

			if (vec_push(ret, file))
				return -ENOMEM;
		}
		ret->data[ret->size - 1].samples += at->samples;
		total.samples += at->samples;
	}
	if (ret->size)
		qsort(ret->data, ret->size, sizeof(*ret->data), by_samples);
	total.files = ret->size;
	if (ret_total)
		*ret_total = total;
	if (ret->size > FILE_PACKAGES_MAX)
		ret->size = FILE_PACKAGES_MAX;
	return 0;
}

void unnamed_search_deinit(struct unnamed_search *search)
{
	vec_deinit(&search->counts);
}

int naming_files(const struct view *view, unnamed_file_list *ret, struct unnamed_total *ret_total)
{
	CLEANUP(unnamed_search_deinit) struct unnamed_search search = {.epoch = view->epoch};
	int err = unnamed_search_step(&search, view, SIZE_MAX);

	return err ?: unnamed_search_result(&search, view, ret, ret_total);
}

void naming_put_advice(struct text *text, const struct view *view, const unnamed_file_list *files,
		       size_t first, size_t count)
{
	const char *paths[FILE_PACKAGES_MAX];

	for (size_t i = 0; i < count; i++)
		paths[i] = files->data[first + i].path;
	file_packages_put(text, view->packages, paths, count);
}

void naming_deinit(struct naming *naming)
{
	vec_deinit(&naming->processes);
}
