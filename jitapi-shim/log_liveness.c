/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "jitapi-shim/log_liveness.h"

#include <string.h>

#include "jitapi-shim/caller_engine.h"
#include "jitapi-shim/record.h"
#include "uapi/jit_journal.h"

#define PARENT_WAIT_NS 10000000000ull /* an inlined method waits this long for its parent */
#define WAITING_MAX    1024	      /* so many inlined methods wait without a time limit */
#define LEVELS	       5	      /* for 64^5 ranks */
#define NAMES_MAX      4096	      /* limit of dead entries that stay for names */

enum kind { NOTHING, LOAD, METHOD, INLINED, UNLOAD_ID, UNLOAD_RANGE, UPDATE, THREAD, THREAD_END };

/* Events refer to each other by number in the log, from 1. 0: none. */
struct event {
	const struct jitbpf_jit_header *header;
	uint64_t start, end; /* of the code */
	uint8_t kind, engine;
	uint32_t rank;	  /* of start among all starts */
	uint32_t ender;	  /* LOAD, METHOD, THREAD: the event that ended it */
	uint32_t part_of; /* LOAD: the previous report of the method, if that was live then */
	uint32_t inlines; /* LOAD: list of the methods that are inlined there */
	uint32_t host;	  /* other kinds: the load that the event describes */
	/* LOAD, METHOD: in loads; INLINED: in orphans, then in inlines; THREAD: in threads */
	uint32_t next;
	uint32_t todo; /* in a work list */
	/* A bucket of the hash table by engine and ID; it does not belong to the event. */
	uint32_t loads;
	uint32_t orphans; /* INLINED whose parent has that ID and has not been reported */
	uint32_t threads; /* live THREADs with that tid */
};

struct judge {
	struct event *events;
	uint32_t count;
	/* Level 0: bitmap of the ranks of live loads. Others: of words below that are not 0. */
	uint64_t *live[LEVELS];
	uint32_t *loads; /* the live loads by rank */
	bool *stays;
};

uint64_t log_liveness_bytes(uint32_t entry_count)
{
	return sizeof(struct caller_engines) + (entry_count + 1ull) * sizeof(struct event) +
	       (entry_count / 63ull + 2 * LEVELS) * sizeof(uint64_t) +
	       2ull * entry_count * sizeof(uint32_t) + (entry_count + 1ull) * sizeof(bool);
}

/* --- reading the log -------------------------------------------------------------- */

static enum kind kind_of(const struct jitbpf_jit_header *header)
{
	if (header->event == JIT_EVENT_UNLOAD && header->method_id)
		return UNLOAD_ID;
	if (header->event == JIT_EVENT_JVM_THREAD)
		return THREAD;
	if (header->event == JIT_EVENT_JVM_THREAD_END)
		return THREAD_END;
	if (record_is_method(header))
		return METHOD;
	if (!header->address || header->address + header->code_bytes <= header->address)
		return NOTHING;
	if (jit_event_is_load(header->event))
		return header->method_id ? LOAD : NOTHING;
	switch (header->event) {
	case JIT_EVENT_INLINE_LOAD:
		return header->method_id ? INLINED : NOTHING;
	case JIT_EVENT_UNLOAD:
	case JIT_EVENT_JVM_UNLOAD:
		return UNLOAD_RANGE;
	case JIT_EVENT_UPDATE:
	case JIT_EVENT_UPDATE_V2:
		return UPDATE;
	}
	return NOTHING;
}

/* Returns false if the log has events with IDs, and the engine of some event is not known. */
static bool read_log(struct judge *judge, const void *log, struct caller_engines *engines)
{
	const struct jitbpf_journal_entry *entry = log;
	bool by_engine = false;

	for (uint32_t i = 1; i <= judge->count; i++) {
		struct event *event = &judge->events[i];

		event->header = &entry->header;
		event->start = entry->header.address;
		event->end = event->start + entry->header.code_bytes;
		event->kind = (uint8_t)kind_of(event->header);
		event->engine = caller_engines_index(engines, entry->header.caller);
		by_engine |=
			event->kind == INLINED || event->kind == UNLOAD_ID || event->kind == METHOD;
		entry = (const void *)((const char *)entry + entry->size_bytes);
	}
	caller_engines_resolve(engines);
	for (uint32_t i = 1; i <= judge->count; i++)
		judge->events[i].engine = engines->callers[judge->events[i].engine].engine;
	return !(engines->unknown && by_engine);
}

static uint32_t hash(uint64_t value)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15ull >> 32);
}

