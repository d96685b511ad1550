/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/log_liveness.h"

#include "jitapi-shim/log_events.h"

#define NONE LOG_NONE

/* An unload of a range that has more cells is not followed up: what it meant stays. */
#define UNLOAD_CELLS_MAX 4096

struct judge {
	struct log_events log;
	uint32_t *stack; /* of events: while replaying, of inlined ones; then, of what is kept */
	uint32_t stack_count;
	bool *ids; /* by hash: within keep_changes(), whether one with such an id stays */
	bool *stays;
};

uint64_t log_liveness_bytes(uint32_t entry_count)
{
	return log_events_bytes(entry_count) +
	       entry_count * (sizeof(uint32_t) + sizeof(bool) + 10 * sizeof(bool)) + 256;
}

/* From the last event to the first: who is the first to come over it? */
static void find_overwriters(struct log_events *log)
{
	for (uint32_t i = log->count; i-- > 0;) {
		struct log_event *event = &log->events[i];
		uint32_t number;

		if (event->kind != LOG_LOAD)
			continue;
		number = range_marks_get(&log->marks, event->from, event->to);
		if (number)
			event->overwriter = log->count - number;
		range_marks_set(&log->marks, event->from, event->to, log->count - i);
	}
	range_marks_clear(&log->marks);
}

/* A load ends, and what is inlined into it. */
static void end(struct log_events *log, uint32_t i, uint32_t ender)
{
	struct log_event *event = &log->events[i];

	if (event->ender != NONE)
		return;
	event->ender = ender;
	if (log->starts[event->from] == i)
		log->starts[event->from] = NONE;
	for (uint32_t h = event->hosted; h != NONE; h = log->events[h].next_hosted)
		log->events[h].ender = ender;
}

static bool begins_in(const struct log_event *event, const struct log_event *outer)
{
	return outer->from <= event->from && event->from < outer->to;
}

/* Give an inlined one its host; it goes on the stack, for those that waited for it. */
static void settle_one(struct judge *judge, uint32_t i, uint32_t host)
{
	struct log_event *events = judge->log.events;
	struct log_key *key = log_events_key(&judge->log, events[i].id, LOG_HOST | host);

	events[i].host = host;
	events[i].next_hosted = events[host].hosted;
	events[host].hosted = i;
	events[i].next = key->events;
	key->events = i;
	judge->stack[judge->stack_count++] = i;
}

/* Those that wait for a parent like this one and begin in it: they fit in, or are wrong. */
static void settle_children(struct judge *judge, uint32_t parent, uint32_t host)
{
	struct log_event *events = judge->log.events;
	uint32_t *link =
		&log_events_key(&judge->log, events[parent].id, events[parent].group)->waiting;

	while (*link != NONE) {
		uint32_t i = *link;

		if (!begins_in(&events[i], &events[parent])) {
			link = &events[i].next;
			continue;
		}
		*link = events[i].next;
		if (events[i].to <= events[parent].to)
			settle_one(judge, i, host);
		else
			events[i].ender = i;
	}
}

static void settle_all(struct judge *judge, uint32_t host)
{
	while (judge->stack_count)
		settle_children(judge, judge->stack[--judge->stack_count], host);
}

static void apply_load(struct judge *judge, uint32_t i)
{
	struct log_events *log = &judge->log;
	struct log_event *event = &log->events[i];
	struct log_key *key = log_events_key(log, event->id, event->group);

	while (key->events != NONE && log->events[key->events].ender != NONE)
		key->events = log->events[key->events].next;
	event->part_of = event->next = key->events;
	key->events = i;
	if (event->overwriter != NONE) {
		event->next_overwritten = log->events[event->overwriter].overwritten;
		log->events[event->overwriter].overwritten = i;
	}
	range_marks_set(&log->marks, event->from, event->to, i + 1);
	log->starts[event->from] = i;
	judge->stack[judge->stack_count++] = i;
	settle_all(judge, i);
}

/* The load in force at an event's first address. */
static uint32_t load_at(const struct log_events *log, const struct log_event *event)
{
	uint32_t number = range_marks_get(&log->marks, event->from, event->from + 1);

	return number && log->events[number - 1].ender == NONE ? number - 1 : NONE;
}

/* Its parent among the load at its place and what is inlined there; NONE: not told of yet. */
static uint32_t parent_of(const struct log_events *log, const struct log_event *event, uint32_t at)
{
	uint32_t found = NONE;

	if (at == NONE || log->events[at].group != event->group)
		return NONE;
	if (log->events[at].id == event->parent_id)
		return at;
	for (uint32_t p = log_events_key(log, event->parent_id, LOG_HOST | at)->events; p != NONE;
	     p = log->events[p].next) {
		if (!begins_in(event, &log->events[p]))
			continue;
		found = p;
		if (event->to <= log->events[p].to)
			break;
	}
	return found;
}

