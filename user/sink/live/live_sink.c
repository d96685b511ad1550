/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "sink/live/live_sink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An open epoch. */
struct live_epoch {
	uint32_t number;
	uint64_t shown_ns; /* time of the last round() */
	bool wanted;	   /* another snapshot is to begin */
	bool snapping;	   /* a snapshot has begun */
	struct delta_writer common, snapshot;
};

struct sink {
	live_publish_fn publish;
	void *context;
	size_t delta_bytes;
	VEC(struct live_epoch) epochs; /* by number, ascending */
	uint32_t states;	       /* the last number of a state, in any epoch */
};

int live_sink_create(live_publish_fn publish, void *context, size_t delta_bytes, struct sink **ret)
{
	struct sink *sink = calloc(1, sizeof(*sink));

	if (!sink)
		return -ENOMEM;
	sink->publish = publish;
	sink->context = context;
	sink->delta_bytes = delta_bytes;
	*ret = sink;
	return 0;
}

/* Drop the epochs before a number. */
static void drop_epochs(struct sink *sink, uint64_t before)
{
	size_t count = 0;

	for (; count < sink->epochs.size && sink->epochs.data[count].number < before; count++) {
		delta_writer_deinit(&sink->epochs.data[count].common);
		delta_writer_deinit(&sink->epochs.data[count].snapshot);
	}
	if (!count)
		return;
	sink->epochs.size -= count;
	memmove(sink->epochs.data, sink->epochs.data + count,
		sink->epochs.size * sizeof(*sink->epochs.data));
}

/* Changes since the last subscription were missed, so the common sequences start over. */
static void live_subscribed(struct sink *sink)
{
	drop_epochs(sink, UINT64_MAX);
}

static void live_destroy(struct sink *sink)
{
	drop_epochs(sink, UINT64_MAX);
	vec_deinit(&sink->epochs);
	free(sink);
}

static struct live_epoch *find_epoch(struct sink *sink, uint32_t number)
{
	vec_for_each (epoch, &sink->epochs) {
		if (epoch->number == number)
			return epoch;
	}
	return NULL;
}

static int live_sample(struct sink *sink, const struct view *view, const struct sink_sample *sample)
{
	struct live_epoch *epoch = find_epoch(sink, view->epoch);
	int err;

	if (!epoch)
		return 0;
	err = delta_writer_count(&epoch->common, view->event, sample->count);
	return err ?: delta_writer_count(&epoch->snapshot, view->event, sample->count);
}

/* Publish the delta that was written. Returns 0 or -ENOMEM. */
static int publish(struct sink *sink, struct live_epoch *epoch, const struct delta_writer *writer)
{
	struct shared_bytes *delta =
		shared_bytes_create(writer->out.bytes.data, writer->out.bytes.size);

	if (!delta)
		return -ENOMEM;
	if (sink->publish(sink->context, delta, writer == &epoch->snapshot))
		epoch->wanted = true;
	return 0;
}

/* Returns 1 if the common sequence is complete, 0, or -ENOMEM. */
static int show_common(struct sink *sink, struct live_epoch *epoch, const struct view *view,
		       uint64_t time_ns)
{
	int complete =
		delta_writer_next(&epoch->common, view, time_ns, ++sink->states, sink->delta_bytes);
	int err = complete < 0 ? complete : publish(sink, epoch, &epoch->common);

	return err ?: complete;
}

/* A snapshot ends when both sequences are complete, which is the same state then. */
static int show_snapshot(struct sink *sink, struct live_epoch *epoch, const struct view *view,
			 uint64_t time_ns, bool common_complete)
{
	int complete = delta_writer_next(&epoch->snapshot, view, time_ns, ++sink->states,
					 sink->delta_bytes);
	int err;

	if (complete < 0)
		return complete;
	epoch->snapping = !(complete && common_complete);
	if (!epoch->snapping)
		delta_writer_rename(&epoch->snapshot, epoch->common.state);
	err = publish(sink, epoch, &epoch->snapshot);
	if (err || epoch->snapping)
		return err;
	delta_writer_deinit(&epoch->snapshot);
	epoch->snapshot = (struct delta_writer){0};
	return 0;
}

static int live_round(struct sink *sink, const struct view *view, uint64_t time_ns)
{
	struct live_epoch *epoch;
	int complete, err;

	drop_epochs(sink, view->oldest_epoch);
	epoch = find_epoch(sink, view->epoch);
	if (!epoch) {
		err = vec_push(&sink->epochs, (struct live_epoch){.number = view->epoch});
		if (err)
			return err;
		epoch = &sink->epochs.data[sink->epochs.size - 1];
	}
	/* At most one snapshot in a round, so that receivers have time to read it. */
	if (epoch->wanted && !epoch->snapping && time_ns > epoch->shown_ns) {
		epoch->wanted = false;
		epoch->snapping = true;
	}
	epoch->shown_ns = time_ns;
	complete = show_common(sink, epoch, view, time_ns);
	err = complete < 0 ? complete : 0;
	if (!err && epoch->snapping)
		err = show_snapshot(sink, epoch, view, time_ns, complete);
	return err ?: !complete || epoch->snapping;
}

/* A live view is created by live_sink_create(), and has no output to finish. */
static int live_create(FILE *out, struct sink **ret)
{
	return -EINVAL;
}

static int live_finish(struct sink *sink, const struct view *view)
{
	return 0;
}

const struct sink_ops sink_live = {
	.name = "live",
	.extension = ".live",
	.time_slices = true,
	.create = live_create,
	.sample = live_sample,
	.subscribed = live_subscribed,
	.round = live_round,
	.finish = live_finish,
	.destroy = live_destroy,
};
