/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/analysis_state.h"
#include "state/process/process_code.h"

/* Those of the program that the process runs now. NULL: no memory. */
static struct jit_sequences *sequences_of(struct analysis *a, const struct process *process)
{
	struct jit_sequences *sequences;

	while (a->sequences.size <= process->slot) {
		if (vec_push(&a->sequences, (struct jit_sequences){0}))
			return NULL;
	}
	sequences = &a->sequences.data[process->slot];
	jit_sequences_begin(sequences, process->program_ns);
	return sequences;
}

/* Returns 1 if an event is to be applied, 0 if it has come the other way already, or -ENOMEM. */
static int note_event(struct analysis *a, const struct process *process,
		      const struct jitbpf_jit *jit, uint64_t sequence)
{
	struct jit_sequences *sequences;

	if (jit->h.time_ns < process->program_ns || sequence == JITBPF_JIT_INHERITED)
		return 1;
	sequences = sequences_of(a, process);
	if (!sequences)
		return -ENOMEM;
	return jit_sequences_add(sequences, sequence, jit->h.flags & JITBPF_JIT_FROM_JOURNAL);
}

/* A record from a journal is whole, and not the next one of its thread. */
static int take_whole(const struct jitbpf_jit *jit, struct jit_event *ret)
{
	struct jitbpf_jit_header header;
	int err = jit_part_decode(jit->data, jit->data_bytes, &header);

	if (err)
		return err;
	if (header.part_count != 1)
		return -EBADMSG;
	return jit_fields_decode(&header, jit->data + sizeof(header),
				 header.size_bytes - sizeof(header), ret);
}

/* The event that a record completes, if it does. */
static int take_part(struct process *process, struct jit_counts *counts,
		     const struct jitbpf_jit *jit, struct jit_event *ret, bool *ret_complete)
{
	uint64_t given_up = process->jit_assembly.over_budget;
	int err;

	if (jit->h.flags & JITBPF_JIT_FROM_JOURNAL) {
		err = take_whole(jit, ret);
		*ret_complete = !err;
	} else {
		err = jit_assembly_add(&process->jit_assembly, jit->tid, jit->data, jit->data_bytes,
				       ret, ret_complete);
	}
	counts->over_budget += process->jit_assembly.over_budget - given_up;
	if (err != -EBADMSG)
		return err;
	counts->malformed++;
	*ret_complete = false;
	return 0;
}

/* Take the counts of a process's account into its row: those that the account alone has. */
static void add_counts(struct jit_counts *jit, const struct code_counts *before,
		       const struct code_counts *after)
{
	jit->methods += after->loads - before->loads;
	jit->code_bytes += after->code_bytes - before->code_bytes;
	jit->unloads += after->unloads - before->unloads;
	jit->inlines += after->inlines - before->inlines;
	jit->updates += after->updates - before->updates;
	jit->other_events += after->nothing - before->nothing;
	jit->in_gap += after->in_gap - before->in_gap;
	jit->inline_no_parent += after->inline_no_parent - before->inline_no_parent;
	jit->inline_outside += after->inline_outside - before->inline_outside;
	jit->inline_overlap += after->inline_overlap - before->inline_overlap;
	jit->update_refused += after->update_unknown - before->update_unknown +
			       after->segment_overlap - before->segment_overlap +
			       after->move_unknown - before->move_unknown;
	jit->moves += after->moves - before->moves;
	jit->merged += after->merged - before->merged;
	for (size_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++)
		jit->published[i] += after->published[i] - before->published[i];
	jit->invalid += after->invalid - before->invalid;
	jit->over_budget += after->over_budget - before->over_budget;
	jit->not_understood += after->not_understood - before->not_understood +
			       after->unknown_fields - before->unknown_fields;
}

static int apply(struct analysis *a, struct process *process, struct jit_counts *counts,
		 const struct jitbpf_jit *jit, const struct jit_event *jit_event)
{
	const struct code_counts *after = &process->account->counts;
	struct code_counts before = *after;
	struct code_event event;
	int err;

	jit_event_convert(jit_event, jit, &event);
	event.origin.engine = process_code_engine(process, &event);
	err = process_code_apply(process, &event);
	add_counts(counts, &before, after);
	if (event.flags & JITBPF_EVENT_BEFORE_RUN)
		counts->late += after->loads - before.loads;
	else if (event.flags & JITBPF_EVENT_RECOVERED)
		counts->recovered++;
	else if (event.flags & JITBPF_EVENT_TIME_CORRECTED)
		counts->time_corrected++;
	return err
		       ?: analysis_code_changed(a, process, jit, jit_event,
						after->loads - before.loads);
}

int analysis_take_jit(struct analysis *a, const struct jitbpf_jit *jit)
{
	struct ledger_process *row;
	struct process *process;
	struct jit_event event;
	bool complete;
	int err;

	err = process_table_at(&a->processes, jit->pid, jit->start_ns, jit->h.time_ns, &process);
	if (err)
		return err;
	row = analysis_ledger_row(a, process);
	if (!row)
		return -ENOMEM;
	err = take_part(process, &row->jit, jit, &event, &complete);
	if (err || !complete)
		return err;
	err = note_event(a, process, jit, event.header.sequence);
	if (err <= 0)
		return err;
	if (!process->code) {
		row->jit.invalid++;
		return 0;
	}
	return apply(a, process, &row->jit, jit, &event);
}

/*
 * What a journal did not have although it was lost can have ended any code of that
 * time that the journal does not vouch for.
 */
int analysis_take_journal(struct analysis *a, const struct jitbpf_journal *journal)
{
	uint64_t round_ns = a->round_ns;
	struct code_gap gap = {
		.publisher = JITBPF_PUBLISHER_SHIM,
		.live = (const uint64_t *)journal->live,
		.live_count = (journal->h.size_bytes - sizeof(*journal)) / sizeof(journal->live[0]),
	};
	struct jit_sequences *sequences;
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
		sequence_set_count_from(&sequences->come, journal->next_sequence);
		return 0;
	}
	if (!process->code || journal->h.flags & JITBPF_JOURNAL_COMPLETE)
		return 0;
	/* What was worked off in rounds before came before the loss, and has to end as well. */
	gap.from_ns = journal->from_ns > round_ns ? journal->from_ns : round_ns;
	gap.to_ns = journal->to_ns > gap.from_ns ? journal->to_ns : gap.from_ns;
	return process_code_gap(process, &gap);
}