static void apply_inlined(struct judge *judge, uint32_t i)
{
	struct log_events *log = &judge->log;
	struct log_event *event = &log->events[i];
	uint32_t at = load_at(log, event), parent = parent_of(log, event, at);
	struct log_key *key;

	if (parent == NONE) {
		key = log_events_key(log, event->parent_id, event->group);
		event->next = key->waiting;
		key->waiting = i;
	} else if (event->to <= log->events[parent].to) {
		settle_one(judge, i, at);
		settle_all(judge, at);
	} else {
		event->ender = i;
	}
}

static void apply_unload_id(struct log_events *log, uint32_t i)
{
	struct log_key *key = log_events_key(log, log->events[i].id, log->events[i].group);

	if (log->unsure)
		return;
	for (uint32_t l = key->events; l != NONE; l = log->events[l].next)
		end(log, l, i);
	key->events = NONE;
}

static void apply_unload_range(struct log_events *log, uint32_t i)
{
	const struct log_event *event = &log->events[i];

	if (event->to - event->from > UNLOAD_CELLS_MAX)
		return;
	for (uint32_t cell = event->from; cell < event->to; cell++) {
		if (log->starts[cell] != NONE)
			end(log, log->starts[cell], i);
	}
}

static void replay(struct judge *judge)
{
	struct log_events *log = &judge->log;

	for (uint32_t i = 0; i < log->count; i++) {
		struct log_event *event = &log->events[i];

		for (uint32_t o = event->overwritten; o != NONE;
		     o = log->events[o].next_overwritten)
			end(log, o, i);
		switch (event->kind) {
		case LOG_LOAD:
			apply_load(judge, i);
			break;
		case LOG_INLINED:
			apply_inlined(judge, i);
			break;
		case LOG_UNLOAD_ID:
			apply_unload_id(log, i);
			break;
		case LOG_UNLOAD_RANGE:
			apply_unload_range(log, i);
			break;
		case LOG_CHANGE:
			event->host = load_at(log, event);
			break;
		}
	}
	range_marks_clear(&log->marks);
}

static void keep(struct judge *judge, uint32_t i)
{
	if (i == NONE || judge->stays[i])
		return;
	judge->stays[i] = true;
	judge->stack[judge->stack_count++] = i;
}

/* And whatever it needs. */
static void keep_whole(struct judge *judge, uint32_t i)
{
	keep(judge, i);
	while (judge->stack_count) {
		const struct log_event *event =
			&judge->log.events[judge->stack[--judge->stack_count]];

		keep(judge, event->part_of);
		keep(judge, event->ender);
	}
}

static bool is_in_force(const struct log_events *log, const struct log_event *event)
{
	if (event->ender != NONE)
		return false;
	return event->kind == LOG_LOAD ||
	       (event->kind == LOG_INLINED && (event->host != NONE || !event->old || log->unsure));
}

static bool *id_of(const struct judge *judge, const struct log_event *event)
{
	return &judge->ids[log_hash(event->id, 0) & judge->log.key_mask];
}

/* Whose id is unloaded by an engine that may be theirs or not: all of it stays. */
static void keep_doubtful(struct judge *judge)
{
	const struct log_events *log = &judge->log;

	for (uint32_t i = 0; i < log->count; i++) {
		if (log->events[i].kind == LOG_UNLOAD_ID)
			*id_of(judge, &log->events[i]) = true;
	}
	for (uint32_t i = 0; i < log->count; i++) {
		if (log->events[i].kind == LOG_LOAD && *id_of(judge, &log->events[i]))
			keep_whole(judge, i);
	}
}

/* What changes one that stays, or unloads by an id or on a range of which one stays. */
static void keep_changes(struct judge *judge)
{
	struct log_events *log = &judge->log;

	for (uint32_t i = 0; i < log->count; i++) {
		const struct log_event *event = &log->events[i];
		bool *stays = &judge->stays[i];

		if (event->kind == LOG_CHANGE) {
			*stays = event->host != NONE && judge->stays[event->host];
		} else if (event->kind == LOG_UNLOAD_RANGE) {
			*stays |= range_marks_get(&log->marks, event->from, event->to) != 0;
		} else if (event->kind == LOG_UNLOAD_ID) {
			*stays |= *id_of(judge, event);
		} else if (*stays) {
			range_marks_set(&log->marks, event->from, event->to, i + 1);
			*id_of(judge, event) = true;
		}
	}
}

const bool *log_liveness_judge(const void *log, uint32_t entry_count, struct scratch *scratch)
{
	struct judge judge = {0};

	log_events_read(&judge.log, log, entry_count, scratch);
	judge.stack = scratch_take(scratch, entry_count * sizeof(*judge.stack));
	judge.ids = scratch_take(scratch, (judge.log.key_mask + 1ull) * sizeof(*judge.ids));
	judge.stays = scratch_take(scratch, entry_count * sizeof(*judge.stays));

	find_overwriters(&judge.log);
	replay(&judge);
	if (judge.log.unsure)
		keep_doubtful(&judge);
	for (uint32_t i = 0; i < entry_count; i++) {
		if (is_in_force(&judge.log, &judge.log.events[i]))
			keep_whole(&judge, i);
	}
	keep_changes(&judge);
	return judge.stays;
}
