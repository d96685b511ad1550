/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/log_liveness.h"

#include <string.h>

#include "jitapi-shim/caller_engine.h"
#include "jitapi-shim/live_loads.h"
#include "jitapi-shim/record.h"
#include "uapi/jit_journal.h"

#define PARENT_WAIT_NS 10000000000ull /* an inlined method waits this long for its parent */
#define WAITING_MAX    1024	      /* so many inlined methods wait without a time limit */
#define NAMES_MAX      4096	      /* limit of dead entries that stay for names */

/* The starts are sorted where the live loads and the result will be. */
uint64_t log_liveness_bytes(uint32_t entry_count)
{
	return sizeof(struct caller_engines) + (entry_count + 1ull) * sizeof(struct log_event) +
	       (entry_count / 63ull + 2 * LIVE_LEVELS) * sizeof(uint64_t) +
	       2 * (entry_count + 1ull) * sizeof(struct log_start);
}

/* --- methods by ID ------------------------------------------------------------------ */

/*
 * Engines count their IDs, so the IDs of neighbours in the log have neighbouring buckets, in the
 * same cache lines. The number of buckets is odd: IDs may be multiples of a power of two.
 */
static struct log_event *bucket_of(const struct judge *judge, uint32_t id, uint8_t engine)
{
	uint32_t buckets = judge->count - (judge->count % 2 == 0);

	return &judge->events[1 + (id + engine * 0x9e3779b9ull) % buckets];
}

/* Returns the last live LOAD or METHOD with an event's ID, or 0. Removes dead ones on the way. */
static uint32_t load_of(const struct judge *judge, const struct log_event *event)
{
	uint32_t id = event->id;
	uint32_t *link = &bucket_of(judge, id, event->engine)->loads;

	while (*link) {
		struct log_event *load = &judge->events[*link];

		if (load->ender)
			*link = load->next;
		else if (load->id == id && load->engine == event->engine)
			break;
		else
			link = &load->next;
	}
	return *link;
}

/* --- inlined methods -------------------------------------------------------------- */

static bool is_parent(const struct log_event *parent, const struct log_event *event)
{
	return parent->id == event->header->parent_id && parent->engine == event->engine &&
	       parent->start <= event->start && event->start < parent->end;
}

/* Returns an inlined method's parent: the load at its start or a method inlined there; or 0. */
static uint32_t parent_in(const struct judge *judge, const struct log_event *event, uint32_t host)
{
	const struct log_event *events = judge->events;
	uint32_t found = 0;

	if (!host || is_parent(&events[host], event))
		return host;
	for (uint32_t i = events[host].inlines; i; i = events[i].next) {
		if (!is_parent(&events[i], event))
			continue;
		found = i;
		if (event->end <= events[i].end)
			break;
	}
	return found;
}

/*
 * Attaches a parent's orphans that fit in it to the load that hosts the parent, and then the
 * orphans of these orphans.
 */
static void adopt_fitting(struct judge *judge, uint32_t parent, uint32_t host)
{
	struct log_event *events = judge->events;

	events[parent].todo = 0;
	while (parent) {
		const struct log_event *outer = &events[parent];
		uint32_t *link = &bucket_of(judge, outer->id, outer->engine)->orphans, i;

		parent = outer->todo;
		while ((i = *link)) {
			struct log_event *event = &events[i];

			if (!is_parent(outer, event) || event->end > outer->end) {
				link = &event->next;
				continue;
			}
			*link = event->next;
			if (event->kind == NOTHING)
				continue;
			event->host = host;
			event->next = events[host].inlines;
			events[host].inlines = i;
			event->todo = parent;
			parent = i;
		}
	}
}

/* Drops a parent's orphans. They reach out of it. */
static void drop_orphans(struct judge *judge, const struct log_event *parent)
{
	uint32_t *link = &bucket_of(judge, parent->id, parent->engine)->orphans;

	while (*link) {
		struct log_event *event = &judge->events[*link];

		if (is_parent(parent, event)) {
			event->kind = NOTHING;
			*link = event->next;
		} else {
			link = &event->next;
		}
	}
}

