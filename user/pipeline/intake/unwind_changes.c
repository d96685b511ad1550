/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* Invalidates the unwind tables of the kernel that a record affects. */
#include "pipeline/intake/intake_state.h"
#include "uapi/code_event.h"

/* Returns the process whose mappings a record changes, or NULL. */
static const struct process *process_of(const struct intake *intake,
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
	return pid ? process_table_find(intake->processes, pid, start_ns, record->time_ns) : NULL;
}

static void process_changed(struct intake *intake, const struct jitbpf_record *record)
{
	const struct process *process = process_of(intake, record);

	if (!process)
		return;
	/* A fork ends an earlier process with the pid, whose exit was lost. */
	if (record->type == JITBPF_FORK && process->previous)
		unwinder_process_changed(intake->unwinder, process->previous);
	unwinder_process_changed(intake->unwinder, process);
}

static void range_changed(struct intake *intake, const struct process *process, uint64_t address,
			  uint64_t size_bytes)
{
	size_bytes = size_bytes ?: 1;
	if (!address)
		return;
	if (size_bytes > UINT64_MAX - address)
		size_bytes = UINT64_MAX - address;
	unwinder_code_changed(intake->unwinder, process, address, size_bytes);
}

static void code_changed(struct intake *intake, const struct jitbpf_code_event *event)
{
	const struct process *process = process_table_find(intake->processes, event->pid,
							   event->start_ns, event->reported_ns);

	/* Inlined methods and lines do not change the code. */
	if (!process || !process->code || event->kind == JITBPF_CODE_INLINE ||
	    event->kind == JITBPF_CODE_LINES)
		return;
	if (event->kind != JITBPF_CODE_MOVE) {
		range_changed(intake, process, event->address, event->code_bytes);
		return;
	}
	/* A move without a size moves the whole region. */
	range_changed(intake, process, event->address, event->code_bytes ?: UINT64_MAX);
	range_changed(intake, process, event->old_address, event->code_bytes ?: UINT64_MAX);
}

/* Lost events may have replaced any code of the process. */
static void code_lost(struct intake *intake, const struct jitbpf_journal *journal)
{
	const struct process *process = process_table_find(intake->processes, journal->pid,
							   journal->start_ns, journal->to_ns);

	if (process && process->code &&
	    !(journal->h.flags & (JITBPF_JOURNAL_LATE | JITBPF_JOURNAL_COMPLETE)))
		unwinder_code_changed(intake->unwinder, process, 0, UINT64_MAX);
}

void intake_unwind_changed(struct intake *intake, const struct jitbpf_record *record)
{
	switch (record->type) {
	case JITBPF_MAPPING:
	case JITBPF_COMM:
	case JITBPF_FORK:
	case JITBPF_EXIT:
		process_changed(intake, record);
		break;
	case JITBPF_CODE_EVENT:
		code_changed(intake, (const struct jitbpf_code_event *)record);
		break;
	case JITBPF_JOURNAL:
		code_lost(intake, (const struct jitbpf_journal *)record);
		break;
	default:
		break;
	}
}

void intake_unwind_code_copied(struct intake *intake, const struct jitbpf_code *code)
{
	const struct process *process =
		process_table_find(intake->processes, code->pid, code->start_ns, code->h.time_ns);

	if (process)
		unwinder_code_copied(intake->unwinder, process, code);
}
