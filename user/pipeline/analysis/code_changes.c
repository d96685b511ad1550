/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/analysis_state.h"
#include "pipeline/analysis/begun_processes.h"
#include "state/process/process_code.h"

/* Returns the region that an event entered, or NULL if a newer one is in force there. */
static const struct code_region *find_entered(const struct process *process,
					      const struct code_event *event)
{
	const struct mapping *mapping =
		process_mapping_told(process, event->address, event->reported_ns);
	struct code_place place;
	const struct code_region *region =
		process_code_find(process, mapping, event->address, event->time_ns, &place);
	const struct code_claim *claim =
		region ? code_region_claim(region, event->origin.publisher) : NULL;

	return claim && region->address == place.address && claim->time_ns == event->time_ns
		       ? region
		       : NULL;
}

static void tell(struct analysis *a, const struct sink_code *code)
{
	sink_list_code(&a->epoch->sinks, event_view(a->epoch, a->epoch->shown), code);
	sink_list_code(&a->live, &a->epoch->view, code);
}

/* A move is reported as an unload and a load. */
static void report_move(struct analysis *a, const struct code_event *event,
			const struct sink_code *code)
{
	struct sink_code gone = *code;

	gone.address = event->old_address;
	gone.size_bytes = code->region ? code->region->size_bytes : event->size_bytes;
	gone.gone = true;
	gone.region = NULL;
	tell(a, &gone);
}

int analysis_code_changed(struct analysis *a, const struct process *process,
			  const struct code_event *event, uint64_t regions)
{
	struct sink_code code = {
		.time_ns = event->time_ns,
		.pid = process->pid,
		.tid = event->tid,
		.method_id = event->method_id,
		.address = event->address,
		.size_bytes = event->size_bytes,
		.gone = event->kind == JITBPF_CODE_UNLOAD,
	};
	int err;

	if (!(sink_list_takes_code(&a->epoch->sinks) || sink_list_takes_code(&a->live)) ||
	    !(regions || code.gone) || !analysis_has_begun(a, process) ||
	    !sample_filter_passes_event(&a->filter, code.pid, code.tid, code.time_ns,
					string_pool_get(a->strings, process->comm),
					analysis_cgroup_at(a, process, code.time_ns),
					a->epoch->info.start_ns))
		return 0;
	err = analysis_row(a, a->epoch, process, UINT64_MAX, &code.process);
	err = err ?: epoch_comm(a->epoch, a->strings, process->comm, &code.comm);
	if (err == -EDQUOT)
		err = epoch_others(a->epoch, a->epoch->payer, &code.comm);
	if (err)
		return err;
	if (regions)
		code.region = find_entered(process, event);
	if (event->kind == JITBPF_CODE_MOVE)
		report_move(a, event, &code);
	tell(a, &code);
	return 0;
}