/*
 * A parent has its place in a load, its host: so have its orphans, and theirs. Those that fit in no
 * parent are dropped; a method may be inlined several times, and an orphan may fit in the last one.
 */
static void adopt(struct judge *judge, uint32_t parent, uint32_t host)
{
	const struct log_event *events = judge->events;
	uint32_t before = events[host].inlines;

	adopt_fitting(judge, parent, host);
	drop_orphans(judge, &events[parent]);
	for (uint32_t i = events[host].inlines; i != before; i = events[i].next)
		drop_orphans(judge, &events[i]);
}

/* --- replay ----------------------------------------------------------------------- */

static void apply_load(struct judge *judge, uint32_t i)
{
	struct log_event *event = &judge->events[i];
	struct log_event *bucket = bucket_of(judge, event->id, event->engine);

	live_loads_end(judge, live_loads_at(judge, event), i);
	live_loads_end_in(judge, i);
	live_loads_begin(judge, i);
	event->part_of = load_of(judge, event);
	if (event->part_of && judge->events[event->part_of].kind == METHOD)
		judge->events[event->part_of].ender = i;
	event->next = bucket->loads;
	bucket->loads = i;
	adopt(judge, i, i);
}

/* The first report of a method counts. */
static void apply_method(struct judge *judge, uint32_t i)
{
	struct log_event *event = &judge->events[i];
	struct log_event *bucket = bucket_of(judge, event->id, event->engine);

	if (load_of(judge, event)) {
		event->kind = NOTHING;
		return;
	}
	event->next = bucket->loads;
	bucket->loads = i;
}

static void apply_inlined(struct judge *judge, uint32_t i)
{
	struct log_event *event = &judge->events[i];
	struct log_event *bucket = bucket_of(judge, event->header->parent_id, event->engine);
	uint32_t host = live_loads_at(judge, event), parent = parent_in(judge, event, host);

	event->next = bucket->orphans;
	bucket->orphans = i;
	if (parent)
		adopt(judge, parent, host);
}

/* Ends the live name of an event's thread. A THREAD event begins a new one. */
static void apply_thread(struct judge *judge, uint32_t i)
{
	struct log_event *event = &judge->events[i];
	uint32_t tid = event->id;
	uint32_t *first = &bucket_of(judge, tid, 0)->threads, *link = first;

	while (*link) {
		struct log_event *named = &judge->events[*link];

		if (named->id == tid) {
			named->ender = i;
			*link = named->next;
		} else {
			link = &named->next;
		}
	}
	if (event->kind != THREAD)
		return;
	event->next = *first;
	*first = i;
}

static void apply(struct judge *judge, uint32_t i)
{
	struct log_event *event = &judge->events[i];
	uint32_t load;

	switch (event->kind) {
	case LOAD:
		apply_load(judge, i);
		break;
	case METHOD:
		apply_method(judge, i);
		break;
	case INLINED:
		apply_inlined(judge, i);
		break;
	case UNLOAD_ID:
		while ((load = load_of(judge, event)))
			live_loads_end(judge, load, i);
		break;
	case UNLOAD_RANGE:
		live_loads_end_in(judge, i);
		event->host = live_loads_at(judge, event); /* the event may mean this load */
		break;
	case UPDATE:
		event->host = live_loads_at(judge, event);
		break;
	case THREAD:
	case THREAD_END:
		apply_thread(judge, i);
		break;
	}
}

/* --- what stays ------------------------------------------------------------------- */

/* Marks the live loads, methods and threads, and waiting inlined methods. Returns their number. */
static uint32_t keep_live(struct judge *judge, uint64_t now_ns)
{
	uint32_t count = 0, waiting = 0;

	judge->stays[0] = false;
	for (uint32_t i = judge->count; i; i--) {
		const struct log_event *event = &judge->events[i];

		if (event->kind == INLINED && !event->host)
			judge->stays[i] = waiting++ < WAITING_MAX ||
					  now_ns - event->header->time_ns <= PARENT_WAIT_NS;
		else
			judge->stays[i] = (event->kind == LOAD || event->kind == METHOD ||
					   event->kind == THREAD) &&
					  !event->ender;
		count += judge->stays[i];
	}
	return count;
}

