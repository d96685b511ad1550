/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/epoch/event_counts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline/analysis/epoch/epoch.h"

/* The fates of a row, its place, and the nodes and counts of epoch_rest_node(). */
#define EVENT_ROW_BYTES                                                                            \
	(sizeof(struct event_fates) + sizeof(uint32_t) + 2 * PROFILE_NODE_BYTES +                  \
	 2 * THREAD_COUNT_BYTES)

int event_counts_row(struct epoch *epoch, uint32_t event, uint32_t row, struct event_fates **ret)
{
	int added = event_rows_get(&epoch->events[event].fates, row, ret);

	if (added < 0)
		return added;
	if (added)
		epoch_pay_beyond(epoch, EVENT_ROW_BYTES);
	(*ret)->changed_round = epoch->round;
	return 0;
}

void event_counts_deinit(struct event_counts *counts)
{
	profile_deinit(&counts->profile);
	thread_counts_deinit(&counts->threads);
	hidden_totals_deinit(&counts->hidden);
	time_slices_deinit(&counts->slices);
	event_rows_deinit(&counts->fates);
}

uint32_t event_number(const struct epoch *epoch, const char *name)
{
	const struct run_info *info = &epoch->info;

	if (!strcmp(name, RUN_CPU_TIME) || (*info->event && !strcmp(name, info->event)))
		return 0;
	for (uint32_t i = 0; i < info->more_events; i++) {
		if (!strcmp(name, info->events[i].name))
			return i + 1;
	}
	return JITBPF_EVENTS_MAX;
}

/* --- views ---------------------------------------------------------------------------- */

int event_views_create(struct epoch *e)
{
	if (!e->info.more_events || e->views)
		return 0;
	e->views = calloc(JITBPF_EVENTS_MAX - 1, sizeof(*e->views));
	if (!e->views)
		return -ENOMEM;
	e->by_event[0] = &e->view;
	for (uint32_t i = 1; i < JITBPF_EVENTS_MAX; i++)
		e->by_event[i] = &e->views[i - 1].view;
	e->view.by_event = e->by_event;
	for (uint32_t i = 1; i <= e->info.more_events; i++)
		event_view(e, i);
	return 0;
}

void event_views_destroy(struct epoch *e)
{
	for (uint32_t i = 0; e->views && i < JITBPF_EVENTS_MAX - 1; i++)
		ledger_deinit(&e->views[i].ledger);
	free(e->views);
}

const struct view *event_view(struct epoch *e, uint32_t number)
{
	struct event_view *own = number ? &e->views[number - 1] : NULL;
	const struct run_event *event = number ? &e->info.events[number - 1] : NULL;
	struct event_counts *counts = &e->events[number];

	if (!number)
		return &e->view;
	own->info = e->info;
	own->info.event = event->name;
	own->info.unit = event->unit;
	own->info.period = event->period;
	own->info.freq_hz = 0;
	own->view = e->view;
	own->view.event = number;
	own->view.info = &own->info;
	own->view.profile = &counts->profile;
	own->view.threads = &counts->threads;
	own->view.hidden = &counts->hidden;
	own->view.slices = e->view.slices ? &counts->slices : NULL;
	own->view.ledger = &own->ledger;
	return &own->view;
}

/* Copy the epoch's ledger, with the counts of the event instead of those of CPU time. */
static int complete_ledger(struct epoch *e, uint32_t number, uint64_t before)
{
	const struct event_counts *counts = &e->events[number];
	struct ledger *to = &e->views[number - 1].ledger;
	int err = event_rows_ledger(&counts->fates, &e->ledger_now, to);

	if (err)
		return err;
	to->throttled_ns = to->throttles = 0; /* of the sampling of CPU time */
	to->samples_before = counts->taken ? before : 0;
	to->counters[JITBPF_COUNT_SAMPLES_TAKEN] = counts->taken - to->samples_before;
	return 0;
}

static uint64_t weight_of(uint64_t amount, uint64_t period)
{
	uint64_t weight;

	return __builtin_mul_overflow(amount, period ?: 1, &weight) ? UINT64_MAX : weight;
}

static void complete_totals(struct epoch *e, const uint64_t before[JITBPF_EVENTS_MAX])
{
	const struct run_info *info = &e->info;

	e->totals[0] = (struct event_total){
		.name = RUN_CPU_TIME,
		.unit = "ns",
		.period = info->freq_hz ? 1000000000 / info->freq_hz : 0,
		.samples = ledger_taken(&e->ledger_now),
		.lost = e->ledger_now.samples.fate[FATE_LOST],
	};
	for (uint32_t i = 1; i <= info->more_events; i++) {
		const struct run_event *event = &info->events[i - 1];
		const struct event_counts *counts = &e->events[i];

		e->totals[i] = (struct event_total){
			.name = event->name,
			.unit = event->unit,
			.period = event->period,
			.samples = sample_fates_taken(&counts->fates.all.samples),
			.lost = counts->fates.all.samples.fate[FATE_LOST],
			.counted = counts->taken ? counts->taken - before[i] : 0,
			.before = counts->taken ? before[i] : 0,
		};
	}
	for (uint32_t i = 0; i <= info->more_events; i++) {
		struct event_total *total = &e->totals[i];

		/* Each lost sample had the event's period as its weight, if there is one. */
		total->weight = weight_of(e->events[i].amount + (total->period ? total->lost : 0),
					  total->period);
	}
	e->view.events = e->totals;
	e->view.event_count = info->more_events + 1;
}

int event_views_complete(struct epoch *e, const uint64_t before[JITBPF_EVENTS_MAX])
{
	int err = 0;

	complete_totals(e, before);
	for (uint32_t i = 1; i <= e->info.more_events && !err; i++) {
		err = complete_ledger(e, i, before[i]);
		event_view(e, i);
	}
	return err;
}
