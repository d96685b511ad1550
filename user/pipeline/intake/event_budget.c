/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/event_budget.h"

#include "base/hash.h"

#define SECOND_NS 1000000000ull

static uint64_t hash_of(uint32_t pid, uint16_t publisher, uint64_t start_ns)
{
	return hash_mix(pid | (uint64_t)publisher << 32, start_ns);
}

static bool is_same(const void *items, uint32_t item, const void *event_)
{
	const struct event_use *use = (const struct event_use *)items + item;
	const struct jitbpf_code_event *event = event_;

	return use->pid == event->pid && use->publisher == event->publisher &&
	       use->start_ns == event->start_ns;
}

static struct owner_key owner_of(const struct process_table *processes,
				 const struct jitbpf_code_event *event)
{
	const struct process *process =
		process_table_find(processes, event->pid, event->start_ns, event->reported_ns);

	return process ? process->account->owner->key
		       : (struct owner_key){.uid = OWNER_UNKNOWN_UID};
}

/* Returns NULL if memory is short. */
static struct event_use *find(struct event_budget *budget, const struct process_table *processes,
			      const struct jitbpf_code_event *event)
{
	uint64_t hash = hash_of(event->pid, event->publisher, event->start_ns);
	uint32_t at = index_map_find(&budget->index, hash, is_same, budget->uses.data, event);
	struct event_use use = {
		.pid = event->pid,
		.publisher = event->publisher,
		.start_ns = event->start_ns,
	};

	if (at != INDEX_MAP_NONE)
		return &budget->uses.data[at];
	at = (uint32_t)budget->uses.size;
	budget->all.limit = EVENT_BUDGET_ALL_BYTES;
	if (vec_reserve(&budget->uses, (size_t)at + 1) ||
	    owner_budget_get(&budget->all, owner_of(processes, event), &use.owner))
		return NULL;
	if (index_map_insert(&budget->index, hash, at)) {
		owner_budget_put(&budget->all, use.owner);
		return NULL;
	}
	budget->uses.data[budget->uses.size++] = use;
	return &budget->uses.data[at];
}

/* Charge an event to the process and its owner. Returns false if one of them has no room. */
static bool charge(struct event_budget *budget, struct event_use *use, uint64_t bytes)
{
	struct budget_owner *charged;

	if (use->refused || use->bytes + bytes > EVENT_BUDGET_BURST_BYTES)
		return false;
	if (vec_reserve(&budget->charged, budget->charged.size + 1))
		return true;
	if (owner_budget_charge(&budget->all, use->owner, bytes))
		return false;
	use->bytes += bytes;
	/* owner_budget_get() cannot fail, since the owner exists. */
	if (use->owner->used == bytes && !owner_budget_get(&budget->all, use->owner->key, &charged))
		budget->charged.data[budget->charged.size++] = charged;
	return true;
}

bool event_budget_is_tight(const struct event_budget *budget, const struct jitbpf_code_event *event)
{
	uint64_t hash = hash_of(event->pid, event->publisher, event->start_ns);
	uint32_t at;

	if (event->h.flags & JITBPF_EVENT_BEFORE_RUN)
		return false;
	at = index_map_find(&budget->index, hash, is_same, budget->uses.data, event);
	return (at == INDEX_MAP_NONE ? 0 : budget->uses.data[at].bytes) + event->h.size_bytes >
	       EVENT_BUDGET_TIGHT_BYTES;
}

bool event_budget_admits(struct event_budget *budget, const struct process_table *processes,
			 const struct jitbpf_code_event *event, bool without_scopes)
{
	struct event_use *use;

	if (event->h.flags & JITBPF_EVENT_BEFORE_RUN)
		return true;
	use = find(budget, processes, event);
	if (!use)
		return true;
	if (charge(budget, use, event->h.size_bytes)) {
		use->without_scopes += without_scopes;
		return true;
	}
	if (!use->refused || event->h.time_ns < use->from_ns)
		use->from_ns = event->h.time_ns;
	if (!use->refused || event->h.time_ns > use->to_ns)
		use->to_ns = event->h.time_ns;
	use->refused++;
	return false;
}

