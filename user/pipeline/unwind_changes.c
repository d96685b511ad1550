/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What the unwinder has to be told of, so that the kernel walks by nothing that is over. */
#include "pipeline/pipeline_state.h"

/* The process whose mappings a record has changed, or NULL. */
static const struct process *process_of(const struct pipeline *p,
					const struct jitbpf_record *record)
{
	const struct jitbpf_mapping *mapping = (const struct jitbpf_mapping *)record;
	const struct jitbpf_comm *comm = (const struct jitbpf_comm *)record;
	const struct jitbpf_task *task = (const struct jitbpf_task *)record;
	uint64_t start_ns = 0;
	uint32_t pid = 0;

	if (record->type == JITBPF_MAPPING) {
		pid = mapping->pid;
		start_ns = mapping->start_ns;
	} else if (record->type == JITBPF_COMM && record->flags & JITBPF_COMM_EXEC) {
		pid = comm->pid;
		start_ns = comm->start_ns;
	} else if (record->type == JITBPF_FORK && task->pid != task->parent_pid) {
		pid = task->pid;
	} else if (record->type == JITBPF_EXIT && task->pid == task->tid) {
		pid = task->pid;
	}
	return pid ? process_table_find(&p->processes, pid, start_ns, record->time_ns) : NULL;
}

void pipeline_unwind_process_changed(struct pipeline *p, const struct jitbpf_record *record)
{
	struct unwinder *unwinder = p->unwind.unwinder;
	const struct process *process = unwinder ? process_of(p, record) : NULL;

	if (!process)
		return;
	/* The one that had the pid before has ended with this one's fork, at the latest. */
	if (record->type == JITBPF_FORK && process->previous)
		unwinder_process_changed(unwinder, process->previous);
	unwinder_process_changed(unwinder, process);
}

void pipeline_unwind_code_changed(struct pipeline *p, const struct process *process,
				  const struct jit_event *event)
{
	uint64_t start = event->header.address, size_bytes = event->header.code_bytes ?: 1;

	/* What is inlined is no code of its own; of what is only said to be gone, nothing runs. */
	if (!p->unwind.unwinder || !start || event->header.event == JIT_EVENT_INLINE_LOAD)
		return;
	if (size_bytes > UINT64_MAX - start)
		size_bytes = UINT64_MAX - start;
	unwinder_code_changed(p->unwind.unwinder, process, start, size_bytes);
}

void pipeline_unwind_code_lost(struct pipeline *p, const struct process *process)
{
	if (p->unwind.unwinder)
		unwinder_code_changed(p->unwind.unwinder, process, 0, UINT64_MAX);
}

void pipeline_unwind_code_copied(struct pipeline *p, const struct jitbpf_code *code)
{
	const struct process *process =
		process_table_find(&p->processes, code->pid, code->start_ns, code->h.time_ns);

	if (process)
		unwinder_code_copied(p->unwind.unwinder, process, code);
}
