/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/sink_list.h"

#include <errno.h>

#include "base/scope.h"

int sink_list_add(struct sink_list *list, const struct sink_ops *ops, FILE *out)
{
	struct sink_entry added = {.ops = ops, .out = out};
	int err = vec_reserve(&list->sinks, list->sinks.size + 1);

	err = err ?: ops->create(out, &added.sink);
	return err ?: vec_push(&list->sinks, added);
}

int sink_list_add_live(struct sink_list *list, const struct sink_ops *ops, struct sink *sink)
{
	int err = vec_push(&list->sinks, ((struct sink_entry){.ops = ops, .sink = sink}));

	if (err)
		ops->destroy(sink);
	return err;
}

/* Returns true if a sink gets calls: an output, or a live view with a subscription. */
static bool listens(const struct sink_entry *entry)
{
	return entry->sink && (!entry->ops->round || entry->period_ns);
}

bool sink_list_takes_code(const struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (listens(entry) && entry->ops->code)
			return true;
	}
	return false;
}

bool sink_list_takes_regions(const struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (listens(entry) && entry->ops->region)
			return true;
	}
	return false;
}

bool sink_list_reads_slices(const struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->ops->time_slices)
			return true;
	}
	return false;
}

/* Note the result of a call. A sink that failed is destroyed. */
static void note(struct sink_entry *entry, int err)
{
	if (!err)
		return;
	entry->error = err;
	entry->ops->destroy(TAKE_PTR(entry->sink));
}

void sink_list_sample(struct sink_list *list, const struct view *view,
		      const struct sink_sample *sample)
{
	vec_for_each (entry, &list->sinks) {
		if (listens(entry) && entry->ops->sample)
			note(entry, entry->ops->sample(entry->sink, view, sample));
	}
}

void sink_list_code(struct sink_list *list, const struct view *view, const struct sink_code *code)
{
	vec_for_each (entry, &list->sinks) {
		if (listens(entry) && entry->ops->code)
			note(entry, entry->ops->code(entry->sink, view, code));
	}
}

void sink_list_region(struct sink_list *list, const struct view *view,
		      const struct sink_region *change)
{
	vec_for_each (entry, &list->sinks) {
		if (listens(entry) && entry->ops->region)
			note(entry, entry->ops->region(entry->sink, view, change));
	}
}

int sink_list_subscribe(struct sink_list *list, const struct sink *sink, uint64_t period_ns)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->sink != sink)
			continue;
		if (period_ns && !entry->period_ns) {
			entry->due_ns = 0;
			entry->ops->subscribed(entry->sink);
		}
		entry->period_ns = period_ns;
		return 0;
	}
	return -ENOENT;
}

static bool is_due(const struct sink_entry *entry, uint64_t time_ns)
{
	return entry->sink && entry->period_ns && entry->due_ns <= time_ns;
}

bool sink_list_round_due(const struct sink_list *list, uint64_t time_ns)
{
	vec_for_each (entry, &list->sinks) {
		if (is_due(entry, time_ns))
			return true;
	}
	return false;
}

void sink_list_all_due(struct sink_list *list)
{
	vec_for_each (entry, &list->sinks)
		entry->due_ns = 0;
}

void sink_list_round(struct sink_list *list, const struct view *view, uint64_t time_ns)
{
	vec_for_each (entry, &list->sinks) {
		int err;

		if (!is_due(entry, time_ns))
			continue;
		err = entry->ops->round(entry->sink, view, time_ns);
		entry->again |= err > 0;
		note(entry, err < 0 ? err : 0);
	}
}

bool sink_list_end_round(struct sink_list *list, uint64_t time_ns)
{
	bool again = false;

	vec_for_each (entry, &list->sinks) {
		if (!is_due(entry, time_ns))
			continue;
		entry->due_ns = entry->again ? time_ns : time_ns + entry->period_ns;
		again |= entry->again;
		entry->again = false;
	}
	return again;
}

int sink_list_finish(struct sink_list *list, const struct view *view, FILE *out)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->out != out)
			continue;
		if (entry->sink)
			note(entry, entry->ops->finish(entry->sink, view));
		return entry->error;
	}
	return -EINVAL;
}

uint64_t sink_list_left_out(const struct sink_list *list, const FILE *out)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->out == out && entry->sink && entry->ops->left_out)
			return entry->ops->left_out(entry->sink);
	}
	return 0;
}

void sink_list_deinit(struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->sink)
			entry->ops->destroy(entry->sink);
	}
	vec_deinit(&list->sinks);
}
