/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The flame graph page of one profile: the tree of frames, and its samples by thread.
 */
#include "sink/sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/cgroup_text.h"
#include "sink/frame_tree.h"
#include "sink/hidden_labels.h"
#include "sink/format/page_data.h"
#include "sink/shown_profile.h"

struct sink {
	FILE *out;
	struct code_lives lives;
};

static void html_destroy(struct sink *sink)
{
	code_lives_deinit(&sink->lives);
	free(sink);
}

static int html_create(FILE *out, struct sink **ret)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	sink->out = out;
	if (code_lives_init(&sink->lives, CODE_LIVES_MAX)) {
		html_destroy(sink);
		return -ENOMEM;
	}
	*ret = sink;
	return 0;
}

static int html_region(struct sink *sink, const struct view *view, const struct sink_region *change)
{
	code_lives_take(&sink->lives, change);
	return 0;
}

struct labels {
	struct page_data *page;
	bool exact;
};

static int label_frame(void *context, const struct frame_text *frame, uint32_t *ret)
{
	const struct labels *labels = context;

	return page_data_frame(labels->page, frame, labels->exact, ret);
}

static int label_process(void *context, const char *comm, uint32_t *ret)
{
	const struct labels *labels = context;

	return page_data_process(labels->page, comm, ret);
}

/* A node shows the source line with most of its samples. */
static int add_node(struct page_data *page, const struct view *view,
		    const struct frame_tree_node *node, const struct frame_tree_source *source)
{
	struct page_node out = {.parent = node->parent, .label = node->label};
	struct frame_text frame = {.file = ""};

	if (source->location != FRAME_TREE_NONE)
		frame_text_get(view, source->location, source->frame, &frame);
	if (page_data_source(page, frame.file, frame.line, &out.source))
		return -ENOMEM;
	return vec_push(&page->samples[view->event].nodes, out);
}

static int add_samples(struct page_data *page, const struct view *view,
		       const struct frame_tree *tree)
{
	CLEANUP(thread_counts_deinit) struct thread_counts scratch = {0};
	struct page_samples *samples = &page->samples[view->event];
	const struct thread_counts *counts;

	if (shown_profile_counts(view, &scratch, &counts))
		return -ENOMEM;
	vec_for_each (thread, &counts->threads) {
		const char *comm = frame_text_comm(view, thread->comm);

		if (page_data_thread(page, samples,
				     &(struct page_thread){.pid = thread->pid, .tid = thread->tid},
				     comm, cgroup_text(view, thread->container, thread->unit)))
			return -ENOMEM;
	}
	for (size_t i = 0; i < counts->counts.size; i++) {
		const struct thread_count *count = &counts->counts.data[i];
		size_t place = view_by_thread(view->options.by) ? i : count->node;
		struct page_count out = {.node = tree->places[place],
					 .group = count->thread,
					 .samples = count->samples};

		if (vec_push(&samples->counts, out))
			return -ENOMEM;
	}
	return 0;
}

/* The slices are those of the view. Its counts are those of the page, unless nodes are hidden. */
static int add_slices(struct page_data *page, const struct view *view)
{
	CLEANUP(thread_counts_deinit) struct thread_counts scratch = {0};
	struct page_samples *samples = &page->samples[view->event];
	const struct thread_counts *shown;

	samples->slices = view->slices;
	if (!view->slices)
		return 0;
	if (shown_profile_counts(view, &scratch, &shown))
		return -ENOMEM;
	vec_for_each (count, &view->threads->counts) {
		uint32_t number;

		if (shown != &scratch)
			break;
		if (thread_counts_add(&scratch, shown_profile_node(view, count->node),
				      count->thread, 0, &number) ||
		    vec_push(&samples->slice_counts, number))
			return -ENOMEM;
	}
	return 0;
}

/* Reads no code of locations if region() was never called: see sink_ops.counts_only. */
static int add_lives(struct page_data *page, const struct view *view,
		     const struct code_lives *lives)
{
	if (view->lives)
		return page_lives_take_list(page, &view->options, view->lives,
					    PAGE_LIVES_BYTES_MAX);
	return page_lives_take(page, view, lives, PAGE_LIVES_BYTES_MAX);
}

static int add_hidden(struct page_data *page, const struct view *view,
		      const struct frame_labels *labels)
{
	hidden_labels hidden = {0};
	int err = hidden_labels_add(view, labels, &hidden);

	vec_for_each (total, &hidden) {
		struct page_hidden out = {.label = total->label, .samples = total->samples};

		err = err ?: vec_push(&page->samples[view->event].hidden, out);
	}
	vec_deinit(&hidden);
	return err;
}

/* Add the samples of the event that a view shows. */
static int add_event(struct page_data *page, const struct view *view)
{
	CLEANUP(frame_tree_deinit) struct frame_tree tree = {.keeps_sources = true};
	struct labels context = {page, view_is_exact(&view->options)};
	const struct frame_labels labels = {label_frame, label_process, &context};
	int err = frame_tree_build(&tree, view, &labels);

	for (size_t i = 0; !err && i < tree.nodes.size; i++)
		err = add_node(page, view, &tree.nodes.data[i], &tree.sources.data[i]);
	err = err ?: add_samples(page, view, &tree);
	err = err ?: add_hidden(page, view, &labels);
	return err ?: add_slices(page, view);
}

static int html_finish(struct sink *sink, const struct view *view)
{
	CLEANUP(page_data_deinit) struct page_data page;
	int err = page_data_init(&page);

	err = err ?: add_event(&page, view);
	for (uint32_t i = 0; view->by_event && i <= view->info->more_events && !err; i++) {
		struct view other = page_view_of(view, i);

		if (i != view->event)
			err = add_event(&page, &other);
	}
	err = err ?: add_lives(&page, view, &sink->lives);
	return err ?: page_data_write(&page, sink->out, &view, 1);
}

const struct sink_ops sink_html = {
	.name = "html",
	.extension = ".html",
	.counts_only = true,
	.profile_times = 3,
	.packages = true,
	.time_slices = true,
	.create = html_create,
	.region = html_region,
	.finish = html_finish,
	.destroy = html_destroy,
};
