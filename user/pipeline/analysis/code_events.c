/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Events about JIT code: code events, refusals, and gaps. */
#include <errno.h>

#include "pipeline/analysis/analysis_state.h"
#include "state/process/process_code.h"

static struct event_sequences *sequences_of(struct analysis *a, const struct process *process)
{
	while (a->sequences.size <= process->slot) {
		if (vec_push(&a->sequences, (struct event_sequences){0}))
			return NULL;
	}
	return &a->sequences.data[process->slot];
}

/* Returns 1 if an event is to be applied, 0 if it has come the other way already, or -ENOMEM. */
static int note_event(struct analysis *a, const struct process *process,
		      const struct code_event *event)
{
	struct event_sequences *sequences;
	struct origin_sequences *origin;
	int err;

	if (event->reported_ns < process->program_ns ||
	    (event->origin.publisher == JITBPF_PUBLISHER_SHIM &&
	     event->origin.sequence == JITBPF_JIT_INHERITED))
		return 1;
	sequences = sequences_of(a, process);
	if (!sequences)
		return -ENOMEM;
	err = event_sequences_get(sequences, &event->origin, process->program_ns, &origin);
	if (err)
		return err == -EDQUOT ? 1 : err;
	return origin_sequences_add(origin, event->origin.sequence,
				    event->flags & JITBPF_EVENT_RECOVERED);
}

void analysis_count_code(struct jit_counts *jit, struct code_account *account)
{
	const struct code_counts *now = &account->counts, *before = &account->counted;

	jit->methods += now->loads - before->loads;
	jit->code_bytes += now->code_bytes - before->code_bytes;
	for (size_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++)
		jit->published[i] += now->published[i] - before->published[i];
	jit->merged += now->merged - before->merged;
	jit->moves += now->moves - before->moves;
	jit->unloads += now->unloads - before->unloads;
	jit->inlines += now->inlines - before->inlines;
	jit->updates += now->updates - before->updates;
	jit->other_events += now->nothing - before->nothing;
	jit->in_gap += now->in_gap - before->in_gap;
	jit->inline_no_parent += now->inline_no_parent - before->inline_no_parent;
	jit->inline_outside += now->inline_outside - before->inline_outside;
	jit->inline_overlap += now->inline_overlap - before->inline_overlap;
	jit->update_refused += now->update_unknown - before->update_unknown + now->segment_overlap -
			       before->segment_overlap + now->move_unknown - before->move_unknown;
	jit->invalid += now->invalid - before->invalid;
	jit->over_budget += now->over_budget - before->over_budget;
	jit->not_understood += now->not_understood - before->not_understood + now->unknown_fields -
			       before->unknown_fields;
	account->counted = account->counts;
}

static int apply(struct analysis *a, struct process *process, struct jit_counts *counts,
		 struct code_event *event)
{
	struct code_counts *now = &process->account->counts;
	uint64_t loads = now->loads, moves = now->moves;
	int err;

	event->origin.engine = process_code_engine(process, event);
	err = process_code_apply(process, event);
	loads = now->loads - loads;
	moves = now->moves - moves;
	analysis_count_code(counts, process->account);
	if (event->flags & JITBPF_EVENT_BEFORE_RUN)
		counts->late += loads;
	else if (event->flags & JITBPF_EVENT_RECOVERED)
		counts->recovered++;
	else if (event->flags & JITBPF_EVENT_TIME_CORRECTED)
		counts->time_corrected++;
	return err ?: analysis_code_changed(a, process, event, loads + moves);
}

int analysis_take_code_event(struct analysis *a, const struct jitbpf_code_event *record)
{
	struct ledger_process *row;
	struct code_event event;
	struct process *process;
	int err;

	err = process_table_at(&a->processes, record->pid, record->start_ns, record->reported_ns,
			       &process);
	if (err)
		return err;
	row = analysis_ledger_row(a, process);
	if (!row)
		return -ENOMEM;
	/* It has been checked: only its publisher may be unknown. */
	if (code_event_decode(record, record->h.size_bytes, &event)) {
		row->jit.not_understood++;
		return 0;
	}
	err = note_event(a, process, &event);
	if (err <= 0)
		return err;
	if (!process->code) {
		row->jit.invalid++;
		return 0;
	}
	return apply(a, process, &row->jit, &event);
}

int analysis_take_refused(struct analysis *a, const struct jitbpf_code_refused *refused)
{
	struct ledger_process *row;
	struct process *process;
	int err = process_table_at(&a->processes, refused->pid, refused->start_ns,
				   refused->h.time_ns, &process);

	if (err)
		return err;
	row = analysis_ledger_row(a, process);
	if (!row)
		return -ENOMEM;
	row->jit.malformed += refused->malformed;
	row->jit.incomplete += refused->incomplete;
	row->jit.over_budget += refused->over_budget;
	row->jit.unreadable += refused->unreadable;
	return 0;
}

/*
 * Events that are missing in a journal after a loss may have ended any code of that time that
 * the journal does not list as live.
 */
int analysis_take_journal(struct analysis *a, const struct jitbpf_journal *journal)
{
	static const struct code_origin shim = {.publisher = JITBPF_PUBLISHER_SHIM};
	struct code_gap gap = {
		.publisher = JITBPF_PUBLISHER_SHIM,
		.live = (const uint64_t *)journal->live,
		.live_count = (journal->h.size_bytes - sizeof(*journal)) / sizeof(journal->live[0]),
	};
	struct event_sequences *sequences;
	struct origin_sequences *origin;
	struct ledger_process *row;
	struct process *process;
	int err;

	err = process_table_at(&a->processes, journal->pid, journal->start_ns, journal->to_ns,
			       &process);
	if (err)
		return err;
	row = analysis_ledger_row(a, process);
	sequences = sequences_of(a, process);
	if (!row || !sequences)
		return -ENOMEM;
	row->jit.left_out = journal->left_out;
	if (journal->h.flags & JITBPF_JOURNAL_UNREADABLE)
		row->jit.unreadable++;
	if (journal->h.flags & JITBPF_JOURNAL_LATE) {
		err = event_sequences_get(sequences, &shim, process->program_ns, &origin);
		if (!err)
			sequence_set_count_from(&origin->come, journal->next_sequence);
		return err == -EDQUOT ? 0 : err;
	}
	if (!process->code || journal->h.flags & JITBPF_JOURNAL_COMPLETE)
		return 0;
	/* Regions of earlier rounds were loaded before the loss, and may have ended as well. */
	gap.from_ns = journal->from_ns > a->round_ns ? journal->from_ns : a->round_ns;
	gap.to_ns = journal->to_ns > gap.from_ns ? journal->to_ns : gap.from_ns;
	err = process_code_gap(process, &gap);
	analysis_count_code(&row->jit, process->account);
	return err;
}
