/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/event_counts.h"

#include <errno.h>
#include <string.h>

#include "pipeline/analysis/epoch.h"

/* The fates of a row, its place, and the nodes and counts of epoch_rest_node(). */
#define EVENT_ROW_BYTES                                                                            \
	(sizeof(struct event_fates) + sizeof(uint32_t) + 2 * PROFILE_NODE_BYTES +                  \
	 2 * THREAD_COUNT_BYTES)

uint64_t event_fates_taken(const struct event_fates *fates)
{
	uint64_t taken = 0;

	for (int i = 0; i < FATE_COUNT; i++)
		taken += fates->fate[i];
	return taken;
}

int event_counts_row(struct epoch *epoch, uint32_t event, uint32_t row, struct event_fates **ret)
{
	struct event_counts *counts = &epoch->events[event];

	while (counts->places.size <= row) {
		if (vec_push(&counts->places, 0u))
			return -ENOMEM;
	}
	if (!counts->places.data[row]) {
		if (vec_push(&counts->rows, (struct event_fates){0}))
			return -ENOMEM;
		counts->places.data[row] = (uint32_t)counts->rows.size;
		epoch_pay_beyond(epoch, EVENT_ROW_BYTES);
	}
	*ret = &counts->rows.data[counts->places.data[row] - 1];
	return 0;
}

void event_counts_deinit(struct event_counts *counts)
{
	profile_deinit(&counts->profile);
	thread_counts_deinit(&counts->threads);
	time_slices_deinit(&counts->slices);
	vec_deinit(&counts->places);
	vec_deinit(&counts->rows);
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

/* --- the view of one event ------------------------------------------------------------ */

const struct view *event_view(struct epoch *e)
{
	struct event_counts *counts = &e->events[e->shown];
	const struct run_event *event;

	if (!e->shown)
		return &e->view;
	event = &e->info.events[e->shown - 1];
	e->shown_info = e->info;
	e->shown_info.event = event->name;
	e->shown_info.unit = event->unit;
	e->shown_info.period = event->period;
	e->shown_info.freq_hz = 0;
	e->shown_view = e->view;
	e->shown_view.event = e->shown;
	e->shown_view.info = &e->shown_info;
	e->shown_view.profile = &counts->profile;
	e->shown_view.threads = &counts->threads;
	e->shown_view.slices = e->view.slices ? &counts->slices : NULL;
	e->shown_view.ledger = &e->shown_ledger;
	return &e->shown_view;
}

/* Copy the epoch's ledger, with the fates of the event instead of those of CPU time. */
static int complete_ledger(struct epoch *e, uint64_t before)
{
	const struct event_counts *counts = &e->events[e->shown];
	const struct ledger *from = &e->ledger_now;
	struct ledger *to = &e->shown_ledger;
	__typeof__(to->processes) rows = to->processes;

	rows.size = 0;
	if (vec_reserve(&rows, from->processes.size))
		return -ENOMEM;
	vec_for_each (process, &from->processes) {
		struct ledger_process row = *process;
		size_t number = rows.size;
		struct event_fates fates = {0};

		if (number < counts->places.size && counts->places.data[number])
			fates = counts->rows.data[counts->places.data[number] - 1];
		memcpy(row.fate, fates.fate, sizeof(row.fate));
		memcpy(row.cut, fates.cut, sizeof(row.cut));
		row.frame_pointers = fates.frame_pointers;
		rows.data[rows.size++] = row;
	}
	*to = *from;
	to->processes = rows;
	memset(&to->changed_blocks, 0, sizeof(to->changed_blocks));
	memcpy(to->fate, counts->all.fate, sizeof(to->fate));
	memcpy(to->cut, counts->all.cut, sizeof(to->cut));
	to->frame_pointers = counts->all.frame_pointers;
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
		.lost = e->ledger_now.fate[FATE_LOST],
	};
	for (uint32_t i = 1; i <= info->more_events; i++) {
		const struct run_event *event = &info->events[i - 1];
		const struct event_counts *counts = &e->events[i];

		e->totals[i] = (struct event_total){
			.name = event->name,
			.unit = event->unit,
			.period = event->period,
			.samples = event_fates_taken(&counts->all),
			.lost = counts->all.fate[FATE_LOST],
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

int event_view_complete(struct epoch *e, const uint64_t before[JITBPF_EVENTS_MAX])
{
	complete_totals(e, before);
	return e->shown ? complete_ledger(e, before[e->shown]) : 0;
}