static uint32_t keep(struct judge *judge, uint32_t i, uint32_t *todo)
{
	if (!i || judge->stays[i] || judge->events[i].kind == NOTHING)
		return 0;
	judge->stays[i] = true;
	judge->events[i].todo = *todo;
	*todo = i;
	return 1;
}

/*
 * Marks the dead loads from which a load that stays has its name, and the events that ended them.
 * Returns the number of newly marked events.
 */
static uint32_t keep_names(struct judge *judge)
{
	uint32_t count = 0, todo = 0;

	for (uint32_t i = 1; i <= judge->count; i++) {
		if (judge->stays[i])
			count += keep(judge, judge->events[i].part_of, &todo);
		while (todo) {
			const struct log_event *event = &judge->events[todo];

			todo = event->todo;
			count += keep(judge, event->part_of, &todo);
			count += keep(judge, event->ender, &todo);
		}
	}
	return count;
}

/*
 * Ends what lost events may have ended: before event `at`, all that jitbpf_journal_is_unsure() says
 * of. Readers ignore it, too, so its strings are of no use.
 */
static void end_unsure(struct judge *judge, uint32_t at, const struct jitbpf_journal_unsure *unsure)
{
	for (uint32_t i = 1; i < at; i++) {
		struct log_event *event = &judge->events[i];

		if (!jitbpf_journal_is_unsure(unsure, event->header))
			continue;
		if (event->kind == LOAD && !event->ender)
			live_loads_end(judge, i, i);
		if (event->kind != INLINED || !event->host)
			event->kind = NOTHING;
		event->ender = i;
	}
}

/* Without the event that ended it, a dead entry would be live again: both go. */
static void end_unended(struct judge *judge)
{
	for (uint32_t i = judge->count; i; i--) {
		uint32_t ender = judge->events[i].ender; /* a later event, or itself */

		if (ender && judge->events[ender].kind == NOTHING)
			judge->events[i].kind = NOTHING;
	}
}

static void replay(struct judge *judge, const struct jitbpf_journal_unsure *unsure,
		   uint64_t *ret_now_ns)
{
	uint32_t i, unsure_at = 0;

	for (i = 1; i <= judge->count; i++) {
		const struct jitbpf_jit_header *header = judge->events[i].header;

		judge_step(judge, i);
		if (!unsure_at && header->sequence >= unsure->before) {
			unsure_at = i;
			end_unsure(judge, i, unsure);
		}
		apply(judge, i);
		if (*ret_now_ns < header->time_ns)
			*ret_now_ns = header->time_ns;
	}
	if (!unsure_at)
		end_unsure(judge, i, unsure);
	if (unsure->before)
		end_unended(judge);
}

/* Lays out the memory. */
static void begin(struct judge *judge, struct caller_engines *engines)
{
	uint64_t *words;

	*engines = (struct caller_engines){0};
	judge->events = (void *)(engines + 1);
	judge->events[0] = (struct log_event){0};
	words = (void *)(judge->events + judge->count + 1);
	for (uint32_t level = 0, ranks = judge->count; level < LIVE_LEVELS; level++) {
		ranks = ranks / 64 + 1;
		judge->live[level] = words;
		words += ranks;
	}
	memset(judge->live[0], 0, (size_t)((char *)words - (char *)judge->live[0]));
	judge->loads = (void *)words;
	judge->stays = (bool *)(judge->loads + judge->count);
}

const bool *log_liveness_judge(const void *log, uint32_t entry_count,
			       const struct jitbpf_journal_unsure *unsure, void *memory,
			       void (*progress)(void))
{
	struct judge judge = {.count = entry_count, .progress = progress};
	uint64_t now_ns = 0;
	uint32_t live_count;

	begin(&judge, memory);
	if (!log_events_read(&judge, log, memory))
		return memset(judge.stays, true, entry_count);
	live_loads_rank(&judge, (void *)judge.loads);
	replay(&judge, unsure, &now_ns);
	live_count = keep_live(&judge, now_ns);
	if (keep_names(&judge) > live_count + NAMES_MAX)
		keep_live(&judge, now_ns);
	for (uint32_t i = 1; i <= entry_count; i++)
		judge.stays[i] |= judge.stays[judge.events[i].host];
	return judge.stays + 1;
}
