/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/format/page_data.h"

#include <errno.h>
#include <string.h>

#include "base/scope.h"

int page_data_init(struct page_data *page)
{
	uint32_t number;

	*page = (struct page_data){
		.labels.row_bytes = sizeof(struct page_label),
		.functions.row_bytes = sizeof(struct page_function),
		.sources.row_bytes = sizeof(struct page_source),
	};
	if (string_pool_create(&page->strings))
		return -ENOMEM;
	page->string_count = 1; /* the empty string */
	if (page_data_process(page, "all", &number))
		return -ENOMEM;
	return page_data_source(page, "", 0, &number);
}

void page_data_deinit(struct page_data *page)
{
	string_pool_destroy(page->strings);
	row_table_deinit(&page->labels);
	row_table_deinit(&page->functions);
	row_table_deinit(&page->sources);
	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++) {
		vec_deinit(&page->samples[i].nodes);
		vec_deinit(&page->samples[i].counts);
		vec_deinit(&page->samples[i].threads);
		vec_deinit(&page->samples[i].hidden);
		vec_deinit(&page->samples[i].slice_counts);
	}
	page_lives_deinit(&page->lives);
}

int page_data_string(struct page_data *page, const char *s, uint32_t *ret)
{
	int err = string_pool_add(page->strings, s, strlen(s), ret);

	if (!err && *ret >= page->string_count)
		page->string_count = *ret + 1;
	return err;
}

static int add_label(struct page_data *page, struct page_label *label, const char *function,
		     const char *file, uint32_t kind, uint32_t *ret)
{
	struct page_function key = {.module = label->module, .kind = kind};

	if (page_data_string(page, function, &key.name) ||
	    page_data_string(page, file, &key.file) ||
	    row_table_add(&page->functions, &key, &label->function))
		return -ENOMEM;
	return row_table_add(&page->labels, label, ret);
}

int page_data_frame(struct page_data *page, const struct frame_text *frame, bool exact,
		    uint32_t *ret)
{
	struct page_label label = {.kind = page_data_kind(frame->kind, frame->inlined),
				   .tier = frame->tier};

	if (page_data_string(page, frame->name, &label.name) ||
	    page_data_string(page, frame->module, &label.module))
		return -ENOMEM;
	return add_label(page, &label, frame->function, frame->function_file,
			 page_data_kind(frame->function_kind, exact && frame->inlined), ret);
}

int page_data_process(struct page_data *page, const char *name, uint32_t *ret)
{
	struct page_label label = {.kind = PAGE_PROCESS};

	if (page_data_string(page, name, &label.name))
		return -ENOMEM;
	return add_label(page, &label, name, "", PAGE_PROCESS, ret);
}

int page_data_source(struct page_data *page, const char *file, uint32_t line, uint32_t *ret)
{
	struct page_source source = {.line = *file ? line : 0};

	if (page_data_string(page, file, &source.file))
		return -ENOMEM;
	return row_table_add(&page->sources, &source, ret);
}

int page_data_thread(struct page_data *page, struct page_samples *samples,
		     const struct page_thread *ids, const char *comm, const char *container)
{
	struct page_thread thread = *ids;

	if (page_data_string(page, comm, &thread.comm) ||
	    page_data_string(page, container, &thread.container))
		return -ENOMEM;
	return vec_push(&samples->threads, thread);
}

uint32_t page_data_kind(enum frame_kind kind, bool inlined)
{
	_Static_assert((int)FRAME_KIND_COUNT <= (int)PAGE_PROCESS, "bits of kinds");

	return kind | (inlined ? PAGE_INLINED : 0);
}

struct view page_view_of(const struct view *view, uint32_t event)
{
	struct view other = *view->by_event[event];

	other.options = view->options;
	other.packages = view->packages;
	other.events = view->events;
	other.event_count = view->event_count;
	return other;
}