/* Emit a gap: code that the refused events may have ended has no name from then on. */
static int emit_gap(struct event_use *use,
		    int (*take)(void *context, const struct jitbpf_record *record), void *context)
{
	struct jitbpf_journal gap = {
		.h = {.size_bytes = sizeof(gap), .type = JITBPF_JOURNAL, .time_ns = use->from_ns},
		.pid = use->pid,
		.publisher = use->publisher,
		.start_ns = use->start_ns,
		.from_ns = use->from_ns,
		.to_ns = use->to_ns,
	};

	use->gap = true;
	return take(context, &gap.h);
}

static int emit_refused(const struct event_use *use, uint64_t time_ns,
			int (*take)(void *context, const struct jitbpf_record *record),
			void *context)
{
	struct jitbpf_code_refused refused = {
		.h = {.size_bytes = sizeof(refused),
		      .type = JITBPF_CODE_REFUSED,
		      .flags = JITBPF_REFUSED_RATE,
		      .time_ns = time_ns},
		.pid = use->pid,
		.publisher = use->publisher,
		.start_ns = use->start_ns,
		.over_budget = use->refused + use->without_scopes,
	};

	return take(context, &refused.h);
}

/* Remove an entry. The last entry moves to its place. */
static void remove_use(struct event_budget *budget, uint32_t at)
{
	const struct event_use *use = &budget->uses.data[at], *last;
	uint32_t last_at = (uint32_t)--budget->uses.size;

	index_map_remove(&budget->index, hash_of(use->pid, use->publisher, use->start_ns), at);
	owner_budget_put(&budget->all, use->owner);
	if (at == last_at)
		return;
	last = &budget->uses.data[last_at];
	index_map_remove(&budget->index, hash_of(last->pid, last->publisher, last->start_ns),
			 last_at);
	budget->uses.data[at] = *last;
	/* Cannot fail: the index has room for the entry that was removed above. */
	index_map_insert(&budget->index, hash_of(last->pid, last->publisher, last->start_ns), at);
}

/* Credit all owners with the bytes that they may add in the elapsed time. */
static void give_back(struct event_budget *budget, uint64_t passed_ns)
{
	size_t owners = budget->charged.size;
	uint64_t rate = EVENT_BUDGET_OWNER_BYTES_PER_S, back;

	if (owners > 2)
		rate = 2 * rate / owners;
	back = passed_ns * rate / SECOND_NS;
	for (size_t i = owners; i--;) {
		struct budget_owner *owner = budget->charged.data[i];

		owner_budget_release(&budget->all, owner, back < owner->used ? back : owner->used);
		if (owner->used)
			continue;
		owner_budget_put(&budget->all, owner);
		budget->charged.data[i] = budget->charged.data[--budget->charged.size];
	}
}

int event_budget_end_round(struct event_budget *budget, uint64_t time_ns, bool last,
			   int (*take)(void *context, const struct jitbpf_record *record),
			   void *context)
{
	bool period = last || time_ns >= budget->period_ns + EVENT_BUDGET_PERIOD_NS;
	uint64_t back = 0;
	int err = 0;

	if (period && time_ns > budget->period_ns) {
		uint64_t passed_ns = budget->period_ns ? time_ns - budget->period_ns : 0;

		if (passed_ns > 3600 * SECOND_NS)
			passed_ns = 3600 * SECOND_NS;
		back = passed_ns * EVENT_BUDGET_BYTES_PER_S / SECOND_NS;
		give_back(budget, passed_ns);
		budget->period_ns = time_ns;
	}
	for (uint32_t at = (uint32_t)budget->uses.size; at--;) {
		struct event_use *use = &budget->uses.data[at];

		/*
		 * After the first gap, nothing is admitted up to the end of the period. The second
		 * gap has the time of all refused events.
		 */
		if (use->refused && (period || !use->gap))
			err = err ?: emit_gap(use, take, context);
		if (!period)
			continue;
		if (use->refused || use->without_scopes)
			err = err ?: emit_refused(use, time_ns, take, context);
		use->refused = use->without_scopes = 0;
		use->gap = false;
		use->bytes -= back < use->bytes ? back : use->bytes;
		if (!use->bytes)
			remove_use(budget, at);
	}
	return err;
}

void event_budget_deinit(struct event_budget *budget)
{
	vec_deinit(&budget->uses);
	vec_deinit(&budget->charged);
	owner_budget_deinit(&budget->all);
	index_map_deinit(&budget->index);
}
