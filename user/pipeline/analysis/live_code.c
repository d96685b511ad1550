/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Keeps the live code of each engine by time, for views that show it. */
#include <errno.h>

#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/begun_processes.h"

static struct epoch_live *live_of(struct epoch *e, const struct process *process)
{
	while (e->live.size <= process->slot) {
		if (vec_push(&e->live, (struct epoch_live){0}))
			return NULL;
	}
	return &e->live.data[process->slot];
}

/* Set the live bytes of a process, and add the change to the lane. */
static void change_live(struct epoch *e, struct epoch_live *live, uint64_t time_ns,
			struct code_lane_change change)
{
	change.engine = live->engine;
	change.bytes_before = live->bytes;
	if (!change.loads && !change.unloads && change.bytes == live->bytes)
		return;
	live->bytes = change.bytes;
	code_lane_add(e->lane, time_ns > e->info.start_ns ? time_ns - e->info.start_ns : 0,
		      &change);
}

/*
 * Begin to count the live code of a process, for the engine with the process's present name. The
 * process that had the slot before has ended, even if its exit was lost.
 */
static int begin(struct analysis *a, const struct process *process, struct epoch_live *live,
		 uint64_t time_ns)
{
	struct epoch *e = a->epoch;
	uint32_t row, name = 0;
	int err = analysis_row(a, e, process, UINT64_MAX, &row); /* charges the name to its owner */

	err = err ?: epoch_comm(e, a->strings, process->comm, &name);
	if (err && err != -EDQUOT)
		return err;
	change_live(e, live, time_ns, (struct code_lane_change){0});
	*live = (struct epoch_live){
		.process = process->number + 1,
		.engine = code_lane_engine(e->lane, err ? 0 : name),
	};
	return 0;
}

int analysis_note_live(struct analysis *a, const struct process *process, uint64_t time_ns,
		       struct code_lane_change change)
{
	struct epoch *e = a->epoch;
	struct epoch_live *live;
	int err = 0;

	if (!e->lane || !analysis_has_begun(a, process) ||
	    !sample_filter_passes_event(&a->filter, process->pid, process->pid, time_ns,
					string_pool_get(a->strings, process->comm),
					analysis_cgroup_at(a, process, time_ns), e->info.start_ns))
		return 0;
	live = live_of(e, process);
	if (!live)
		return -ENOMEM;
	if (live->process != process->number + 1)
		err = change.loads || change.bytes ? begin(a, process, live, time_ns) : 0;
	if (err || live->process != process->number + 1)
		return err;
	change_live(e, live, time_ns, change);
	return 0;
}

int analysis_take_exit(struct analysis *a, const struct jitbpf_task *record)
{
	struct process *process =
		record->tid == record->pid
			? process_table_find(&a->processes, record->pid, 0, record->h.time_ns)
			: NULL;
	int err = process_table_exit(&a->processes, record);

	if (err || !process)
		return err;
	analysis_process_exits(a, process, record->h.time_ns);
	return analysis_note_live(a, process, record->h.time_ns, (struct code_lane_change){0});
}
