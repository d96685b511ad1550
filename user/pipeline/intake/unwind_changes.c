/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* What a record invalidates of the tables by which the kernel walks stacks. */
#include "decode/record/jit_event.h"
#include "pipeline/intake/intake_state.h"

/* The process whose mappings a record changes, or NULL. */
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
	/* A fork ends the process that had the pid before, if its exit was lost. */
	if (record->type == JITBPF_FORK && process->previous)
		unwinder_process_changed(intake->unwinder, process->previous);
	unwinder_process_changed(intake->unwinder, process);
}

static void code_changed(struct intake *intake, const struct jitbpf_jit *jit)
{
	const struct process *process =
		process_table_find(intake->processes, jit->pid, jit->start_ns, jit->h.time_ns);
	struct jitbpf_jit_header header;
	uint64_t size_bytes;

	if (!process || !process->code || jit_part_decode(jit->data, jit->data_bytes, &header))
		return;
	/* An inlined method is no code of its own; nor does code run that only has an ID. */
	if (!header.address || header.event == JIT_EVENT_INLINE_LOAD)
		return;
	size_bytes = header.code_bytes ?: 1;
	if (size_bytes > UINT64_MAX - header.address)
		size_bytes = UINT64_MAX - header.address;
	unwinder_code_changed(intake->unwinder, process, header.address, size_bytes);
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
	case JITBPF_JIT:
		code_changed(intake, (const struct jitbpf_jit *)record);
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
