/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a delta has of events from 1 on. */
#include <stdlib.h>
#include <string.h>

#include "base/scope.h"
#include "sink/live/delta_format.h"
#include "sink/live/delta_reading.h"

static char *take_own_text(struct delta_reading *r)
{
	size_t size;
	const char *text = delta_take_text(r, &size);
	char *own;

	delta_charge(r, size);
	own = r->error ? NULL : strndup(text, size);
	if (!own)
		delta_fail(r, -ENOMEM);
	return own;
}

static void take_event_info(struct delta_reading *r, uint32_t number)
{
	struct delta_profile *p = r->profile;
	struct delta_event *event = &p->events[number - 1];
	struct run_event *info = &p->info.events[number - 1];

	info->name = event->texts[0] = take_own_text(r);
	info->unit = event->texts[1] = take_own_text(r);
	info->period = delta_take(r);
	p->by_event[number] = &event->view;
}

/* After all infos: each view has a copy of them. */
static void begin_event(struct delta_profile *p, uint32_t number)
{
	struct delta_event *event = &p->events[number - 1];

	event->info = p->info;
	event->info.event = p->info.events[number - 1].name;
	event->info.unit = p->info.events[number - 1].unit;
	event->info.period = p->info.events[number - 1].period;
	event->info.freq_hz = 0;
	event->view = p->view;
	event->view.event = number;
	event->view.info = &event->info;
	event->view.profile = &event->samples.profile;
	event->view.threads = &event->samples.threads;
	event->view.slices = &event->samples.slices;
	event->view.ledger = &event->ledger;
	event->view.by_event = p->by_event;
}

static void take_event_infos(struct delta_reading *r)
{
	struct delta_profile *p = r->profile;
	uint32_t count = delta_take_below(r, JITBPF_EVENTS_MAX);

	if (!count)
		delta_fail(r, -EBADMSG);
	delta_charge(r, count * sizeof(*p->events));
	p->events = r->error ? NULL : calloc(count, sizeof(*p->events));
	if (!p->events) {
		delta_fail(r, -ENOMEM);
		return;
	}
	p->info.more_events = count;
	p->by_event[0] = &p->view;
	p->view.by_event = p->by_event;
	for (uint32_t i = 1; i <= count && !r->error; i++)
		take_event_info(r, i);
	for (uint32_t i = 1; i <= count && !r->error; i++)
		begin_event(p, i);
}

static void take_fates(struct delta_reading *r, uint32_t number)
{
	struct event_rows *rows = &r->event->fates;
	size_t places = rows->places.size > number ? 0 : number + 1 - rows->places.size;
	struct event_fates *fates;
	int added;

	delta_charge(r, places * sizeof(*rows->places.data));
	if (r->error)
		return;
	added = event_rows_get(rows, number, &fates);
	if (added > 0)
		delta_charge(r, sizeof(*fates));
	delta_fail(r, added < 0 ? added : 0);
	if (!r->error)
		delta_take_fields(r, fates, delta_fates, ARRAY_SIZE(delta_fates));
}

static void take_event(struct delta_reading *r, struct delta_event *event)
{
	r->event = event;
	r->to = &event->samples;
	delta_take_samples(r);
	delta_take_counted(r);
	delta_take_changed(r, r->profile->ledger.processes.size, take_fates);
	delta_take_slices(r);
}

void delta_take_events(struct delta_reading *r, const struct delta_header *header)
{
	struct delta_profile *p = r->profile;
	bool has_events = header->flags & DELTA_EVENTS;

	if (has_events && !header->from && !r->error)
		take_event_infos(r);
	if (has_events != (p->info.more_events > 0))
		delta_fail(r, -EBADMSG);
	for (uint32_t i = 0; i < p->info.more_events && !r->error; i++)
		take_event(r, &p->events[i]);
}

/* The ledger of an event, with its totals, which the delta has. */
static void complete_event(struct delta_reading *r, struct delta_event *event)
{
	const struct ledger *of_cpu_time = &r->profile->ledger;
	size_t rows = of_cpu_time->processes.size;

	if (rows > event->rows_max) {
		delta_charge(r, (rows - event->rows_max) * sizeof(struct ledger_process));
		event->rows_max = rows;
	}
	if (!r->error)
		delta_fail(r, event_rows_ledger(&event->fates, of_cpu_time, &event->ledger));
	delta_take_fields(r, &event->ledger, delta_totals, ARRAY_SIZE(delta_totals));
	if (event->samples.rows_due > rows)
		delta_fail(r, -EBADMSG);
	event->info.duration_ns = r->profile->info.duration_ns;
	event->view.lane = r->profile->view.lane;
}

void delta_complete_events(struct delta_reading *r)
{
	for (uint32_t i = 0; i < r->profile->info.more_events && !r->error; i++)
		complete_event(r, &r->profile->events[i]);
}

static void deinit_event(struct delta_event *event)
{
	delta_samples_deinit(&event->samples);
	event_rows_deinit(&event->fates);
	ledger_deinit(&event->ledger);
	for (size_t i = 0; i < ARRAY_SIZE(event->texts); i++)
		free(event->texts[i]);
}

void delta_events_deinit(struct delta_profile *p)
{
	for (uint32_t i = 0; i < p->info.more_events; i++)
		deinit_event(&p->events[i]);
	free(p->events);
}