static struct event *bucket_of(const struct judge *judge, uint32_t id, uint8_t engine)
{
	return &judge->events[1 + hash((uint64_t)engine << 32 | id) % judge->count];
}

/* --- live loads ------------------------------------------------------------------- */

/* Sorts the events by start, and ranks them. libc's qsort() may allocate. */
static void rank_starts(struct judge *judge, uint32_t *order, uint32_t *sorted)
{
	struct event *events = judge->events;

	for (uint32_t i = 0; i < judge->count; i++)
		order[i] = i + 1;
	for (int shift = 0; shift < 64; shift += 8) {
		uint32_t at[257] = {0}, *swapped = order;

		for (uint32_t i = 0; i < judge->count; i++)
			at[(events[order[i]].start >> shift & 255) + 1]++;
		if (at[(events[order[0]].start >> shift & 255) + 1] == judge->count)
			continue;
		for (int digit = 1; digit < 256; digit++)
			at[digit] += at[digit - 1];
		for (uint32_t i = 0; i < judge->count; i++)
			sorted[at[events[order[i]].start >> shift & 255]++] = order[i];
		order = sorted;
		sorted = swapped;
	}
	for (uint32_t i = 1; i < judge->count; i++)
		events[order[i]].rank = events[order[i - 1]].rank +
					(events[order[i]].start != events[order[i - 1]].start);
}

static uint32_t end_bit(uint64_t word, bool up)
{
	return (uint32_t)(up ? __builtin_ctzll(word) : 63 - __builtin_clzll(word));
}

/*
 * Returns the live load with the nearest start at or above a rank (up), or at or below it; 0: none.
 */
static uint32_t load_near(const struct judge *judge, uint32_t rank, bool up)
{
	for (int level = 0; level < LEVELS; level++) {
		uint64_t mask = up ? UINT64_MAX << rank % 64 : UINT64_MAX >> (63 - rank % 64);
		uint64_t word = judge->live[level][rank / 64] & mask;

		if (word) {
			rank = rank / 64 * 64 + end_bit(word, up);
			while (level--)
				rank = rank * 64 + end_bit(judge->live[level][rank], up);
			return judge->loads[rank];
		}
		if (!up && rank < 64)
			break;
		rank = up ? rank / 64 + 1 : rank / 64 - 1;
	}
	return 0;
}

/* Returns the live load at an event's start, or 0. */
static uint32_t load_at(const struct judge *judge, const struct event *event)
{
	uint32_t load = load_near(judge, event->rank, false);

	return judge->events[load].end > event->start ? load : 0;
}

static void begin_load(struct judge *judge, uint32_t load)
{
	uint32_t rank = judge->events[load].rank;

	judge->loads[rank] = load;
	for (int level = 0; level < LEVELS; level++, rank /= 64)
		judge->live[level][rank / 64] |= 1ull << rank % 64;
}

static void end_load(struct judge *judge, uint32_t load, uint32_t ender)
{
	uint32_t rank = judge->events[load].rank;
	bool empty = load;

	for (int level = 0; level < LEVELS && empty; level++, rank /= 64) {
		judge->live[level][rank / 64] &= ~(1ull << rank % 64);
		empty = !judge->live[level][rank / 64];
	}
	judge->events[load].ender = ender;
}

/* Ends the live loads that start in an event's range. */
static void end_loads_in(struct judge *judge, uint32_t ender)
{
	const struct event *event = &judge->events[ender];
	uint32_t load;

	while ((load = load_near(judge, event->rank, true)) &&
	       judge->events[load].start < event->end)
		end_load(judge, load, ender);
}

/* Returns the last live LOAD or METHOD with an event's ID, or 0. Removes dead ones on the way. */
static uint32_t load_of(const struct judge *judge, const struct event *event)
{
	uint32_t id = event->header->method_id;
	uint32_t *link = &bucket_of(judge, id, event->engine)->loads;

	while (*link) {
		struct event *load = &judge->events[*link];

		if (load->ender)
			*link = load->next;
		else if (load->header->method_id == id && load->engine == event->engine)
			break;
		else
			link = &load->next;
	}
	return *link;
}

/* --- inlined methods -------------------------------------------------------------- */

static bool is_parent(const struct event *parent, const struct event *event)
{
	return parent->header->method_id == event->header->parent_id &&
	       parent->engine == event->engine && parent->start <= event->start &&
	       event->start < parent->end;
}

