/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "agent/publisher/jitdump_emission.h"

#include <errno.h>
#include <string.h>

#include "agent/clock.h"

#define TIME_SLACK_NS                                                                              \
	20000000u /* from an event until its record is whole; a thread may be preempted */

/*
 * Set the time of an event to the engine's time, unless that is impossible: in the future, or
 * before the run although the file was mapped later, as with another time namespace. Events from
 * before the run get the time of its start.
 */
static void set_time(struct jitdump_emission *emission, struct code_event *event)
{
	const struct jitdump_followed *followed = emission->followed;

	if (event->time_ns > emission->now_ns)
		emission->now_ns = clock_now_ns();
	event->reported_ns = emission->now_ns;
	if (event->time_ns > emission->now_ns) {
		event->time_ns = emission->now_ns;
		event->flags |= JITBPF_EVENT_TIME_CORRECTED;
	} else if (event->time_ns < emission->came_ns) {
		event->time_ns = followed->mapped_ns;
		event->flags |= followed->mapped_ns == emission->came_ns
					? JITBPF_EVENT_RECOVERED | JITBPF_EVENT_BEFORE_RUN
					: JITBPF_EVENT_TIME_CORRECTED;
	}
	event->since_ns = event->time_ns;
	emission->late_events += event->time_ns + TIME_SLACK_NS < followed->settled_ns;
}

/* Emit the machine code of a load for the unwinder, as much as a copy holds. */
static int emit_code(struct jitdump_emission *emission, const struct code_event *event,
		     const void *code)
{
	size_t bytes =
		event->size_bytes < JITBPF_CODE_COPY_MAX ? event->size_bytes : JITBPF_CODE_COPY_MAX;
	struct jitbpf_code head = {
		.h = {.size_bytes = (uint32_t)(sizeof(head) + bytes),
		      .type = JITBPF_CODE,
		      .flags = JITBPF_PUBLISHER_JITDUMP,
		      .time_ns = event->time_ns},
		.pid = event->pid,
		.sequence = event->origin.sequence,
		.address = event->address,
		.size_bytes = event->size_bytes,
	};

	if (event->flags & JITBPF_EVENT_BEFORE_RUN || bytes > emission->code_bytes)
		return 0;
	emission->code_bytes -= bytes;
	if (vec_reserve(emission->record, head.h.size_bytes))
		return -ENOMEM;
	memcpy(emission->record->data, &head, sizeof(head));
	memcpy(emission->record->data + sizeof(head), code, bytes);
	return emission->take(emission->take_context,
			      (const struct jitbpf_record *)emission->record->data);
}

static int emit_event(struct jitdump_emission *emission, const struct code_event *event)
{
	size_t bytes = code_event_record_bytes(event);

	if (!bytes) {
		emission->followed->file.counts.over_budget++;
		return 0;
	}
	if (vec_reserve(emission->record, bytes))
		return -ENOMEM;
	code_event_encode(event, (struct jitbpf_code_event *)emission->record->data);
	return emission->take(emission->take_context,
			      (const struct jitbpf_record *)emission->record->data);
}

/*
 * A child may have written a record before its FORK is seen. So a record of an unknown writer waits
 * until all forks before it are known. A time in the future does not prolong that.
 */
bool jitdump_emit_is_ready(void *context, uint32_t inner_pid, uint64_t time_ns)
{
	struct jitdump_emission *emission = context;
	struct jitdump_followed *followed = emission->followed;
	uint64_t since_ns = followed->waits_ns ?: emission->now_ns;

	if (time_ns > since_ns)
		time_ns = since_ns;
	if (time_ns < emission->forks_ns ||
	    jitdump_followed_writer(followed, emission->text, inner_pid, NULL)) {
		followed->waits_ns = 0;
		return true;
	}
	followed->waits_ns = since_ns;
	return false;
}

/* A search for an unknown writer among thousands of heirs costs as much as reading some KB. */
static void charge_search(struct jitdump_emission *emission)
{
	uint64_t cost = emission->followed->heirs.size;

	*emission->budget_bytes -= cost < *emission->budget_bytes ? cost : *emission->budget_bytes;
}

int jitdump_emit(void *context, struct code_event *event, const void *code)
{
	struct jitdump_emission *emission = context;
	struct jitdump_followed *followed = emission->followed;
	uint64_t *sequence;
	int err;

	event->pid = jitdump_followed_writer(followed, emission->text, event->pid, &sequence);
	if (!event->pid) {
		followed->file.counts.foreign++;
		charge_search(emission);
		return 0;
	}
	event->tid = event->pid;
	event->origin.engine = followed->number;
	event->origin.sequence = (*sequence)++;
	set_time(emission, event);
	err = emit_event(emission, event);
	if (!err && event->kind == JITBPF_CODE_LOAD && code)
		err = emit_code(emission, event, code);
	emission->err = err;
	return err;
}

int jitdump_emit_counts(struct jitdump_emission *emission)
{
	const struct jitdump_counts *now = &emission->followed->file.counts;
	struct jitdump_counts *told = &emission->followed->told;
	struct jitbpf_code_refused record = {
		.h = {.size_bytes = sizeof(record),
		      .type = JITBPF_CODE_REFUSED,
		      .time_ns = emission->now_ns},
		.pid = emission->followed->pid,
		.publisher = JITBPF_PUBLISHER_JITDUMP,
		.malformed = now->malformed + now->foreign - told->malformed - told->foreign,
		.incomplete = now->incomplete - told->incomplete,
		.over_budget = now->over_budget - told->over_budget,
		.unreadable = now->unreadable - told->unreadable,
	};

	if (!memcmp(now, told, sizeof(*now)))
		return 0;
	*told = *now;
	return emission->take(emission->take_context, &record.h);
}
