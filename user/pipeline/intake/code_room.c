/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/intake/code_room.h"

#include "state/code/code_evict.h"
#include "state/code/code_region.h"
#include "uapi/code_event.h"

/* More than the profile of an owner grows by in a round without a new large stack. */
#define PROFILE_ROOM (64u << 10)

/* A search for code of one owner that gives way. */
struct search {
	struct code_room *room;
	const struct process_table *processes;
	struct budget_owner *lender;
	uint64_t time_ns;
	uint64_t wanted, found; /* bytes */
	int (*emit)(void *context, const struct jitbpf_record *record);
	void *context;
};

static int emit_evicted(struct search *search, const struct process *process, uint64_t address,
			uint64_t size_bytes)
{
	uint64_t now_ns = search->time_ns,
		 time_ns = process->from_ns > now_ns ? process->from_ns : now_ns;
	const struct jitbpf_code_event event = {
		.h = {.size_bytes = sizeof(event), .type = JITBPF_CODE_EVENT, .time_ns = time_ns},
		.pid = process->pid,
		.tid = process->pid,
		.start_ns = process->start_ns,
		.reported_ns = time_ns,
		.since_ns = time_ns,
		.kind = JITBPF_CODE_EVICTED,
		.address = address,
		.code_bytes = size_bytes,
	};

	return search->emit(search->context, &event.h);
}

static int evict_of(struct search *search, const struct process *process, uint64_t before_ns)
{
	struct code_run run;
	int err = 0;

	while (!err && search->found < search->wanted &&
	       code_map_next_evictable(process->code, search->lender, before_ns,
				       search->wanted - search->found, &run)) {
		search->found += run.bytes;
		err = emit_evicted(search, process, run.address, run.size_bytes);
	}
	return err;
}

/* Methods without code give way all at once. */
static int evict_registered(struct search *search, const struct process *process)
{
	size_t count = code_map_registrations(process->code);

	search->found += count * sizeof(struct code_record);
	return count ? emit_evicted(search, process, 0, 0) : 0;
}

static int evict_from_all(struct search *search, uint64_t before_ns, bool registered)
{
	size_t count = search->processes->active.size, first = search->room->next;
	int err = 0;

	for (size_t i = 0; !err && i < count && search->found < search->wanted; i++) {
		const struct process *process = search->processes->active.data[(first + i) % count];

		if (!process->code || process->account->owner != search->lender)
			continue;
		search->room->next = (first + i) % count;
		err = registered ? evict_registered(search, process)
				 : evict_of(search, process, before_ns);
	}
	return err;
}

/* Evict a step of the lender's code. Returns 0 or the first error of emit(). */
static int evict_step(struct search *search)
{
	const struct owner_budget *memory = &search->processes->memory;
	uint64_t used = memory->used, young_ns = 0;
	int err;

	if (search->time_ns > CODE_ROOM_YOUNG_NS)
		young_ns = search->time_ns - CODE_ROOM_YOUNG_NS;
	err = evict_from_all(search, young_ns, false);
	err = err ?: evict_from_all(search, UINT64_MAX, true);
	err = err ?: evict_from_all(search, UINT64_MAX, false);
	/* Code that a forked process shares is free only when that process has lost it, too. */
	if (memory->used >= used)
		search->lender->fixed_until_ns = search->time_ns + CODE_ROOM_FIXED_NS;
	return err;
}

static uint64_t step_of(const struct owner_budget *memory)
{
	return memory->limit / CODE_ROOM_STEPS;
}

/* Returns the process that pays for what a record adds, and sets *bytes to a bound. NULL: none. */
static const struct process *payer_of(const struct process_table *processes,
				      const struct jitbpf_record *record, uint64_t *bytes)
{
	const struct jitbpf_code_event *event = (const struct jitbpf_code_event *)record;
	const struct jitbpf_mapping *mapping = (const struct jitbpf_mapping *)record;
	const struct jitbpf_task *task = (const struct jitbpf_task *)record;

	switch (record->type) {
	case JITBPF_CODE_EVENT:
		if (event->kind == JITBPF_CODE_EVICTED || event->kind == JITBPF_CODE_REPLACED ||
		    event->kind == JITBPF_CODE_UNLOAD)
			return NULL;
		*bytes = sizeof(struct code_record) + record->size_bytes + 2 * CODE_ENTRY_BYTES;
		return process_table_find(processes, event->pid, event->start_ns,
					  event->reported_ns);
	case JITBPF_MAPPING:
		*bytes = sizeof(struct mapping) + 2 * CODE_ENTRY_BYTES;
		return process_table_find(processes, mapping->pid, mapping->start_ns,
					  record->time_ns);
	case JITBPF_FORK:
		*bytes = PROCESS_BYTES + PROCESS_MAPS_BYTES + 4 * CODE_ENTRY_BYTES;
		return task->pid == task->parent_pid
			       ? NULL
			       : process_table_find(processes, task->parent_pid, 0,
						    record->time_ns);
	default:
		return NULL;
	}
}

int code_room_make(struct code_room *room, const struct process_table *processes,
		   const struct jitbpf_record *record,
		   int (*emit)(void *context, const struct jitbpf_record *record), void *context)
{
	const struct owner_budget *memory = &processes->memory;
	uint64_t bytes = 0;
	const struct process *process = payer_of(processes, record, &bytes);
	const struct budget_owner *owner = process ? process->account->owner : NULL;
	struct search search = {.room = room,
				.processes = processes,
				.time_ns = record->time_ns,
				.wanted = bytes + step_of(memory),
				.emit = emit,
				.context = context};
	int err = 0;

	while (!err && owner && !owner_budget_allows(memory, owner, bytes)) {
		/* Two steps more, so that the lender does not want them back. */
		const struct owner_amount wants = {
			.key = owner->key,
			.of_user = owner->user->used + 2 * search.wanted,
			.of_owner = owner->used + 2 * search.wanted,
		};

		search.lender = owner_budget_lender(memory, &wants, record->time_ns);
		if (!search.lender)
			break;
		search.found = 0;
		err = evict_step(&search);
	}
	return err;
}

int code_room_end_round(struct code_room *room, const struct process_table *processes,
			uint64_t time_ns,
			int (*emit)(void *context, const struct jitbpf_record *record),
			void *context)
{
	const struct owner_budget *memory = &processes->memory, *profile = memory->other;
	struct search search = {.room = room,
				.processes = processes,
				.time_ns = time_ns,
				.wanted = step_of(memory),
				.emit = emit,
				.context = context};
	int err = 0;

	for (size_t i = 0; profile && !err && i < profile->owners.size; i++) {
		const struct budget_owner *owner = profile->owners.data[i];
		const struct owner_amount wants = {
			.key = owner->key,
			.of_user = owner->user->used + 2 * search.wanted,
			.of_owner = owner->used + 2 * search.wanted,
		};

		if (owner_budget_allows(profile, owner, PROFILE_ROOM))
			continue;
		search.lender = owner_budget_lender(memory, &wants, time_ns);
		search.found = 0;
		err = search.lender ? evict_step(&search) : 0;
	}
	return err;
}