/* Returns an inlined method's parent: the load at its start or a method inlined there; or 0. */
static uint32_t parent_in(const struct judge *judge, const struct event *event, uint32_t host)
{
	const struct event *events = judge->events;
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
 * Attaches a parent's orphans to the load that hosts the parent, and then the orphans of these
 * orphans.
 */
static void adopt(struct judge *judge, uint32_t parent, uint32_t host)
{
	struct event *events = judge->events;

	events[parent].todo = 0;
	while (parent) {
		const struct event *outer = &events[parent];
		uint32_t id = outer->header->method_id, i;
		uint32_t *link = &bucket_of(judge, id, outer->engine)->orphans;

		parent = outer->todo;
		while ((i = *link)) {
			struct event *event = &events[i];

			if (!is_parent(outer, event)) {
				link = &event->next;
				continue;
			}
			*link = event->next;
			if (event->end > outer->end) {
				event->kind = NOTHING; /* reaches out of its parent */
				continue;
			}
			event->host = host;
			event->next = events[host].inlines;
			events[host].inlines = i;
			event->todo = parent;
			parent = i;
		}
	}
}

/* --- replay ----------------------------------------------------------------------- */

static void apply_load(struct judge *judge, uint32_t i)
{
	struct event *event = &judge->events[i];
	struct event *bucket = bucket_of(judge, event->header->method_id, event->engine);

	end_load(judge, load_at(judge, event), i);
	end_loads_in(judge, i);
	begin_load(judge, i);
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
	struct event *event = &judge->events[i];
	struct event *bucket = bucket_of(judge, event->header->method_id, event->engine);

	if (load_of(judge, event)) {
		event->kind = NOTHING;
		return;
	}
	event->next = bucket->loads;
	bucket->loads = i;
}

static void apply_inlined(struct judge *judge, uint32_t i)
{
	struct event *event = &judge->events[i];
	struct event *bucket = bucket_of(judge, event->header->parent_id, event->engine);
	uint32_t host = load_at(judge, event), parent = parent_in(judge, event, host);

	event->next = bucket->orphans;
	bucket->orphans = i;
	if (parent)
		adopt(judge, parent, host);
}

/* Ends the live name of an event's thread. A THREAD event begins a new one. */
static void apply_thread(struct judge *judge, uint32_t i)
{
	struct event *event = &judge->events[i];
	uint32_t tid = event->header->method_id;
	uint32_t *first = &judge->events[1 + hash(tid) % judge->count].threads, *link = first;

	while (*link) {
		struct event *named = &judge->events[*link];

		if (named->header->method_id == tid) {
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
	struct event *event = &judge->events[i];
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
			end_load(judge, load, i);
		break;
	case UNLOAD_RANGE:
		end_loads_in(judge, i);
		event->host = load_at(judge, event); /* the event may mean this load */
		break;
	case UPDATE:
		event->host = load_at(judge, event);
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

	for (uint32_t i = judge->count; i; i--) {
		const struct event *event = &judge->events[i];

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
	if (!i || judge->stays[i])
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
			const struct event *event = &judge->events[todo];

			todo = event->todo;
			count += keep(judge, event->part_of, &todo);
			count += keep(judge, event->ender, &todo);
		}
	}
	return count;
}

const bool *log_liveness_judge(const void *log, uint32_t entry_count, void *memory)
{
	struct caller_engines *engines = memory;
	struct judge judge = {.events = (void *)(engines + 1), .count = entry_count};
	uint64_t *words = (void *)(judge.events + entry_count + 1);
	uint64_t now_ns = 0;
	uint32_t live_count;

	for (uint32_t level = 0, ranks = entry_count; level < LEVELS; level++) {
		judge.live[level] = words;
		words += ranks = ranks / 64 + 1;
	}
	judge.loads = (void *)words;
	judge.stays = (bool *)(judge.loads + 2ull * entry_count);
	if (!read_log(&judge, log, engines))
		return memset(judge.stays, true, entry_count);
	rank_starts(&judge, judge.loads, judge.loads + entry_count);
	for (uint32_t i = 1; i <= entry_count; i++) {
		apply(&judge, i);
		if (now_ns < judge.events[i].header->time_ns)
			now_ns = judge.events[i].header->time_ns;
	}
	live_count = keep_live(&judge, now_ns);
	if (keep_names(&judge) > live_count + NAMES_MAX)
		keep_live(&judge, now_ns);
	for (uint32_t i = 1; i <= entry_count; i++)
		judge.stays[i] |= judge.stays[judge.events[i].host];
	return judge.stays + 1;
}
