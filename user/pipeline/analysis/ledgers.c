/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Completes ledgers: some counts are kept elsewhere, and added when a ledger is read. */
#include <string.h>

#include "pipeline/analysis/analysis_state.h"

static uint64_t gaps_of(const struct analysis *a, const struct process *process)
{
	return process->slot < a->sequences.size
		       ? event_sequences_gaps(&a->sequences.data[process->slot])
		       : 0;
}

/* Copy the present pid, name and counts of a process to its row. */
static void complete_row(const struct analysis *a, const struct epoch *e,
			 const struct process *process, struct ledger_process *row)
{
	epoch_find_comm(e, process->comm, &row->comm);
	row->inner_pid = process->inner_pid;
	epoch_set_runtimes(row, process);
	row->jit.sequence_gaps = gaps_of(a, process);
}

static void count_trouble(const struct analysis *a, const struct epoch *e, uint64_t *counters)
{
	struct symbolizer_counts counts = {0};

	if (a->has_symbols && !e->has_recorded && a->symbols.counts)
		counts = a->symbols.counts(a->symbols.context);
	counters[JITBPF_COUNT_DEBUG_REFUSED] += counts.debug_refused;
	counters[JITBPF_COUNT_DEBUG_DROPPED] += counts.debug_dropped;
	counters[JITBPF_COUNT_SPLITS_MISSING] += counts.splits_missing;
	counters[JITBPF_COUNT_READERS_FAILED] += counts.readers_failed;
	counters[JITBPF_COUNT_NAMES_LEFT_OUT] += recorded_frames_left_out(e->recorded);
	counters[JITBPF_COUNT_MAPPINGS_OVER_BUDGET] = a->modules.over_budget;
}

/* Insert an owner, if it is among those with the most refusals. */
static void add_owner(struct ledger_owner owners[LEDGER_OWNERS_MAX], struct ledger_owner owner)
{
	for (size_t i = 0; i < LEDGER_OWNERS_MAX; i++) {
		struct ledger_owner other = owners[i];

		if (owner.refused <= other.refused)
			continue;
		owners[i] = owner;
		owner = other;
	}
}

static void list_owners(const struct owner_budget *budget,
			struct ledger_owner ret[LEDGER_OWNERS_MAX])
{
	memset(ret, 0, LEDGER_OWNERS_MAX * sizeof(*ret));
	vec_for_each (at, &budget->owners) {
		const struct budget_owner *owner = *at;

		add_owner(ret, (struct ledger_owner){.uid = owner->key.uid,
						     .cgroup = owner->key.cgroup,
						     .refused = owner->refused});
	}
}

/* Complete the totals of a copy of an epoch's ledger, except those of JIT code. */
static void complete_totals(const struct analysis *a, const struct epoch *e, struct ledger *ledger)
{
	if (e != a->epoch)
		return; /* it was completed when it was closed */
	vec_for_each (since, &a->throttled_since) {
		if (*since && *since < a->round_ns)
			ledger->throttled_ns += a->round_ns - *since;
	}
	count_trouble(a, e, ledger->counters);
	list_owners(&a->processes.memory, ledger->owners[LEDGER_MEMORY_CODE]);
	list_owners(&a->profile_memory, ledger->owners[LEDGER_MEMORY_PROFILE]);
	list_owners(&a->modules.budget, ledger->owners[LEDGER_MEMORY_FILES]);
	/* The kernel's count covers all epochs, and comes at the end of the run. */
	if (!ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN])
		return;
	ledger->samples_before = a->samples_before[0];
	for (const struct epoch *older = a->closing; older; older = older->older)
		ledger->samples_before += ledger_taken(&older->ledger);
	ledger->counters[JITBPF_COUNT_SAMPLES_TAKEN] -= ledger->samples_before;
}

void analysis_process_ends(struct analysis *a, const struct process *process)
{
	struct ledger_process *row = epoch_find_row(a->epoch, process);

	if (!row)
		return;
	if (epoch_is_shared(a->epoch, process)) {
		row->jit.sequence_gaps += gaps_of(a, process);
		ledger_touch(&a->epoch->ledger, row, a->epoch->round);
		return;
	}
	complete_row(a, a->epoch, process, row);
	ledger_touch(&a->epoch->ledger, row, a->epoch->round);
	jit_counts_add(&a->epoch->ended_jit, &row->jit);
}

/* Complete the rows of all processes, and sum the counts of JIT code that still change. */
static void complete_rows(const struct analysis *a, struct epoch *e, struct jit_counts *jit)
{
	vec_for_each (process, &a->processes.processes) {
		struct ledger_process *row = *process ? epoch_find_row(e, *process) : NULL;
		struct ledger_process now;

		if (!row || epoch_is_shared(e, *process))
			continue;
		now = *row;
		complete_row(a, e, *process, &now);
		if (memcmp(&now, row, sizeof(now))) {
			*row = now;
			ledger_touch(&e->ledger, row, e->round);
		}
		jit_counts_add(jit, &row->jit);
	}
	vec_for_each (shared, &e->shared) {
		if (shared->row)
			jit_counts_add(jit, &e->ledger.processes.data[shared->row - 1].jit);
	}
	vec_for_each (payer, &e->payers) {
		if (payer->row)
			jit_counts_add(jit, &e->ledger.processes.data[payer->row - 1].jit);
	}
}

void analysis_update_ledger(struct analysis *a, struct epoch *e)
{
	struct ledger *now = &e->ledger_now;

	*now = e->ledger; /* the rows are shared */
	complete_totals(a, e, now);
	now->jit = e->ended_jit;
	if (e == a->epoch)
		complete_rows(a, e, &now->jit);
}

int analysis_complete_events(struct analysis *a, struct epoch *e)
{
	uint64_t before[JITBPF_EVENTS_MAX];

	for (size_t i = 0; i < JITBPF_EVENTS_MAX; i++) {
		before[i] = a->samples_before[i];
		for (const struct epoch *older = a->closing; older; older = older->older) {
			if (older->number < e->number)
				before[i] +=
					sample_fates_taken(&older->events[i].fates.all.samples);
		}
	}
	return event_views_complete(e, before);
}

void analysis_close_ledger(struct analysis *a)
{
	struct epoch *e = a->epoch;

	analysis_update_ledger(a, e);
	e->ended_jit = e->ledger_now.jit;
	e->ledger.throttled_ns = e->ledger_now.throttled_ns;
	vec_for_each (sequences, &a->sequences)
		event_sequences_end_epoch(sequences);
	vec_for_each (since, &a->throttled_since) {
		if (*since && *since < a->round_ns)
			*since = a->round_ns;
	}
}
