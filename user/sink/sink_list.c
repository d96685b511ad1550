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

bool sink_list_takes_samples(const struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->sink && entry->ops->sample)
			return true;
	}
	return false;
}

bool sink_list_takes_code(const struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->sink && entry->ops->code)
			return true;
	}
	return false;
}

/* Note the result of a call. After a failure, what the sink has kept is of no use. */
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
		if (entry->sink && entry->ops->sample)
			note(entry, entry->ops->sample(entry->sink, view, sample));
	}
}

void sink_list_code(struct sink_list *list, const struct view *view, const struct sink_code *code)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->sink && entry->ops->code)
			note(entry, entry->ops->code(entry->sink, view, code));
	}
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

void sink_list_deinit(struct sink_list *list)
{
	vec_for_each (entry, &list->sinks) {
		if (entry->sink)
			entry->ops->destroy(entry->sink);
	}
	vec_deinit(&list->sinks);
}
