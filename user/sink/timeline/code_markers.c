/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/timeline/code_markers.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"
#include "symbolize/name/method_name.h"
#include "symbolize/name/shown_name.h"

static const struct code_thread nothing = {.first = CODE_MARKER_NONE, .last = CODE_MARKER_NONE};

/* Add a string. New strings are charged to the budget. */
static int keep(struct code_markers *markers, const char *s, uint32_t *ret)
{
	int err = shown_name_add(markers->strings, s, strlen(s), ret);

	if (!err && *ret >= markers->string_count) {
		markers->string_count = *ret + 1;
		markers->name_bytes += strlen(string_pool_get(markers->strings, *ret));
	}
	return err;
}

static int keep_names(struct code_markers *markers, const struct view *view,
		      const struct code_region *region, struct code_marker *marker)
{
	AUTO_FREE char *name = NULL;
	int err = method_name(code_region_class(region), region->name, !view->options.no_demangle,
			      &name);

	err = err ?: keep(markers, name, &marker->name);
	err = err ?: keep(markers, code_region_module(region), &marker->module);
	return err ?: keep(markers, code_region_source(region), &marker->source);
}

static int keep_marker(struct code_markers *markers, const struct view *view,
		       struct code_thread *thread, const struct sink_code *code)
{
	struct code_marker marker = {
		.time_ns = code->time_ns,
		.address = code->address,
		.size_bytes = code->size_bytes,
		.method_id = code->method_id,
		.gone = code->gone,
		.next = CODE_MARKER_NONE,
	};
	uint32_t number = (uint32_t)markers->markers.size;
	int err = 0;

	if (!markers->strings)
		err = string_pool_create(&markers->strings);
	if (!err && code->region)
		err = keep_names(markers, view, code->region, &marker);
	err = err ?: vec_push(&markers->markers, marker);
	if (err)
		return err;
	if (thread->last == CODE_MARKER_NONE)
		thread->first = number;
	else
		markers->markers.data[thread->last].next = number;
	thread->last = number;
	return 0;
}

int code_markers_add(struct code_markers *markers, const struct view *view, uint32_t number,
		     const struct sink_code *code)
{
	struct code_thread *thread;

	while (markers->threads.size <= number) {
		if (vec_push(&markers->threads, nothing))
			return -ENOMEM;
	}
	thread = &markers->threads.data[number];
	if (markers->markers.size < CODE_MARKERS_MAX && markers->name_bytes < CODE_MARKER_NAMES_MAX)
		return keep_marker(markers, view, thread, code);
	if (!thread->left_out++)
		thread->left_from_ns = code->time_ns;
	thread->left_to_ns = code->time_ns;
	markers->left_out++;
	return 0;
}

struct code_thread code_markers_thread(const struct code_markers *markers, uint32_t thread)
{
	return thread < markers->threads.size ? markers->threads.data[thread] : nothing;
}

void code_markers_deinit(struct code_markers *markers)
{
	vec_deinit(&markers->markers);
	vec_deinit(&markers->threads);
	string_pool_destroy(markers->strings);
	*markers = (struct code_markers){0};
}
