/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Writes the data of the page: the tree in order of names, and all tables as columns. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "base/sort_keys.h"
#include "sink/format/page_column.h"
#include "sink/format/page_data.h"
#include "sink/format/page_embed.h"
#include "sink/format/page_time.h"
#include "sink/format/page_words.h"
#include "sink/format/summary_json.h"

/* State of writing the page. All but `ranks` is of the samples that are being written. */
struct writer {
	const struct page_data *page;
	const struct view *const *views;
	uint32_t view_count;
	struct json *json;
	struct page_column column;
	uint32_t *ranks; /* by label: position in the order of names */
	const struct page_samples *samples;
	uint32_t *order;  /* nodes in the order of the page: parents before children */
	uint32_t *depths; /* by node */
	uint32_t *places; /* by node: position in `order` */
	uint32_t *rows;	  /* by count: its row */
};

static void end_nodes(struct writer *w)
{
	free(TAKE_PTR(w->order));
	free(TAKE_PTR(w->depths));
	free(TAKE_PTR(w->places));
}

static void end_samples(struct writer *w)
{
	end_nodes(w);
	free(TAKE_PTR(w->rows));
}

static void writer_deinit(struct writer *w)
{
	page_column_deinit(&w->column);
	free(w->ranks);
	end_samples(w);
}

static const struct page_label *label_at(const struct page_data *page, uint32_t number)
{
	return row_table_get(&page->labels, number);
}

/* By name, module, kind and tier. Labels that are equal then are of different functions. */
static int compare_labels(const void *a, const void *b, void *context)
{
	const struct page_data *page = context;
	const struct page_label *la = label_at(page, *(const uint32_t *)a);
	const struct page_label *lb = label_at(page, *(const uint32_t *)b);
	int order = strcmp(string_pool_get(page->strings, la->name),
			   string_pool_get(page->strings, lb->name));

	if (!order)
		order = strcmp(string_pool_get(page->strings, la->module),
			       string_pool_get(page->strings, lb->module));
	order = order ?: (int)la->kind - (int)lb->kind;
	return order ?: (int)la->tier - (int)lb->tier;
}

static int rank_labels(struct writer *w)
{
	uint32_t count = w->page->labels.count;
	AUTO_FREE uint32_t *sorted = calloc(count, sizeof(*sorted));

	w->ranks = calloc(count, sizeof(*w->ranks));
	if (!sorted || !w->ranks)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		sorted[i] = i;
	qsort_r(sorted, count, sizeof(*sorted), compare_labels, (void *)w->page);
	for (uint32_t i = 0; i < count; i++)
		w->ranks[sorted[i]] = i;
	return 0;
}

/* Sort nodes by parent, and siblings by name. */
static int sort_siblings(const struct writer *w, struct sort_key *keys)
{
	const struct page_node *nodes = w->samples->nodes.data;

	for (uint32_t i = 0; i < w->samples->nodes.size; i++)
		keys[i] = (struct sort_key){
			.key = (uint64_t)(nodes[i].parent + 1) << 32 | w->ranks[nodes[i].label],
			.item = i,
		};
	return sort_keys(keys, w->samples->nodes.size);
}

/* Fill order, depths and places, in depth-first order. */
static int put_in_order(struct writer *w)
{
	const struct page_node *nodes = w->samples->nodes.data;
	size_t count = w->samples->nodes.size, size = 0;
	AUTO_FREE struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	AUTO_FREE uint32_t *ends =
		calloc(count + 1, sizeof(*ends)); /* by parent: end of its children in keys */
	AUTO_FREE uint32_t *waiting = calloc(count + 1, sizeof(*waiting));

	w->order = calloc(count + 1, sizeof(*w->order));
	w->depths = calloc(count + 1, sizeof(*w->depths));
	w->places = calloc(count + 1, sizeof(*w->places));
	if (!keys || !ends || !waiting || !w->order || !w->depths || !w->places)
		return -ENOMEM;
	if (sort_siblings(w, keys))
		return -ENOMEM;
	for (uint32_t i = 1; i < count; i++)
		ends[nodes[keys[i].item].parent] = i + 1;
	for (uint32_t i = 1; i < count; i++)
		w->depths[i] = w->depths[nodes[i].parent] + 1;
	if (count)
		waiting[size++] = 0;
	for (uint32_t place = 0; size; place++) {
		uint32_t node = waiting[--size];

		w->order[place] = node;
		w->places[node] = place;
		/* In reverse order, since the last child on the stack is taken first. */
		for (uint32_t i = ends[node]; i > 1 && nodes[keys[i - 1].item].parent == node; i--)
			waiting[size++] = keys[i - 1].item;
	}
	return 0;
}

