/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
#include "pipeline/analysis/analysis_state.h"
#include "pipeline/jit_time.h"
#include "state/process/process_code.h"

/* What the code map has of a load just applied, unless something newer stands there already. */
static const struct code_region *find_loaded(const struct process *process, uint64_t hit_ns,
					     const struct sink_code *code)
{
	const struct mapping *mapping = process_mapping_told(process, code->address, hit_ns);
	struct code_place place;
	const struct code_region *region =
		process_code_find(process, mapping, code->address, code->time_ns, &place);

	if (!region || region->address != place.address || region->loaded_ns != code->time_ns)
		return NULL;
	return region;
}

int analysis_code_changed(struct analysis *a, const struct process *process,
			  const struct jitbpf_jit *jit, const struct jit_event *event,
			  uint64_t loads)
{
	struct sink_code code = {
		.time_ns = jit_time(jit),
		.pid = process->pid,
		.tid = jit->tid,
		.method_id = event->header.method_id,
		.address = event->header.address,
		.size_bytes = event->header.code_bytes,
		.gone = event->header.event == JIT_EVENT_UNLOAD,
	};
	int err;

	if (!sink_list_takes_code(&a->epoch->sinks) || !(loads || code.gone) ||
	    !sample_filter_passes_event(&a->filter, code.pid, code.tid, code.time_ns,
					string_pool_get(a->strings, process->comm),
					a->epoch->info.start_ns))
		return 0;
	err = epoch_comm(a->epoch, a->strings, process->comm, &code.comm);
	err = err ?: epoch_row(a->epoch, a->strings, process, &code.process);
	if (err)
		return err;
	if (loads)
		code.region = find_loaded(process, jit->h.time_ns, &code);
	sink_list_code(&a->epoch->sinks, &a->epoch->view, &code);
	return 0;
}
