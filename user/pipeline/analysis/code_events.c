/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies events about JIT code: code events, refusals, and gaps. */
#include <errno.h>

#include "locate/code_site.h"
#include "pipeline/analysis/analysis_state.h"
#include "state/code/code_publisher.h"
#include "state/code/code_region.h"
#include "state/process/process_code.h"

static struct event_sequences *sequences_of(struct analysis *a, const struct process *process)
{
	while (a->sequences.size <= process->slot) {
		if (vec_push(&a->sequences, (struct event_sequences){0}))
			return NULL;
	}
	return &a->sequences.data[process->slot];
}

/* A late event fills a gap: the closing epoch of its time has counted it as missing. */
static void fill_gap(struct analysis *a, const struct process *process,
		     struct event_sequences *sequences, uint64_t time_ns)
{
	struct epoch *e = analysis_epoch_of(a, time_ns);
	struct ledger_process *row = e == a->epoch ? NULL : epoch_find_row(e, process);

	if (!row || !row->jit.sequence_gaps || !sequences->gaps_before)
		return;
	row->jit.sequence_gaps--;
	e->ended_jit.sequence_gaps--;
	sequences->gaps_before--;
}

/*
 * Returns 1 if an event is to be applied, 0 if it came before by the other way (live or log), or
 * -ENOMEM.
 */
