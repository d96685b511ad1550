/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/pipeline_state.h"

/* A load time further before its hit than this is not believed. */
#define LOAD_TIME_SLACK_NS 10000000000ull

/*
 * When the event happened: the shim's own time, taken before the record was
 * made, unless it cannot be (another time namespace, or a lie): then the hit's.
 */
static uint64_t event_time(const struct jit_event *event, uint64_t hit_ns, struct jit_counts *jit)
{
	uint64_t time_ns = event->header.time_ns;

	if (time_ns <= hit_ns && hit_ns - time_ns <= LOAD_TIME_SLACK_NS)
		return time_ns;
	jit->time_corrected++;
	return hit_ns;
}

static int note_sequence(struct pipeline *p, const struct process *process, uint64_t sequence)
{
	struct sequence_span *span;

	while (p->sequences.size <= process->number) {
		int err = vec_push(&p->sequences, ((struct sequence_span){.first = UINT64_MAX}));

		if (err)
			return err;
	}
	/* Threads overtake each other between number and probe: order means nothing. */
	span = &p->sequences.data[process->number];
	span->first = sequence < span->first ? sequence : span->first;
	span->last = sequence > span->last ? sequence : span->last;
	span->count++;
	return 0;
}

static void add_counts(struct jit_counts *jit, const struct code_counts *before,
		       const struct code_counts *after)
{
	jit->methods += after->loads - before->loads;
	jit->code_bytes += after->code_bytes - before->code_bytes;
	jit->unloads += after->unloads - before->unloads;
	jit->invalid += after->invalid - before->invalid;
	jit->over_budget += after->over_budget - before->over_budget;
	jit->not_understood += after->not_understood - before->not_understood +
			       after->unknown_fields - before->unknown_fields;
}

int pipeline_take_jit(struct pipeline *p, const struct jitbpf_jit *jit)
{
	struct ledger_process *row;
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
	err = note_sequence(p, process, event.header.sequence);
	if (err || !process->code)
		return err;
	before = *code_map_counts(process->code);
	err = code_map_apply(process->code, &event, event_time(&event, jit->h.time_ns, &row->jit));
	add_counts(&row->jit, &before, code_map_counts(process->code));
	return err;
}
