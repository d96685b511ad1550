/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Reports to sinks when regions of JIT code come into force, and when they end. */
#include "pipeline/analysis/analysis_state.h"

static void tell(struct analysis *a, const struct sink_region *change)
{
	sink_list_region(&a->epoch->sinks, event_view(a->epoch, a->epoch->shown), change);
	sink_list_region(&a->live, &a->epoch->view, change);
}

/* Code can end with any record. Code of processes that the filter leaves out is not reported. */
static void region_changed(void *analysis, const struct code_map *map,
			   const struct code_region *region, bool in_force)
{
	struct analysis *a = analysis;
	struct sink_region change = a->change;

	if (!a->epoch || (in_force && !a->loader))
		return;
	change.region = region;
	change.ended = !in_force;
	change.shared = a->loader && map != a->loader->code;
	tell(a, &change);
}

void analysis_watch_regions(struct analysis *a)
{
	a->watch = (struct code_watch){.changed = region_changed, .context = a};
	a->processes.watch = &a->watch;
}

void analysis_begin_regions(struct analysis *a, const struct process *process,
			    const struct code_event *event)
{
	const char *comm = string_pool_get(a->strings, process->comm);

	a->change.time_ns = event->time_ns;
	if (!(sink_list_takes_regions(&a->epoch->sinks) || sink_list_takes_regions(&a->live)) ||
	    !sample_filter_passes_event(&a->filter, process->pid, event->tid, event->time_ns, comm,
					analysis_cgroup_at(a, process, event->time_ns),
					a->epoch->info.start_ns))
		return;
	a->loader = process;
	a->change = (struct sink_region){
		.time_ns = event->time_ns,
		.process = process->number,
		.pid = process->pid,
		.comm = comm,
		.owner = process->account->owner->key,
	};
}

void analysis_end_regions(struct analysis *a)
{
	a->loader = NULL;
}

void analysis_process_exits(struct analysis *a, const struct process *process, uint64_t time_ns)
{
	tell(a,
	     &(struct sink_region){.time_ns = time_ns, .ended = true, .process = process->number});
}