/* Returns by function: its first label. */
static uint32_t *first_labels(const struct page_data *page)
{
	const struct page_label *labels = row_table_get(&page->labels, 0);
	uint32_t *first = calloc(page->functions.count + (size_t)1, sizeof(*first));

	for (uint32_t i = page->labels.count; first && i--;)
		first[labels[i].function] = i;
	return first;
}

/*
 * "twin" is the distance to the first label of the same function, and "plain" the name of the
 * function; both are 0 for a function with one name. "file" is the source file that tells it apart.
 */
static int write_labels(struct writer *w)
{
	const struct page_label *labels = row_table_get(&w->page->labels, 0);
	const struct page_function *functions = row_table_get(&w->page->functions, 0);
	AUTO_FREE uint32_t *first = first_labels(w->page);
	uint32_t count = w->page->labels.count;
	int err;

	if (!first)
		return -ENOMEM;
	page_column_begin_table(w->json, "labels", count);
	err = PAGE_COLUMN_WRITE(&w->column, w->json, "name", count, labels[i].name) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "module", count, labels[i].module) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "kind", count, labels[i].kind) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "tier", count, labels[i].tier) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "twin", count, i - first[labels[i].function]) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "plain", count,
				functions[labels[i].function].name == labels[i].name
					? 0 : functions[labels[i].function].name) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "file", count,
				functions[labels[i].function].file);
	json_end(w->json, '}');
	return err;
}

static int write_sources(struct writer *w)
{
	const struct page_source *sources = row_table_get(&w->page->sources, 0);
	uint32_t count = w->page->sources.count;
	int err;

	page_column_begin_table(w->json, "sources", count);
	err = PAGE_COLUMN_WRITE(&w->column, w->json, "file", count, sources[i].file)
		      ?: PAGE_COLUMN_WRITE(&w->column, w->json, "line", count, sources[i].line);
	json_end(w->json, '}');
	return err;
}

static int write_threads(struct writer *w)
{
	const struct page_thread *threads = w->samples->threads.data;
	size_t count = w->samples->threads.size;
	int err;

	page_column_begin_table(w->json, "threads", count);
	err = PAGE_COLUMN_WRITE(&w->column, w->json, "pid", count, threads[i].pid) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "tid", count, threads[i].tid) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "comm", count, threads[i].comm) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "container", count, threads[i].container);
	json_end(w->json, '}');
	return err;
}

/* "up" is the number of levels from the previous node up to this node's parent, usually 0. */
static int write_nodes(struct writer *w)
{
	const struct page_node *nodes = w->samples->nodes.data;
	size_t count = w->samples->nodes.size;
	const uint32_t *order = w->order, *depths = w->depths;
	int err;

	page_column_begin_table(w->json, "nodes", count);
	err = PAGE_COLUMN_WRITE(&w->column, w->json, "up", count, i ? depths[order[i - 1]] + 1 - depths[order[i]] : 0) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "label", count, nodes[order[i]].label) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "source", count, nodes[order[i]].source);
	json_end(w->json, '}');
	return err;
}

/* Nodes are written as differences to the previous one. */
static int write_counts(struct writer *w)
{
	const struct page_count *counts = w->samples->counts.data;
	size_t count = w->samples->counts.size;
	AUTO_FREE struct sort_key *keys = calloc(count + 1, sizeof(*keys));
	int err;

	w->rows = calloc(count + 1, sizeof(*w->rows));
	if (!keys || !w->rows)
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		keys[i] = (struct sort_key){
			.key = (uint64_t)w->places[counts[i].node] << 32 | counts[i].group,
			.item = i,
		};
	if (sort_keys(keys, count))
		return -ENOMEM;
	for (uint32_t i = 0; i < count; i++)
		w->rows[keys[i].item] = i;
	page_column_begin_table(w->json, "counts", count);
	err = PAGE_COLUMN_WRITE(&w->column, w->json, "step", count,
			   (keys[i].key >> 32) - (i ? keys[i - 1].key >> 32 : 0)) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "group", count, (uint32_t)keys[i].key) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "samples", count, counts[keys[i].item].samples);
	json_end(w->json, '}');
	return err;
}

