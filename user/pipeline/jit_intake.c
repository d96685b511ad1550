/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/pipeline_state.h"

/* A load time further before its hit than this is not believed. */
#define LOAD_TIME_SLACK_NS 10000000000ull

/*
 * The shim takes its own time before it makes the record. It counts unless it
 * cannot be: another time namespace, or a lie.
 */
static bool is_believed(uint64_t event_ns, uint64_t hit_ns)
{
	return event_ns <= hit_ns && hit_ns - event_ns <= LOAD_TIME_SLACK_NS;
}

uint64_t pipeline_jit_time(const struct jitbpf_jit *jit)
{
	struct jitbpf_jit_header header;

	if (jit_part_decode(jit->data, jit->data_bytes, &header) ||
	    !is_believed(header.time_ns, jit->h.time_ns))
		return jit->h.time_ns;
	return header.time_ns;
}

uint64_t sequence_span_gaps(const struct sequence_span *span)
{
	uint64_t steps = span->last - span->first;

	return span->gaps + (span->count && steps >= span->count ? steps - span->count + 1 : 0);
}

/* A record counts as come when its first part has. */
static int note_sequence(struct pipeline *p, const struct process *process,
			 const struct jitbpf_jit *jit)
{
	struct jitbpf_jit_header header;
	struct sequence_span *span;

	if (jit_part_decode(jit->data, jit->data_bytes, &header) || header.part ||
	    jit->h.time_ns < process->program_ns)
		return 0;
	while (p->sequences.size <= process->number) {
		int err = vec_push(&p->sequences, ((struct sequence_span){.first = UINT64_MAX}));

		if (err)
			return err;
	}
	span = &p->sequences.data[process->number];
	/* A program that we saw begin counts from 0. */
	if (span->program_ns != process->program_ns)
		*span = (struct sequence_span){
			.program_ns = process->program_ns,
			.gaps = sequence_span_gaps(span),
		};
	/* Threads overtake each other between number and probe: order means nothing. */
	span->first = header.sequence < span->first ? header.sequence : span->first;
	span->last = header.sequence > span->last ? header.sequence : span->last;
	span->count++;
	return 0;
}

static void add_counts(struct jit_counts *jit, const struct code_counts *before,
		       const struct code_counts *after)
{
	jit->methods += after->loads - before->loads;
	jit->code_bytes += after->code_bytes - before->code_bytes;
	jit->unloads += after->unloads - before->unloads;
	jit->inlines += after->inlines - before->inlines;
	jit->updates += after->updates - before->updates;
	jit->other_events += after->nothing_to_us - before->nothing_to_us;
	jit->in_gap += after->in_gap - before->in_gap;
	jit->inline_no_parent += after->inline_no_parent - before->inline_no_parent;
	jit->inline_outside += after->inline_outside - before->inline_outside;
	jit->inline_overlap += after->inline_overlap - before->inline_overlap;
	jit->update_refused += after->update_unknown - before->update_unknown +
			       after->segment_overlap - before->segment_overlap;
	jit->invalid += after->invalid - before->invalid;
	jit->over_budget += after->over_budget - before->over_budget;
	jit->not_understood += after->not_understood - before->not_understood +
			       after->unknown_fields - before->unknown_fields;
}

/*
 * Which engine called: the file that its call lies in. A record is made within
 * the call, so that the file was mapped then; the time of the event can be before we came.
 */
static uint64_t engine_of(const struct process *process, uint64_t caller, uint64_t hit_ns)
{
	const struct mapping *mapping;
	struct space_entry mapped;

	if (!process->mappings || (!space_map_find(process->mappings, caller, hit_ns, &mapped) &&
				   !space_map_find(process->mappings, caller, UINT64_MAX, &mapped)))
		return caller & ~CODE_ENGINE_KNOWN;
	mapping = (const struct mapping *)mapped.value;
	if (mapping->module == MAPPING_ANON)
		return caller & ~CODE_ENGINE_KNOWN;
	return CODE_ENGINE_KNOWN | mapping->module;
}

int pipeline_take_jit(struct pipeline *p, const struct jitbpf_jit *jit)
{
	struct ledger_process *row;
	const struct code_counts *after;
	struct code_counts before;
	struct process *process;
	struct jit_event event;
	uint64_t given_up;
	bool complete;
	int err;

	err = process_table_at(&p->processes, jit->pid, jit->start_ns, jit->h.time_ns, &process);
	if (err)
		return err;
	row = pipeline_ledger_row(p, process);
	if (!row)
		return -ENOMEM;
	err = note_sequence(p, process, jit);
	if (err)
		return err;
	given_up = process->jit_assembly.over_budget;
	err = jit_assembly_add(&process->jit_assembly, jit->tid, jit->data, jit->data_bytes, &event,
			       &complete);
	row->jit.over_budget += process->jit_assembly.over_budget - given_up;
	if (err == -EBADMSG) {
		row->jit.malformed++;
		return 0;
	}
	if (err || !complete)
		return err;
	if (!process->code) {
		row->jit.invalid++;
		return 0;
	}
	if (!is_believed(event.header.time_ns, jit->h.time_ns))
		row->jit.time_corrected++;
	before = *code_map_counts(process->code);
	err = code_map_apply(process->code, &event,
			     engine_of(process, event.header.caller, jit->h.time_ns),
			     pipeline_jit_time(jit));
	after = code_map_counts(process->code);
	add_counts(&row->jit, &before, after);
	return err ?: pipeline_feed_code(p, process, jit, &event, after->loads - before.loads);
}