static int note_event(struct analysis *a, const struct process *process,
		      const struct code_event *event)
{
	bool journaled = code_publisher_of(event->origin.publisher)->journaled;
	struct event_sequences *sequences;
	struct origin_sequences *origin;
	int64_t more;
	int err;

	/*
	 * Other publishers report events once, and events from before the snapshot do not count as
	 * missing.
	 */
	if (event->flags & JITBPF_RECORD_COUNTED && !journaled)
		return 1;
	if (event->reported_ns < process->program_ns ||
	    (journaled && event->origin.sequence == JITBPF_JIT_INHERITED))
		return 1;
	sequences = sequences_of(a, process);
	if (!sequences)
		return -ENOMEM;
	err = event_sequences_get(sequences, &event->origin, process->program_ns, &origin);
	if (err)
		return err == -EDQUOT ? 1 : err;
	more = sequence_set_change(&origin->come, event->origin.sequence);
	err = origin_sequences_add(origin, event->origin.sequence,
				   event->flags & JITBPF_EVENT_RECOVERED);
	if (err > 0 && more < 0)
		fill_gap(a, process, sequences, event->time_ns);
	else if (err > 0 && event->flags & JITBPF_RECORD_COUNTED)
		sequences->gaps_before += (uint64_t)more;
	return err;
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
	jit->replaced += now->replaced - before->replaced;
	jit->unchecked += now->unchecked - before->unchecked;
	jit->evicted += now->evicted - before->evicted;
	jit->inlines += now->inlines - before->inlines;
	jit->updates += now->updates - before->updates;
	jit->other_events += now->nothing - before->nothing;
	jit->in_gap += now->in_gap - before->in_gap;
	/*
	 * The count can fall: parents of inlined methods of an earlier epoch may have been loaded.
	 */
	if (jit->inline_no_parent + now->inline_no_parent >= before->inline_no_parent)
		jit->inline_no_parent += now->inline_no_parent - before->inline_no_parent;
	else
		jit->inline_no_parent = 0;
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

/* An earlier epoch counts the events. Code that still exists is counted in each epoch. */
static void count_existing(struct jit_counts *counts, struct code_account *account)
{
	struct jit_counts now = {0};

	analysis_count_code(&now, account);
	counts->methods += now.methods;
	counts->late += now.methods;
	counts->code_bytes += now.code_bytes;
	counts->merged += now.merged;
	for (size_t i = 0; i < JITBPF_PUBLISHER_COUNT; i++)
		counts->published[i] += now.published[i];
}

/* Note the effect of an event on the live code. Loads from before the run do not count as loads. */
static int note_live(struct analysis *a, const struct process *process,
		     const struct code_event *event, const struct code_counts *before)
{
	const struct code_account *account = process->account;
	const struct code_counts *now = &account->counts;
	bool earlier = event->flags & (JITBPF_RECORD_COUNTED | JITBPF_EVENT_BEFORE_RUN);
	uint64_t ended = now->unloads + now->replaced + now->unchecked + now->evicted;

	ended -= before->unloads + before->replaced + before->unchecked + before->evicted;
	return analysis_note_live(a, process, event->time_ns,
				  (struct code_lane_change){
					  .loads = earlier ? 0 : now->loads - before->loads,
					  .unloads = earlier ? 0 : ended,
					  .bytes = account->live_bytes,
				  });
}

static int apply(struct analysis *a, struct process *process, struct jit_counts *counts,
		 struct code_event *event)
{
	struct code_counts *now = &process->account->counts;
	uint64_t loads = now->loads, moves = now->moves;
	int err;

	event->origin.engine = process_code_engine(process, event);
	analysis_begin_regions(a, process, event);
	err = process_code_apply(process, event);
	analysis_end_regions(a);
	loads = now->loads - loads;
	moves = now->moves - moves;
	if (event->flags & JITBPF_RECORD_COUNTED) {
		count_existing(counts, process->account);
		return err ?: analysis_code_changed(a, process, event, loads + moves);
	}
	analysis_count_code(counts, process->account);
	if (event->flags & JITBPF_EVENT_TRUNCATED)
		counts->truncated++;
	if (event->flags & JITBPF_EVENT_BEFORE_RUN)
		counts->late += loads;
	else if (event->flags & JITBPF_EVENT_RECOVERED)
		counts->recovered++;
	else if (event->flags & JITBPF_EVENT_TIME_CORRECTED)
		counts->time_corrected++;
	return err ?: analysis_code_changed(a, process, event, loads + moves);
}

/* A forked child has none of its parent's threads. */
static int apply_thread(struct process *process, struct jit_counts *counts,
			const struct code_event *event)
{
	struct code_account *account = process->account;
	bool inherited = event->origin.sequence == JITBPF_JIT_INHERITED;
	int err = inherited || process->exit_ns != UINT64_MAX
			  ? 0
			  : thread_names_apply(&process->threads, account, event);

	if (event->flags & JITBPF_RECORD_COUNTED)
		return err == -EDQUOT ? 0 : err;
	account->counts.nothing++;
	account->counts.unknown_fields += event->unknown_fields;
	if (err == -EDQUOT)
		code_account_count_refused(account);
	analysis_count_code(counts, account);
	return err == -EDQUOT ? 0 : err;
}

int analysis_take_code_event(struct analysis *a, const struct jitbpf_code_event *record)
{
	struct jit_counts *counts;
	struct code_counts before;
	struct code_event event;
	struct process *process;
	int err;

	err = process_table_at(&a->processes, record->pid, record->start_ns, record->reported_ns,
			       &process);
	if (err)
		return err;
	counts = analysis_jit_counts(a, process);
	if (!counts)
		return -ENOMEM;
	/* record_check() has accepted it; only its publisher may be unknown. */
	if (code_event_decode(record, record->h.size_bytes, &event)) {
		counts->not_understood += !(record->h.flags & JITBPF_RECORD_COUNTED);
		return 0;
	}
	/* Intake's own events have no sequence numbers. */
	err = event.kind == JITBPF_CODE_REPLACED || event.kind == JITBPF_CODE_EVICTED ||
			      event.origin.publisher == JITBPF_PUBLISHER_FOUND
		      ? 1
		      : note_event(a, process, &event);
	if (err <= 0)
		return err;
	if (code_event_is_thread(event.kind))
		return apply_thread(process, counts, &event);
	if (!process->code) {
		counts->invalid += !(event.flags & JITBPF_RECORD_COUNTED);
		return 0;
	}
	before = process->account->counts;
	err = apply(a, process, counts, &event);
	return err ?: note_live(a, process, &event, &before);
}

/* Keeps the code for the view. The region is found by the address at the time of the record. */
int analysis_take_kept_code(struct analysis *a, const struct jitbpf_kept_code *code)
{
	const struct process *process;
	struct code_site site;

	if (!a->keeps_code)
		return 0;
	process = process_table_find(&a->processes, code->pid, code->start_ns, code->h.time_ns);
	if (!process)
		return 0;
	site = code_site_at(process, code->address, code->h.time_ns);
	if (site.kind != LOCATION_JIT || site.offset || site.region->size_bytes != code->size_bytes)
		return 0;
	return recorded_code_add(&a->epoch->code, code_region_identity(site.region), code->data,
				 code->h.size_bytes - (uint32_t)sizeof(*code));
}

int analysis_take_refused(struct analysis *a, const struct jitbpf_code_refused *refused)
{
	struct jit_counts *counts;
	struct process *process;
	int err = process_table_at(&a->processes, refused->pid, refused->start_ns,
				   refused->h.time_ns, &process);

	if (err)
		return err;
	counts = analysis_jit_counts(a, process);
	if (!counts)
		return -ENOMEM;
	if (refused->h.flags & JITBPF_RECORD_COUNTED)
		return 0;
	if (refused->h.flags & JITBPF_REFUSED_OTHER_VERSION)
		counts->other_version += refused->malformed;
	else
		counts->malformed += refused->malformed;
	counts->incomplete += refused->incomplete;
	if (refused->h.flags & JITBPF_REFUSED_RATE)
		counts->over_rate += refused->over_budget;
	else
		counts->over_budget += refused->over_budget;
	counts->unreadable += refused->unreadable;
	return 0;
}

/* Count the events that a journal has left out since its last JOURNAL record, which has a total. */
static void count_left_out(struct jit_counts *counts, struct origin_sequences *origin,
			   const struct jitbpf_journal *journal, bool counted)
{
	if (journal->left_out <= origin->left_out)
		return;
	if (!counted)
		counts->left_out += journal->left_out - origin->left_out;
	origin->left_out = journal->left_out;
}

/*
 * After a loss, events that the journal lacks may have ended code: any code of that time that the
 * journal does not list as live.
 */
int analysis_take_journal(struct analysis *a, const struct jitbpf_journal *journal)
{
	const struct code_origin origin_ = {.publisher = journal->publisher};
	struct code_gap gap = {
		.publisher = journal->publisher,
		.live = (const uint64_t *)journal->live,
		.live_count = (journal->h.size_bytes - sizeof(*journal)) / sizeof(journal->live[0]),
	};
	bool counted = journal->h.flags & JITBPF_RECORD_COUNTED;
	struct event_sequences *sequences;
	struct origin_sequences *origin;
	struct jit_counts *counts;
	struct process *process;
	int err;

	err = process_table_at(&a->processes, journal->pid, journal->start_ns, journal->to_ns,
			       &process);
	if (err)
		return err;
	counts = analysis_jit_counts(a, process);
	sequences = sequences_of(a, process);
	if (!counts || !sequences)
		return -ENOMEM;
	err = event_sequences_get(sequences, &origin_, process->program_ns, &origin);
	if (err && err != -EDQUOT)
		return err;
	if (!err)
		count_left_out(counts, origin, journal, counted);
	if (journal->h.flags & JITBPF_JOURNAL_UNREADABLE && !counted) {
		if (journal->h.flags & JITBPF_JOURNAL_OTHER_VERSION)
			counts->other_version++;
		else
			counts->unreadable++;
	}
	if (journal->h.flags & JITBPF_JOURNAL_LATE) {
		if (!err && journal->next_sequence != JITBPF_JOURNAL_FROM_FIRST)
			sequence_set_count_from(&origin->come, journal->next_sequence);
		return 0;
	}
	if (!process->code || journal->h.flags & JITBPF_JOURNAL_COMPLETE)
		return 0;
	/* Regions of earlier rounds may have ended as well. */
	gap.from_ns = journal->from_ns > a->round_ns ? journal->from_ns : a->round_ns;
	gap.to_ns = journal->to_ns > gap.from_ns ? journal->to_ns : gap.from_ns;
	if (journal->publisher == JITBPF_PUBLISHER_JVMTI)
		thread_names_gap(&process->threads, gap.live, gap.live_count, gap.from_ns);
	a->change.time_ns = gap.from_ns;
	err = process_code_gap(process, &gap);
	analysis_count_code(counts, process->account);
	return err
		       ?: analysis_note_live(
				  a, process, gap.from_ns,
				  (struct code_lane_change){.bytes = process->account->live_bytes});
}
