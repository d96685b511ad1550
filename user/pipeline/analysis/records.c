/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Applies finished records, each to the part of the analysis that it concerns. */
#include <errno.h>

#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/begun_processes.h"
#include "pipeline/analysis/jit_totals.h"
#include "pipeline/analysis/runtimes.h"

static int take_frames(struct analysis *a, const struct jitbpf_frames_chunk *chunk)
{
	int err;

	a->epoch->has_recorded = true;
	a->epoch->payer = EPOCH_FREE; /* names of a recording have a limit of their own */
	err = recorded_frames_add(a->epoch->recorded, chunk);
	if (err == -EBADMSG)
		a->epoch->ledger.malformed_records++;
	return err == -EBADMSG ? 0 : err;
}

/* Update the name in the row of a process, so that completing a ledger adds no strings. */
static int take_comm(struct analysis *a, const struct jitbpf_comm *record)
{
	int err = analysis_note_exec(a, record) ?: process_table_comm(&a->processes, record);
	const struct process *process =
		process_table_find(&a->processes, record->pid, 0, record->h.time_ns);
	struct epoch *e = a->epoch;
	uint32_t row, names;

	if (err || !process || !epoch_has_row(e, process, &row) || e->new_names > EPOCH_NAMES_MAX)
		return err;
	names = string_pool_size(e->strings);
	err = analysis_row(a, e, process, UINT64_MAX, &row);
	e->new_names += string_pool_size(e->strings) - names;
	return err;
}

int analysis_take(struct analysis *a, const struct jitbpf_record *record)
{
	if (record->type < JITBPF_CHUNK_INFO && record->type != JITBPF_SAMPLE &&
	    record->type != JITBPF_OWNER && record->type != JITBPF_CGROUP &&
	    record->type != JITBPF_KEPT_CODE && record->type != JITBPF_JIT_COUNTS &&
	    record->type != JITBPF_RUNTIME && record->type != JITBPF_RUNTIME_FUNCTION &&
	    record->time_ns > a->changed_ns)
		a->changed_ns = record->time_ns;
	a->change.time_ns = record->time_ns;
	charge_log_begin(&a->processes.charges,
			 (record->flags & JITBPF_RECORD_REFUSED) >> JITBPF_RECORD_REFUSED_SHIFT);
	switch (record->type) {
	case JITBPF_SAMPLE:
		return analysis_take_sample(a, (const struct jitbpf_sample *)record);
	case JITBPF_CODE_EVENT:
		return analysis_take_code_event(a, (const struct jitbpf_code_event *)record);
	case JITBPF_KEPT_CODE:
		return analysis_take_kept_code(a, (const struct jitbpf_kept_code *)record);
	case JITBPF_CODE_REFUSED:
		return analysis_take_refused(a, (const struct jitbpf_code_refused *)record);
	case JITBPF_JOURNAL:
		return analysis_take_journal(a, (const struct jitbpf_journal *)record);
	case JITBPF_MAPPING:
		return process_table_map(&a->processes, (const struct jitbpf_mapping *)record);
	case JITBPF_COMM:
		return take_comm(a, (const struct jitbpf_comm *)record);
	case JITBPF_FORK:
		return analysis_take_fork(a, (const struct jitbpf_task *)record);
	case JITBPF_EXIT:
		return analysis_take_exit(a, (const struct jitbpf_task *)record);
	case JITBPF_INNER_PID:
		return process_table_inner_pid(&a->processes,
					       (const struct jitbpf_inner_pid *)record);
	case JITBPF_OWNER:
		return process_table_owner(&a->processes, (const struct jitbpf_owner *)record);
	case JITBPF_RUNTIME:
		return process_table_runtime(&a->processes, (const struct jitbpf_runtime *)record);
	case JITBPF_RUNTIME_FUNCTION:
		return analysis_take_runtime_function(
			a, (const struct jitbpf_runtime_function *)record);
	case JITBPF_CGROUP:
		return analysis_take_cgroup(a, (const struct jitbpf_cgroup *)record);
	case JITBPF_JIT_COUNTS:
		return analysis_take_jit_counts(a, (const struct jitbpf_jit_counts *)record);
	case JITBPF_KERNEL_SYMBOL:
		return analysis_take_kernel_symbol(a, (const struct jitbpf_kernel_symbol *)record);
	case JITBPF_THROTTLE:
		return analysis_take_throttle(a, (const struct jitbpf_throttle *)record);
	case JITBPF_LOST_SAMPLES:
		return analysis_take_lost(a, (const struct jitbpf_lost_samples *)record);
	case JITBPF_COUNTERS:
		analysis_take_counters(a, (const struct jitbpf_counters *)record);
		return 0;
	case JITBPF_EVENT_COUNTS:
		analysis_take_event_counts(a, (const struct jitbpf_event_counts *)record);
		return 0;
	case JITBPF_CHUNK_INFO:
		return analysis_take_info(a, (const struct jitbpf_info_chunk *)record);
	case JITBPF_CHUNK_FRAMES:
		return take_frames(a, (const struct jitbpf_frames_chunk *)record);
	default:
		return 0;
	}
}