static int write_hidden(struct writer *w)
{
	const struct page_hidden *hidden = w->samples->hidden.data;
	uint32_t count = (uint32_t)w->samples->hidden.size;
	int err;

	if (!count)
		return 0;
	page_column_begin_table(w->json, "hidden", count);
	err = PAGE_COLUMN_WRITE(&w->column, w->json, "label", count, hidden[i].label) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "side", count, hidden[i].side) ?:
	      PAGE_COLUMN_WRITE(&w->column, w->json, "samples", count, hidden[i].samples);
	json_end(w->json, '}');
	return err;
}

static int write_samples(struct writer *w, const struct page_samples *samples)
{
	int err;

	end_samples(w);
	w->samples = samples;
	err = put_in_order(w);
	err = err ?: write_threads(w) ?: write_nodes(w) ?: write_counts(w) ?: write_hidden(w);
	end_nodes(w);
	return err ?: page_time_write_slices(samples, w->rows, w->json);
}

/* The names of all events, and which one the page shows first. */
static void write_events(struct json *json, const struct view *view)
{
	json_member_string(json, "event", view->event ? view->info->event : RUN_CPU_TIME);
	json_key(json, "events");
	json_begin(json, '[');
	json_string(json, RUN_CPU_TIME);
	for (uint32_t i = 0; i < view->info->more_events; i++)
		json_string(json, view->info->events[i].name);
	json_end(json, ']');
}

/* The samples of the events that the page does not show first. */
static int write_others(struct writer *w, const struct view *view)
{
	struct json *json = w->json;
	int err = 0;

	json_key(json, "others");
	json_begin(json, '[');
	for (uint32_t i = 0; i <= view->info->more_events && !err; i++) {
		struct view other = page_view_of(view, i);

		if (i == view->event)
			continue;
		json_begin(json, '{');
		json_member_string(json, "event", i ? other.info->event : RUN_CPU_TIME);
		json_key(json, "runs");
		json_begin(json, '[');
		err = summary_json_write(json, &other);
		json_end(json, ']');
		err = err ?: write_samples(w, &w->page->samples[i]);
		json_end(json, '}');
	}
	json_end(json, ']');
	return err;
}

static int write_data(void *writer, struct json *json)
{
	struct writer *w = writer;
	const struct view *const *views = w->views;
	bool has_events = w->view_count == 1 && views[0]->by_event;
	int err = 0;

	w->json = json;
	json_begin(json, '{');
	json_key(json, "runs");
	json_begin(json, '[');
	for (uint32_t i = 0; !err && i < w->view_count; i++)
		err = summary_json_write(json, views[i]);
	json_end(json, ']');
	if (has_events)
		write_events(json, views[0]);
	page_words_write(json);
	json_member_literal(json, "exact",
			    view_merges_graphs(&views[0]->options) ? "false" : "true");
	json_key(json, "strings");
	json_begin(json, '[');
	for (uint32_t i = 0; i < w->page->string_count; i++)
		json_string(json, string_pool_get(w->page->strings, i));
	json_end(json, ']');
	err = err ?: write_labels(w) ?: write_sources(w);
	err = err ?: write_samples(w, &w->page->samples[w->view_count == 1 ? views[0]->event : 0]);
	err = err
		      ?: page_time_write_code(views[0], w->view_count == 1 ? views[0]->lane : NULL,
					      json);
	err = err ?: page_lives_write(&w->page->lives, json);
	if (!err && w->view_count == 1 && views[0]->extra)
		err = views[0]->extra->write(views[0]->extra->context, views[0], json);
	if (!err && has_events)
		err = write_others(w, views[0]);
	json_end(json, '}');
	return err;
}

int page_data_write(const struct page_data *page, FILE *out, const struct view *const views[],
		    uint32_t view_count)
{
	CLEANUP(writer_deinit)
	struct writer w = {.page = page, .views = views, .view_count = view_count};
	int err = rank_labels(&w);

	return err ?: page_embed(out, PAGE_CONNECTS_NOWHERE, write_data, &w);
}
